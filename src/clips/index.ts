export { DATA_KINDS, DataSpace, dataLimit } from './data-space.ts';
export { Remover } from './remover.ts';
export {
  createKeptUntil,
  MAX_DAYS,
  type Retention,
  retentionAgeMs,
  retentionJob,
  retentionOf,
} from './retention.ts';
