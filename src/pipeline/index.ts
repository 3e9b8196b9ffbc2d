export { approvalSweep } from './approval-sweep.ts';
export { Clips, type ClipsOptions } from './clip-files.ts';
export {
  type Draft,
  Drafts,
  deleteDraftsOf,
  type NewDraft,
} from './drafts.ts';
export { ledgerEntries, ledgerPages } from './ledger-reader.ts';
export { LostCreates } from './lost-creates.ts';
export { deliverQueue, notifyQueue, scheduleNext, serviceQueue } from './next-job.ts';
export type { Order, SetOrder } from './order.ts';
export { exceededLimits, type OverBudget } from './over-budget.ts';
export { StoryboardPacing } from './pacing.ts';
export { createPoller, isWorthWaiting, PollCache, type PollerOptions, type ProgressObserver } from './poll.ts';
export { ensureDeliveries, reconciliation, resume } from './reconcile.ts';
export { type FurtherWrites, type RecordedAll, type TaskObserver, TaskRepository } from './repository.ts';
export { Submitter, type SubmitterOptions } from './submit.ts';
export { memberIdOf, memberIds, retryKey, taskIdOf } from './task-ids.ts';
export {
  type Decision,
  type Submission,
  TaskService,
  type TaskServiceOptions,
} from './task-service.ts';
export { type ServiceKey, UpstreamIds } from './upstream-ids.ts';
export { type VisibleScope, visibleEntries } from './visible-history.ts';
