import type { CutFacts } from '../orders/index.ts';
import {
  type Approval,
  asOf,
  type Declined,
  type Dropped,
  type Failure,
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
  type Removal,
  type RemovalReason,
  type ReviewDecision,
  type SetPlace,
  type StepRetry,
  sinceMs,
  startedAtMs,
  type Task,
  type TaskId,
  type TaskState,
  typedPrompt,
  type UsualDuration,
} from '../tasks/index.ts';
import type { MediaKind, Model, RequestSettings } from '../videos/index.ts';
import { blindViewOf } from './comparisons/blind-view.ts';
import type { ApprovalNotice, EndNotice, ReviewNotice } from './notices/views.ts';
import type { MessageRef } from './platform.ts';
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
  | 'join'
  /** Edits the board of a storyboard. */
  | 'board';

/** Data from which a platform renders a task's message; the wording comes from `commands/sentences.ts`. */
export interface TaskView {
  readonly kind: 'task';
  readonly task: TaskId;
  readonly state: TaskState;
  readonly phase: Phase;
  readonly prompt: string;
  readonly modelTitle: string;
  readonly settings: RequestSettings;
  /** Number of reference files of each kind in the request. Absent: none. */
  readonly references?: Readonly<Record<MediaKind, number>>;
  readonly price: Price;
  readonly by: Person;
  /** Percentage reported by the service, 0 to 100, never lower than shown before; `null` where it reported none. */
  readonly progress: number | null;
  /** Number of requests ahead of it in the service's queue. Absent: it is not queued there, or the service does not say. */
  readonly ahead?: number;
  readonly createdAtMs: number;
  /** Time from which elapsed time counts: the creation, or the approval where one was needed; of one that ended, its turn. */
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  /** Creation time of this view, for elapsed times. */
  readonly nowMs: number;
  /** Usual duration of this model's completed clips; `null` while there are too few of them. */
  readonly usual: { readonly fromMs: number; readonly toMs: number } | null;
  /** The task has been running for longer than the usual duration. */
  readonly longerThanUsual: boolean;
  /** Set once the task runs past its deadline; it is then polled every `pollEveryMs`. */
  readonly overdue: { readonly deadlineMs: number; readonly pollEveryMs: number } | null;
  /** Failed step that is being retried automatically; `null` where none failed. */
  readonly retrying: StepRetry | null;
  readonly failure: Failure | null;
  /** The service is known to refund failed tasks, as the embedded one does. */
  readonly refundKnown: boolean;
  /** Number of POSTs that may have left this machine, each of which the service may bill. */
  readonly sends: number;
  readonly cancelledBy: Person | null;
  readonly lateOutcome: 'completed' | 'failed' | 'unknown' | null;
  readonly leftBy: Person | null;
  readonly handover: Handover | null;
  /** Its clip is there, and nothing but two identical downloads says that it is complete. Absent: it is, or there is none. */
  readonly isUnproven?: true;
  /** Its card has the word *AI*, as its team wants it of finished clips. Absent: it has not. */
  readonly isLabelled?: true;
  readonly retryOf: TaskId | null;
  /** Number of a retry among the versions of a clip. Absent: the first version, or unknown. */
  readonly version?: number;
  /** Decisions of its reviewers, oldest first. Absent: none. */
  readonly review?: readonly ReviewDecision[];
  /** Notes on the version that it repeats. Absent: none. */
  readonly earlierNotes?: EarlierNotes;
  /** Its request for approval; `null` where none was needed. */
  readonly approval: Approval | null;
  readonly declined: Declined | null;
  /** Its clip was removed, or its content as well. Absent: neither. */
  readonly removal?: Removal;
  /** Time at which its clip will be removed. Absent: there is none, or it is kept. */
  readonly keptUntilMs?: number;
  /** Price of a retry by the current catalog; `null` where the catalog no longer has the model. */
  readonly retryPrice: Price | null;
  /** Model of another video service that takes the same order. Absent: none, or its own service did not stop it. */
  readonly elsewhere?: Elsewhere;
  readonly buttons: readonly ButtonAction[];
  /** The channel that took no message, so that this one is a direct message. Absent: it is where it was requested. */
  readonly awayFrom?: string;
  /** The set that it belongs to, or that it is the card of. Absent: none. */
  readonly set?: SetPlace;
  /** Set in the message of a cut, which stands in for a task. */
  readonly cut?: CutFacts;
  /** Set on the board of a storyboard: the cut of what is on it now, else the latest of its cuts. Absent: there is none. */
  readonly boardCut?: BoardCut;
  /** Set on the card of a set: its tasks, in their order, each with its message (`null`: it has none). */
  readonly members?: readonly SetMember[];
  /** Number of the shot whose last frame it starts with, by the storyboard as it was written. Absent: none. */
  readonly startsFrom?: number;
  /** The shot without a clip for which it was cancelled before it was sent. Absent: none. */
  readonly dropped?: Dropped;
  /** The shot of a storyboard that it is another take of. Absent: of none. */
  readonly takeOf?: SetPlace;
  /** Set while the model of this clip is hidden: everything else that would betray it is left out. */
  readonly blind?: BlindView;
  /** Set on the card of a comparison. */
  readonly comparison?: ComparisonView;
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
}

