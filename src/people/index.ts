export { erasures, Forgetting, type ForgettingOptions } from './forgetting/forgetting.ts';
export { createPersonExport } from './person-export.ts';
