export { Forgetting } from './forgetting/forgetting.ts';
export { createPersonExport } from './person-export.ts';
