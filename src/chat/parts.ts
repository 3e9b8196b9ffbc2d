import type { Clock } from '../clock.ts';
import type { Store, WorkQueue } from '../engine/index.ts';
import type { Logger } from '../logger.ts';
import type { ClipLinks } from '../media/index.ts';
import type { Clips, TaskRepository } from '../pipeline/index.ts';
import type { DurationEstimates, Price, Task, TaskId } from '../tasks/index.ts';
import type { Admin, TeamKey, TeamSettings } from '../teams/index.ts';
import type { Model } from '../videos/index.ts';
import type { ApprovalNotices } from './approval-notices.ts';
import type { AttachmentPlanner } from './attachment-plan.ts';
import type { CardDelivery } from './card-delivery.ts';
import type { CardSubject, Cards } from './cards.ts';
import type { Comparisons } from './comparisons/comparisons.ts';
import type { CompletionNotices } from './completion-notices.ts';
import type { DeliveryObserver } from './deliver.ts';
import type { MessageLocks } from './message-lock.ts';
import type { Platform, PlatformOf } from './platform.ts';
import type { Posts } from './posts.ts';
import type { ProgressEdits } from './progress-edits.ts';
import type { ReviewNotices } from './reviews.ts';
import type { SetCards } from './sets/set-cards.ts';
import type { Subscriptions } from './subscriptions.ts';
import type { TaskViews } from './task-views.ts';
import type { Elsewhere, TaskView } from './view.ts';

/** Options of the chat engine. */
export interface ChatOptions {
  readonly store: Store;
  readonly repository: TaskRepository;
  readonly queue: WorkQueue;
  /** Enabled platforms, by name. */
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly clips: Pick<Clips, 'find'>;
  readonly handing: AttachmentPlanner;
  readonly subscriptions: Subscriptions;
  readonly locks: MessageLocks;
  readonly durationEstimates: Pick<DurationEstimates, 'usual'>;
  /** Returns a model of the current catalog by its name. */
  readonly modelOf: (name: string) => Model | undefined;
  readonly observer: DeliveryObserver;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  /** Minimum time between two edits of one message, in milliseconds; a platform may require more. */
  readonly editIntervalMs: number;
  /** Age at which a task is overdue, in milliseconds. */
  readonly deadlineMs: number;
  readonly slowestPollMs: number;
  /** The video service is known to refund failed tasks. */
  readonly refundKnown: boolean;
  /** Persons named in `ADMINS`, who are pinged where there is no approver. */
  readonly admins: readonly Admin[];
  readonly settingsOf: (team: TeamKey) => Promise<Pick<TeamSettings, 'aiLabel' | 'reviewIn' | 'signedOffChannel'>>;
  /** What notices to approvers show besides the request. */
  readonly forApprovers: {
    /** Returns what the team of a task has left in its currency this month; `null` without a limit. */
    readonly leftFor: (of: Pick<Task, 'origin' | 'price'>) => Promise<Price | null>;
    readonly pictureOf: ClipLinks['forRequest'];
  };
  /** Returns the model of another service that takes a task's order as it is; `null`: there is none. */
  readonly elsewhere: (task: Task) => Promise<Elsewhere | null>;
  /** Returns the time at which the clip of a task is removed; `null`: it has none, or keeps it. */
  readonly keptUntil: (task: Task) => Promise<number | null>;
}

/** What the parts of a chat are made of: its options, and each other. Each names those that it needs. */
export interface ChatParts extends ChatOptions {
  readonly platformOf: PlatformOf;
  /** Returns what the message of a task shows. */
  readonly subjectOf: (task: Task) => CardSubject;
  /**
   * Returns what the card of an id shows: of a task, or the `setCardId` of a set. `undefined` where nothing is to be edited:
   * its content is removed, or a delivery shows it.
   */
  readonly subjectAt: (id: TaskId) => Promise<CardSubject | undefined>;
  readonly viewOf: (task: Task) => Promise<TaskView>;
  readonly cards: Cards;
  readonly cardDelivery: CardDelivery;
  readonly comparisons: Comparisons;
  readonly edits: ProgressEdits;
  readonly views: TaskViews;
  readonly sets: SetCards;
  readonly posts: Posts;
  readonly approvals: ApprovalNotices;
  readonly reviews: ReviewNotices;
  readonly notices: CompletionNotices;
}
