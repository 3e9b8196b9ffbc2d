export { createRemover, type Remover, removalJobs } from './remover.ts';
export { completions, retentionAgeMs, retentionCursors, retentionJob } from './retention.ts';
export { createKeptUntil, MAX_DAYS, type Retention, retentionOf } from './retention-periods.ts';
export { DATA_KINDS } from './space/data-files.ts';
export { dataLimit } from './space/data-limit.ts';
export { DataSpace } from './space/data-space.ts';
