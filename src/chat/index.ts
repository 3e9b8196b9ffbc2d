export { type AccessRefusal, type AccessRules, accessRefusal, type Exception } from './access.ts';
export {
  AttachmentPlanner,
  type FileSource,
  type Fitter,
  hasCode,
} from './attachment-plan.ts';
export type { Outcome } from './card-delivery.ts';
export { type Chat, ChatEngine } from './chat.ts';
export {
  type ModelRecord,
  winnerOf,
} from './comparisons/comparison-records.ts';
export type { DeliveryObserver } from './deliver.ts';
export { type MessageLock, MessageLocks, type WithMessageLock } from './message-lock.ts';
export type { ApprovalNotice, EndNotice, ReviewNotice, SetOutcome, SignedOffNotice } from './notices/views.ts';
export type { ChatParts } from './parts.ts';
export {
  type AlsoRecorded,
  type Attached,
  type Channels,
  type MemberRights,
  type MessageRef,
  type MissingRight,
  type Notice,
  type Opened,
  type Place,
  type Platform,
  type PlatformLimits,
  taskOfKey,
  type Upload,
} from './platform.ts';
export { deliveryOf, deliveryRecords, isAskedOf } from './records.ts';
export { type RetractionCount, retractMessage, type TaskRetraction } from './retraction.ts';
export { isOnCard, setCardId, setOfCard } from './sets/set-view.ts';
export { PlatformStarter } from './start-platforms.ts';
export {
  type Subscription,
  Subscriptions,
  subscriptionKey,
} from './subscriptions.ts';
export {
  type BarChart,
  type BudgetAlert,
  FOR_APPROVERS,
  isOnlyFile,
  type NoticeScope,
  type ReportCorrection,
  type ReportRow,
  type SpendExport,
  type SpendReport,
  type SpendTotals,
  type TeamNotice,
  type UnusualSpend,
} from './team-notice.ts';
export {
  type ButtonAction,
  type CardView,
  type ComparisonView,
  type CutView,
  type Handover,
  isCardView,
  isPending,
  PHASES,
  type RemovedView,
  type SetMember,
  type SetView,
  type ShownTask,
  type SignedLink,
  standingIn,
  type TaskView,
  type View,
} from './view.ts';
