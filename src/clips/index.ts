export { DATA_KINDS, DataSpace, dataLimit } from './data-space.ts';
export { createRemover, type Remover, removalJobs } from './remover.ts';
export {
  completions,
  createKeptUntil,
  MAX_DAYS,
  type Retention,
  retentionAgeMs,
  retentionCursors,
  retentionJob,
  retentionOf,
} from './retention.ts';
