import type { CutFacts } from '../orders/index.ts';
import {
  asOf,
  type Declined,
  isBlind,
  isFetching,
  isSignedOff,
  isWaitingFor,
  type Origin,
  type Person,
  type Phase,
  type Price,
  phaseOf,
  priceOf,
  type RemovalReason,
  type SetPlace,
  type StepRetry,
  sinceMs,
  startedAtMs,
  type Task,
  type TaskId,
  type UsualDuration,
} from '../tasks/index.ts';
import type { Model, RequestSettings } from '../videos/index.ts';
import { blindViewOf } from './comparisons/blind-view.ts';
import type { ApprovalNotice, EndNotice, ReviewNotice } from './notices/views.ts';
import type { MessageRef, Upload } from './platform.ts';
import type { EarlierNotes, ReviewContext } from './reviews.ts';

interface PhaseRow {
  /** Impression that a card makes; a `pending` one changes by itself, until there is a clip. */
  readonly tone: 'pending' | 'good' | 'bad' | 'attention' | 'neutral';
  readonly hasNotice: boolean;
}

/** The phases, each with what platforms and notices need of it: a new phase is a row here. */
export const PHASES = {
  requested: { tone: 'attention', hasNotice: false },
  queued: { tone: 'pending', hasNotice: false },
  running: { tone: 'pending', hasNotice: false },
  fetching: { tone: 'pending', hasNotice: false },
  done: { tone: 'good', hasNotice: true },
  lost: { tone: 'bad', hasNotice: true },
  failed: { tone: 'bad', hasNotice: true },
  refused: { tone: 'bad', hasNotice: true },
  uncertain: { tone: 'attention', hasNotice: true },
  cancelled: { tone: 'neutral', hasNotice: false },
  declined: { tone: 'neutral', hasNotice: true },
} as const satisfies Readonly<Record<Phase, PhaseRow>>;

/** Returns whether a message in this phase will change by itself. */
export function isPending(phase: Phase): boolean {
  return PHASES[phase].tone === 'pending';
}

/** Phase of which the requester is notified. */
export type NoticedPhase = { [P in Phase]: (typeof PHASES)[P]['hasNotice'] extends true ? P : never }[Phase];

/** Form in which the clip of a completed task is available to users. */
export type Handover =
  /** The clip itself is attached. */
  | { readonly kind: 'attached' }
  /** A smaller copy is attached; `link` points to the original, `null` where links are turned off. */
  | (TooLarge & { readonly kind: 'fitted'; readonly link: SignedLink | null })
  /** Too large to attach: a link only. */
  | (TooLarge & { readonly kind: 'linked'; readonly link: SignedLink })
  /** Too large, with neither a fitted copy nor a link: the clip is kept on disk. `hasFitter`: ffmpeg was available. */
  | (TooLarge & { readonly kind: 'kept'; readonly hasFitter?: boolean })
  /** The message was deleted before the clip was posted: the clip is kept on disk until a user requests it. */
  | { readonly kind: 'unshown' }
  /** The chat accepts no files here; `right` is the platform's name of the missing permission. */
  | { readonly kind: 'withheld'; readonly right: string; readonly link: SignedLink | null };

/** Size of a clip that is over the upload limit, and the limit; `null` where the platform stated none. In bytes. */
interface TooLarge {
  readonly bytes: number;
  readonly limitBytes: number | null;
}

/** URL on the bot's own server that expires. */
export interface SignedLink {
  readonly url: string;
  readonly expiresAtMs: number;
}

/** Action of a button below a message. */
export type ButtonAction =
  | 'retry'
  | 'edit'
  | 'cancel'
  | 'details'
  /** Waiting for approval: its requester no longer wants it. */
  | 'withdraw'
  /** Uncertain: enter the task id found in the service's console. */
  | 'lookup'
  /** Uncertain: submit it again, accepting that it may be billed twice. */
  | 'again'
  /** Uncertain: dismiss it. */
  | 'leave'
  /** Signs the clip off, where its channel has reviews. */
  | 'sign_off'
  /** Opens the form for what should change, where its channel has reviews. */
  | 'changes'
  /** The clip is not in the chat (cancelled, or its message was deleted): post it. */
  | 'show'
  /** Lost, or not downloaded yet: retry the download now. */
  | 'refetch'
  /** Confirms that it is to be deleted; on a question only. */
  | 'delete'
  /** Joins clips into one file; buys nothing. */
  | 'join';

/** Fields of a task that no message shows, or only by what follows from them. */
const UNSHOWN = [
  ...(['revision', 'money', 'unsentTries', 'busyTries', 'lease', 'turnAtMs', 'upstreamId'] as const),
  ...(['wants', 'presented', 'press', 'frameOf', 'revealedAtMs'] as const),
] satisfies readonly (keyof Task)[];

