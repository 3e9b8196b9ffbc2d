import type { Approval, Declined } from './approval.ts';
import { withoutPerson } from './forgotten.ts';
import { isSignedOff } from './review/review.ts';
import type { Person, Task } from './task.ts';

/** Reason for removing a clip: its time is over, a user deleted it, or its requester is to be forgotten. */
export type RemovalReason = 'expired' | 'deleted' | 'forgotten';

/** Removal of a task's clip. */
export interface Removal {
  readonly reason: RemovalReason;
  /** In milliseconds since the Unix epoch. */
  readonly atMs: number;
  /** `false`: prompt, references, address and interaction data are removed as well. */
  readonly hasContent: boolean;
}

/** Removes the clip of a task that has ended and whose outcome is in the chat, and its content unless that is kept. */
export interface RemovalEvent {
  readonly kind: 'remove';
  readonly reason: RemovalReason;
  readonly keepsContent: boolean;
  readonly atMs: number;
  /** Pseudonym that replaces the requester. */
  readonly person?: Person;
  /** Removes nothing of a clip that is signed off by now. */
  readonly sparesSignedOff?: boolean;
}

/** Returns whether prompt and references of a task are removed. */
export function isContentRemoved({ removal }: Pick<Task, 'removal'>): boolean {
  // As it is stored, the field may be absent: {@link import('./record-shape.ts').storedTask}.
  return removal !== undefined && !removal.hasContent;
}

/**
 * Applies a removal to a task that has ended. Its id, state, amounts, sends, ids at the service and times stay: it still
 * guards its idempotency key, and the books agree.
 * @returns `null` where it removes nothing that is still there.
 */
export function removedBy(task: Task, event: RemovalEvent): Task | null {
  const { reason, keepsContent, atMs, person, sparesSignedOff = false } = event;
  if (sparesSignedOff && isSignedOff(task)) return null;
  const isContentTaken = !keepsContent && !isContentRemoved(task);
  const isPersonTaken = person !== undefined && person.id !== task.origin.user.id;
  // The messages of an expired clip are still in the chat.
  const areMessagesTaken = !keepsContent && reason !== 'expired' && task.removal?.reason === 'expired';
  if (task.clip === undefined && !isContentTaken && !isPersonTaken && !areMessagesTaken) return null;
  const { clip: _clip, ...rest } = task;
  const hasContent = keepsContent && !isContentRemoved(task);
  const removed = { ...rest, removal: { reason, atMs, hasContent } };
  const left = isContentTaken ? withoutContent(removed) : removed;
  return person === undefined ? left : withoutPerson(left, left.origin.user.id, person);
}

/** Returns a task without its content. The required fields of its record stay. */
function withoutContent(task: Task): Task {
  const {
    request,
    origin,
    failure,
    approval,
    declined,
    review: _review,
    busyTries: _busy,
    wants: _wants,
    ...rest
  } = task;
  const { uploadLimitBytes: _limit, replyTo: _replyTo, ...located } = origin;
  const media = { image: [], audio: [], video: [] };
  return {
    ...rest,
    request: { model: request.model, prompt: '', seconds: request.seconds, media },
    // The rest of it names the sums that hold its amounts.
    origin: { ...located, interaction: '', address: {} },
    // The service's words may quote the prompt.
    ...(failure === undefined ? {} : { failure: { ...failure, words: null } }),
    ...(approval === undefined ? {} : { approval: withoutRecipients(approval) }),
    ...(declined === undefined ? {} : { declined: withoutReason(declined) }),
  };
}

function withoutRecipients({ expiresAtMs, approved }: Approval): Approval {
  const decision = approved === undefined ? {} : { approved };
  return { expiresAtMs, above: null, askedOf: [], isPromptShown: false, ...decision };
}

function withoutReason({ reason: _reason, ...rest }: Declined): Declined {
  return rest;
}
