import type { ClipLinks } from '../../media/index.ts';
import type {
  Approval,
  Approver,
  Declined,
  Person,
  Phase,
  Price,
  ReviewKind,
  ReviewNote,
  SetPlace,
  TaskId,
} from '../../tasks/index.ts';
import type { MessageRef } from '../platform.ts';
import type { Handover, NoticedPhase, SignedLink } from '../view.ts';

/** Outcome of a set's tasks. */
export interface SetOutcome {
  readonly kind: SetPlace['kind'];
  /** It is a comparison whose models are not revealed. Default: false. */
  readonly isBlind?: boolean;
  readonly of: number;
  readonly ready: number;
  /** The end of its request for approval, where it was not approved: none of the tasks was bought. */
  readonly declined?: Declined;
  /** The tasks without a clip, with the price of a retry where that makes sense. */
  readonly others: readonly {
    readonly at: number;
    readonly task: TaskId;
    readonly phase: Phase;
    readonly retryPrice: Price | null;
    /** It was never sent, for want of the clip before it. Default: false. */
    readonly isDropped?: boolean;
  }[];
}

/** Completion notice, posted once per channel: as a reply in the task's channel, or in a subscribed channel. */
export interface EndNotice {
  readonly kind: 'end';
  readonly task: TaskId;
  /** `disowned`: uncertain, with an id that the service does not know. */
  readonly phase: NoticedPhase | 'disowned';
  readonly prompt: string;
  readonly by: Person;
  /** The task's message, for a link from another channel. */
  readonly message: MessageRef;
  /** Number of submissions that the service may bill. */
  readonly sends: number;
  /** Form in which the clip is available; `null` where there is none. */
  readonly handover: Handover['kind'] | null;
  /** End of its request for approval, where it was not approved. */
  readonly declined?: Declined;
  readonly subscribed: boolean;
  /** Set in the notice about a whole set, whose card is `message`. */
  readonly set?: SetOutcome;
}

/** Notice to the approvers of a requested task. */
export interface ApprovalNotice {
  readonly kind: 'approval';
  readonly task: TaskId;
  readonly by: Person;
  /** Of a set, the price of all its tasks. */
  readonly price: Price;
  /** Set where it is about a set, whose card has the id `task`; its tasks, in their order, if their requests differ. */
  readonly set?: Pick<SetPlace, 'kind' | 'of'> & {
    readonly tasks: readonly Pick<ApprovalNotice, 'model' | 'seconds' | 'prompt' | 'price'>[];
  };
  /** Title of the model; of a set, that of its first task. */
  readonly model: string;
  readonly seconds: number;
  /** `null` for recipients outside of a private channel. */
  readonly prompt: string | null;
  /** Picture of what it is about, while it waits; `null` for none, and where there is no prompt. Default: none. */
  readonly picture?: ReturnType<ClipLinks['forPoster']>;
  /** The task's message, for a link; `null` where it is gone, or not for the recipients. */
  readonly message: MessageRef | null;
  /** What the team has left this month, in the currency of the price; `null` without a limit. */
  readonly left: Price | null;
  /** Approvers whom the message pings; none in a direct message. */
  readonly pings: readonly Approver[];
  readonly isReminder: boolean;
  readonly expiresAtMs: number;
  /** The decision, which replaces the buttons; `null` while there is none. */
  readonly decided: { readonly approval: Approval | null; readonly declined: Declined | null } | null;
}

/** Notice of a decision on a clip, to its requester. */
export interface ReviewNotice {
  readonly kind: 'review';
  readonly task: TaskId;
  readonly decision: ReviewKind;
  readonly by: Person;
  readonly requester: Person;
  readonly prompt: string;
  /** As in `versionOf`. */
  readonly version: number;
  /** `null`: none, or its author was forgotten. */
  readonly note: ReviewNote | null;
  /** Who had signed the clip off before these changes were requested; `null` for nobody. */
  readonly takesBack: Person | null;
}

/** A signed-off clip in the team's channel for them. */
export interface SignedOffNotice {
  readonly kind: 'signed_off';
  readonly task: TaskId;
  readonly by: Person;
  readonly prompt: string;
  /** As in `versionOf`. */
  readonly version: number;
  /** The clip's own message; `null` once it is gone. */
  readonly message: MessageRef | null;
  /** The clip's own channel. */
  readonly channel: string;
  /** Link to the original, where the file is too large. */
  readonly link: SignedLink | null;
  /** Its team wants the word *AI* on cards of clips. Default: false. */
  readonly isLabelled?: boolean;
}