/** What a message shows of a task's record. */
export type ShownTask = Omit<Task, (typeof UNSHOWN)[number]>;

/** Data from which a platform renders a task's message; the wording is that of `commands/sentences`. */
export interface TaskView {
  readonly kind: 'task';
  /** As its record is now; of a blind clip, without all that would betray its model. */
  readonly task: ShownTask;
  readonly phase: Phase;
  readonly modelTitle: string;
  /** Percentage reported by the service, 0 to 100, never lower than shown before; `null` where it reported none. */
  readonly progress: number | null;
  /** Number of requests ahead of it in the service's queue. Absent: it is not queued there, or the service does not say. */
  readonly ahead?: number;
  /** Time from which elapsed time counts: the creation, or the approval where one was needed; of one that ended, its turn. */
  readonly startedAtMs: number;
  /** Creation time of this view, for elapsed times. */
  readonly nowMs: number;
  /** What to expect of its duration; `null` where nothing is known, or it is over. */
  readonly pace: Pace | null;
  /** Failed step that is being retried automatically; `null` where none failed. */
  readonly retrying: StepRetry | null;
  /** The service is known to refund failed tasks, as the embedded one does. */
  readonly refundKnown: boolean;
  readonly handover: Handover | null;
  /** Its card has the word *AI*, as its team wants it of finished clips. Absent: it has not. */
  readonly isLabelled?: true;
  /** Notes on the version that it repeats. Absent: none. */
  readonly earlierNotes?: EarlierNotes;
  /** Time at which its clip will be removed. Absent: there is none, or it is kept. */
  readonly keptUntilMs?: number;
  /** Price of a retry by the current catalog; `null` where the catalog no longer has the model. */
  readonly retryPrice: Price | null;
  /** Model of another video service that takes the same order. Absent: none, or its own service did not stop it. */
  readonly elsewhere?: Elsewhere;
  readonly buttons: readonly ButtonAction[];
  /** The channel that took no message, so that this one is a direct message. Absent: it is where it was requested. */
  readonly awayFrom?: string;
  /** Set while the model of this clip is hidden. */
  readonly blind?: BlindView;
}

/** Duration of a task in progress beside that of its model's completed clips. */
export type Pace =
  | { readonly kind: 'usual'; readonly fromMs: number; readonly toMs: number }
  | { readonly kind: 'longer' }
  /** Past its deadline; it is then polled every `pollEveryMs`. */
  | { readonly kind: 'overdue'; readonly deadlineMs: number; readonly pollEveryMs: number };

/** Data from which the card of a set is rendered. */
export interface SetView {
  readonly kind: 'set';
  /** The `setCardId`. */
  readonly id: TaskId;
  readonly set: Pick<SetPlace, 'id' | 'kind' | 'of'>;
  readonly phase: Phase;
  /** Its first task whose content is there; the requests of takes are all the same. */
  readonly first: TaskView;
  /** Of all tasks; of a storyboard, of what is charged. */
  readonly price: Price;
  /** Of all tasks of a comparison together; `null` for other sets, and where the service reported none. */
  readonly progress: number | null;
  readonly declined: Declined | null;
  readonly isLabelled?: true;
  /** Price of the same again; of a storyboard, of its outdated shots. `null`: it is not offered. */
  readonly retryPrice: Price | null;
  readonly buttons: readonly ButtonAction[];
  readonly awayFrom?: string;
  /** In the order of the card. */
  readonly members: readonly SetMember[];
  /** Of the board of a storyboard: that of its record, for the buttons that change it. Absent: it has none. */
  readonly boardRevision?: number;
  /** The cut of what is on the board of a storyboard now, else the latest of its cuts. Absent: there is none. */
  readonly boardCut?: BoardCut;
  /** Set on the card of a comparison. */
  readonly comparison?: ComparisonView;
}

/** Data from which the message of a cut is rendered. */
export interface CutView extends CutFacts {
  readonly kind: 'cut';
  readonly id: TaskId;
  readonly phase: Phase;
  readonly by: Person;
  readonly createdAtMs: number;
  readonly handover: Handover | null;
  readonly isLabelled?: true;
  readonly awayFrom?: string;
}

/** What a card shows: a task, the tasks of a set, or a cut. */
export type CardView = TaskView | SetView | CutView;

/** Returns whether a view is that of a card. */
export function isCardView(view: { readonly kind: string }): view is CardView {
  return view.kind === 'task' || view.kind === 'set' || view.kind === 'cut';
}

/** Model that a clip can be ordered from instead. */
export interface Elsewhere {
  /** As `modelFingerprint` has it. */
  readonly model: string;
  readonly title: string;
  readonly price: Price;
}

