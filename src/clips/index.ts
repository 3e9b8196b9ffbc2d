export { createRemover, type Remover } from './remover.ts';
export { retentionAgeMs, retentionJob } from './retention.ts';
export { createKeptUntil, MAX_DAYS, type Retention, retentionOf } from './retention-periods.ts';
export { DATA_KINDS } from './space/data-files.ts';
export { dataLimit } from './space/data-limit.ts';
export { DataSpace } from './space/data-space.ts';
