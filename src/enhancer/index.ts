export { completionsUrl } from './address.ts';
export { createEnhancer, type Enhanced, type Enhancer, type EnhancerConfig, type EnhancerFailure } from './enhancer.ts';
