import { withoutReviewer } from '../review/review.ts';
import type { Person, Task } from '../task.ts';
import { withoutPerson } from './pseudonym.ts';

/** Replaces a person in a task that another one requested: who cancelled, dismissed, approved or denied it. */
export interface ForgetEvent {
  readonly kind: 'forget';
  /** The platform's id of the person. */
  readonly person: string;
  readonly pseudonym: Person;
}

/**
 * Applies a {@link ForgetEvent}. A requester is replaced by the event `remove`, with the content.
 * @returns `null` where the task does not name the person.
 */
export function forgottenIn(task: Task, { person, pseudonym }: ForgetEvent): Task | null {
  if (task.origin.user.id === person) return null;
  const { declined } = task;
  const before = withoutReviews(withoutAsked(task, person), person, pseudonym);
  if (declined?.by?.id !== person) {
    const next = withoutPerson(before, person, pseudonym);
    return next === task ? null : next;
  }
  // They wrote the reason.
  const { reason: _reason, ...rest } = declined;
  return withoutPerson({ ...before, declined: rest }, person, pseudonym);
}

function withoutAsked(task: Task, person: string): Task {
  const { approval } = task;
  const asked = approval?.askedOf.filter(({ kind, id }) => kind !== 'person' || id !== person);
  return approval === undefined || asked === undefined || asked.length === approval.askedOf.length
    ? task
    : { ...task, approval: { ...approval, askedOf: asked } };
}

/** Deletes the notes that they wrote as a reviewer. */
function withoutReviews(task: Task, person: string, pseudonym: Person): Task {
  const { review } = task;
  const others = review === undefined ? undefined : withoutReviewer(review, person, pseudonym);
  return others === undefined || others === review ? task : { ...task, review: others };
}
