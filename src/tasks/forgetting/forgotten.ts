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
  const { approval, declined } = task;
  const asked = approval?.askedOf.filter(({ kind, id }) => kind !== 'person' || id !== person);
  const withoutAsked =
    approval === undefined || asked === undefined || asked.length === approval.askedOf.length
      ? task
      : { ...task, approval: { ...approval, askedOf: asked } };
  if (declined?.by?.id !== person) {
    const next = withoutPerson(withoutAsked, person, pseudonym);
    return next === task ? null : next;
  }
  // They wrote the reason.
  const { reason: _reason, ...rest } = declined;
  return withoutPerson({ ...withoutAsked, declined: rest }, person, pseudonym);
}