export interface BoardCut {
  readonly message: MessageRef;
  readonly isJoining: boolean;
  /** It has the clips that are on the board now, in their order. */
  readonly isCurrent: boolean;
}

/** Clip of a comparison before the reveal. Its view has the highest price of the comparison in place of its own. */
interface BlindView {
  readonly set: TaskId;
  /** Number of the clip, of which its label follows. */
  readonly at: number;
}

/** State of a comparison. */
export interface ComparisonView {
  /** `making`: its clips have not appeared; `voting`: they have; `revealed`: the models are named. */
  readonly stage: 'making' | 'voting' | 'revealed';
  readonly ended: number;
  readonly voters: number;
  /** Time of the reveal without a press; `null` unless it can be voted on. */
  readonly revealsAtMs: number | null;
  /** Votes for each clip, in their order; empty before the reveal. */
  readonly tally: readonly number[];
  readonly clips: readonly number[];
  /** What the requests have in common. */
  readonly settings: RequestSettings;
}

/** Task on the card of its set. */
export interface SetMember {
  /** Of a storyboard's shot, its chosen take. */
  readonly view: TaskView;
  /** `null`: it has none of its own. */
  readonly message: MessageRef | null;
  /** Its file in this message. Absent: it has none there. */
  readonly file?: Pick<Upload, 'name' | 'description'>;
  /** Set on the board of a storyboard. */
  readonly shot?: {
    /** Number of the shot in the storyboard as it was written. */
    readonly at: number;
    readonly isSkipped: boolean;
    /** Its chosen take can be in the cut. */
    readonly isReady: boolean;
    /** It starts with an earlier take of the shot before, or with one that does. */
    readonly isOutdated: boolean;
    /** Another take than the one shown is in progress. */
    readonly isRetrying: boolean;
    /** A clip that is no take of it is in the cut in its place; the view has its own words, and no price. Absent: no. */
    readonly isReplaced?: true;
    /** What Retry makes again: always the same task, so that one retry of a shot runs at a time. */
    readonly original: { readonly task: TaskId; readonly retryPrice: Price | null };
  };
}

export type View = CardView | EndNotice | ApprovalNotice | ReviewNotice;

/** Text in place of a message whose content was removed. It names no one. */
export interface RemovedView {
  readonly kind: 'removed';
  readonly reason: RemovalReason;
}

/** Returns the part of a view that says for which channel a direct message stands in. */
export function standingIn(
  card: { readonly isDirect?: true } | undefined,
  { channel }: Pick<Origin, 'channel'>,
): { readonly awayFrom?: string } {
  return card?.isDirect === true ? { awayFrom: channel } : {};
}

/** Input of a view besides the task's record. */
export interface ViewContext {
  readonly nowMs: number;
  /** Highest percentage known, 0 to 100. */
  readonly progress: number | null;
  /** Number of requests ahead of it in the service's queue; `null`: the service does not say. Default: `null`. */
  readonly ahead?: number | null;
  /** The service has reported the task as running. */
  readonly isRunning: boolean;
  /** The task's model; undefined once the catalog no longer has it. */
  readonly model: Model | undefined;
  readonly usual: UsualDuration | null;
  /** Last failed step that is being retried; `null` where none failed. */
  readonly retrying: StepRetry | null;
  readonly deadlineMs: number;
  readonly slowestPollMs: number;
  readonly refundKnown: boolean;
  /** Form in which the clip was delivered; `null` until it is. */
  readonly handover: Handover | null;
  /** Default: its channel has no reviews. */
  readonly review?: ReviewContext;
  /** Its outcome waits for those of the other tasks of a comparison. Default: false. */
  readonly isHeld?: boolean;
  /** Its team wants the word *AI* on the cards of finished clips. Default: false. */
  readonly isLabelled?: boolean;
  /** Time at which its clip will be removed; `null` for none. Default: `null`. */
  readonly keptUntilMs?: number | null;
  /** Default: `null`. */
  readonly elsewhere?: Elsewhere | null;
}

/** Builds the view of a task's message; pure. */
export function viewOf(stored: Task, context: ViewContext): TaskView {
  const view = openViewOf(stored, context);
  return isBlind(stored) ? blindViewOf(stored, view, context.isHeld === true) : view;
}