/** Task on the card of its set. */
export interface SetMember {
  /** Of a storyboard's shot, its chosen take. */
  readonly view: TaskView;
  readonly message: MessageRef | null;
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
    /** What Retry makes again: always the same task, so that one retry of a shot runs at a time. */
    readonly original: Pick<TaskView, 'task' | 'retryPrice'>;
  };
}

export type View = TaskView | EndNotice | ApprovalNotice | ReviewNotice;

/** Text in place of a message whose content was removed. It names no one. */
export interface RemovedView {
  readonly kind: 'removed';
  readonly reason: RemovalReason;
}

/** Returns the part of a view that says for which channel a direct message stands in. */
export function standingIn(
  message: MessageRef | undefined,
  { channel }: Pick<Origin, 'channel'>,
): Pick<TaskView, 'awayFrom'> {
  return message === undefined || message.channel === channel ? {} : { awayFrom: channel };
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
  const { request, origin } = task;
  const { model, prompt: _, typed: _typed, media, chain, ...settings } = request;
  const place = task.takeOf ?? task.set;
  const phase = phaseOf(task, {
    isRunning: context.isRunning || (context.progress ?? 0) > 0,
    isHandedOver: context.handover !== null,
  });
  const isOpen = phase === 'queued' || phase === 'running';
  const ageMs = context.nowMs - sinceMs(task);
  const retrying = retryOf(task, context);
  const isOverdue = isOpen && task.acceptedAtMs !== undefined && ageMs >= context.deadlineMs;
  return {
    kind: 'task',
    task: task.id,
    state: task.state,
    phase,
    prompt: typedPrompt(request),
    modelTitle: context.model?.title ?? model,
    settings,
    references: { image: media.image.length, audio: media.audio.length, video: media.video.length },
    price: task.price,
    by: origin.user,
    progress: task.state === 'completed' ? 100 : context.progress,
    ...(phase === 'queued' && typeof context.ahead === 'number' ? { ahead: context.ahead } : {}),
    createdAtMs: task.createdAtMs,
    startedAtMs: (task.endedAtMs === undefined ? undefined : task.turnAtMs) ?? startedAtMs(task),
    endedAtMs: task.endedAtMs ?? null,
    nowMs: context.nowMs,
    usual: isOpen ? context.usual : null,
    longerThanUsual: isOpen && context.usual !== null && ageMs > context.usual.toMs,
    overdue: isOverdue ? { deadlineMs: context.deadlineMs, pollEveryMs: context.slowestPollMs } : null,
    retrying,
    failure: task.failure ?? null,
    refundKnown: context.refundKnown && task.failure?.isBilled !== true,
    sends: task.sends,
    cancelledBy: task.cancelledBy ?? null,
    lateOutcome: task.lateOutcome ?? null,
    leftBy: task.leftBy ?? null,
    handover: phase === 'done' ? handoverOf(task, context) : null,
    ...(phase === 'done' && task.removal === undefined && task.clip?.isUnproven === true ? { isUnproven: true } : {}),
    ...(phase === 'done' && context.isLabelled === true ? { isLabelled: true } : {}),
    retryOf: task.retryOf ?? null,
    ...(task.version === undefined ? {} : { version: task.version.number }),
    ...(task.review === undefined ? {} : { review: task.review }),
    ...(context.review?.earlier === undefined ? {} : { earlierNotes: context.review.earlier }),
    approval: task.approval ?? null,
    declined: task.declined ?? null,
    ...(task.removal === undefined ? {} : { removal: task.removal }),
    ...(typeof context.keptUntilMs === 'number' ? { keptUntilMs: context.keptUntilMs } : {}),
    retryPrice: context.model === undefined ? null : priceOf(context.model, settings.seconds),
    ...(context.elsewhere && { elsewhere: context.elsewhere }),
    ...(task.set === undefined ? {} : { set: task.set }),
    ...(task.takeOf === undefined ? {} : { takeOf: task.takeOf }),
    ...(chain === undefined || place === undefined ? {} : { startsFrom: place.at - 1 }),
    ...(task.dropped === undefined ? {} : { dropped: task.dropped }),
    buttons: buttonsLeft(task, buttonsOf(task, phase, { ...context, retrying })),
  };
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
