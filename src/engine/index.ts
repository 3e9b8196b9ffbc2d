export type { Broadcast } from './cluster/broadcast.ts';
export { KeptLease } from './cluster/kept-lease.ts';
export type { Lease, Leases } from './cluster/leases.ts';
export { Membership } from './cluster/membership.ts';
export { Topic } from './cluster/topic.ts';
export { withLease } from './cluster/with-lease.ts';
export { type DueJob, type Job, type JobRun, Jobs } from './jobs/jobs.ts';
export { Foreground } from './queue/foreground.ts';
export { openQueue } from './queue/open.ts';
export {
  JOB_KINDS,
  type JobHandler,
  type JobKind,
  type QueueLimits,
  type QueueName,
  queueNamesOf,
  type WorkQueue,
} from './queue/queue.ts';
export {
  collection,
  type ExportLine,
  type Forgotten,
  type Member,
  type PersonalFacts,
  recordKinds,
} from './records/collection.ts';
export { isStoreUrl, sqlitePath, withoutPassword } from './store/address.ts';
export {
  type Attempt,
  atMost,
  changeRecord,
  commitWithRetries,
  merged,
  type RecordEdit,
} from './store/compare-and-set.ts';
export { assertNotMigrating, type Digest, migrate, type Part } from './store/migrate/migration.ts';
export { openConfiguredStore, openStore } from './store/open.ts';
export { pagesOf } from './store/pages.ts';
export { resolveDatabase } from './store/sqlite/location.ts';
export { lockHolder } from './store/sqlite/lock.ts';
export {
  type Bounds,
  BUDGETS,
  type BudgetAmounts,
  type Change,
  type IndexBound,
  type IndexEntry,
  type IndexWrite,
  type NamedSum,
  type Namespace,
  type RecordWrite,
  type Store,
  SUM_PARTS,
  type SumLimit,
  type SumPart,
  type SumParts,
  type SumWrite,
  type Versioned,
} from './store/store.ts';
export { isWithinBudget, usedBeyondExtra, ZERO_SUM } from './store/sums.ts';
