export { sandboxCatalog } from './catalog.ts';
export { embedSandbox } from './embedded.ts';
export { STEERING } from './steering.ts';
