export {
  completionsUrl,
  createEnhancer,
  type Enhanced,
  type Enhancer,
  type EnhancerConfig,
  type EnhancerFailure,
} from './enhancer.ts';