function openViewOf(stored: Task, context: ViewContext): TaskView {
  const task = asOf(stored, context.nowMs);
  const phase = phaseOf(task, {
    isRunning: context.isRunning || (context.progress ?? 0) > 0,
    isHandedOver: context.handover !== null,
  });
  const retrying = retryOf(task, context);
  return {
    kind: 'task',
    task: shownOf(task),
    phase,
    modelTitle: context.model?.title ?? task.request.model,
    progress: task.state === 'completed' ? 100 : context.progress,
    ...(phase === 'queued' && typeof context.ahead === 'number' ? { ahead: context.ahead } : {}),
    startedAtMs: (task.endedAtMs === undefined ? undefined : task.turnAtMs) ?? startedAtMs(task),
    nowMs: context.nowMs,
    pace: phase === 'queued' || phase === 'running' ? paceOf(task, context) : null,
    retrying,
    refundKnown: context.refundKnown && task.failure?.isBilled !== true,
    handover: phase === 'done' ? handoverOf(task, context) : null,
    ...(phase === 'done' && context.isLabelled === true ? { isLabelled: true } : {}),
    ...(context.review?.earlier === undefined ? {} : { earlierNotes: context.review.earlier }),
    ...(typeof context.keptUntilMs === 'number' ? { keptUntilMs: context.keptUntilMs } : {}),
    retryPrice: context.model === undefined ? null : priceOf(context.model, task.request.seconds),
    ...(context.elsewhere && { elsewhere: context.elsewhere }),
    buttons: buttonsLeft(task, buttonsOf(task, phase, { ...context, retrying })),
  };
}

export function shownOf(task: Task): ShownTask {
  const isShown = ([field]: [string, unknown]): boolean => !(UNSHOWN as readonly string[]).includes(field);
  return Object.fromEntries(Object.entries(task).filter(isShown)) as unknown as ShownTask;
}

/** Returns what to expect of a task in progress; `null` where nothing is known. */
function paceOf(task: Task, { nowMs, usual, deadlineMs, slowestPollMs }: ViewContext): Pace | null {
  const ageMs = nowMs - sinceMs(task);
  if (task.accepted !== undefined && ageMs >= deadlineMs)
    return { kind: 'overdue', deadlineMs, pollEveryMs: slowestPollMs };
  if (usual === null) return null;
  return ageMs > usual.toMs ? { kind: 'longer' } : { kind: 'usual', ...usual };
}

/** Returns the failed step while the task still waits for it. */
function retryOf(task: Task, { retrying }: ViewContext): StepRetry | null {
  if (retrying === null || !isWaitingFor(retrying, task.state)) return null;
  return task.state !== 'completed' || isFetching(task) ? retrying : null;
}

/** Returns the handover of a clip, as far as it is still true once the clip is removed. */
function handoverOf({ removal }: Task, { handover }: ViewContext): Handover | null {
  if (removal === undefined || handover?.kind === 'attached') return handover;
  return handover?.kind === 'fitted' ? { kind: 'attached' } : null;
}

/** Returns the buttons of a task without those that need what was removed. */
function buttonsLeft({ removal }: Task, buttons: readonly ButtonAction[]): readonly ButtonAction[] {
  if (removal === undefined) return buttons;
  return buttons.filter((action) => (removal.hasContent ? !CLIP_ACTIONS.has(action) : action === 'details'));
}

const CLIP_ACTIONS: ReadonlySet<ButtonAction> = new Set(['show', 'refetch', 'sign_off', 'changes']);

function buttonsOf(
  task: Task,
  phase: Phase,
  { retrying, handover, review }: Pick<ViewContext, 'retrying' | 'handover' | 'review'>,
): readonly ButtonAction[] {
  switch (phase) {
    case 'requested':
      return ['withdraw', 'details'];
    case 'queued':
    case 'running':
      return ['cancel', 'details'];
    case 'fetching':
      return retrying === null ? ['details'] : ['refetch', 'details'];
    case 'lost':
      return ['refetch', 'retry', 'details'];
    case 'done':
      if (handover?.kind === 'unshown') return ['show', 'retry', 'edit', 'details'];
      return [...reviewButtons(task, review), 'retry', 'edit', 'details'];
    case 'failed':
    case 'declined':
      return ['retry', 'edit', 'details'];
    case 'refused':
      return task.sends === 0 ? ['retry', 'edit', 'details'] : ['lookup', 'retry', 'edit', 'details'];
    case 'uncertain':
      return task.leftBy === undefined ? ['lookup', 'again', 'leave', 'details'] : ['lookup', 'again', 'details'];
    case 'cancelled':
      if (task.state === 'sending') return ['details'];
      if (task.lateOutcome !== 'completed' || isFetching(task)) return ['retry', 'edit', 'details'];
      return ['show', 'retry', 'edit', 'details'];
  }
}

function reviewButtons(task: Task, review: ReviewContext | undefined): readonly ButtonAction[] {
  if (review?.isReviewed !== true || task.clip === undefined) return [];
  return isSignedOff(task) ? ['changes'] : ['sign_off', 'changes'];
}
