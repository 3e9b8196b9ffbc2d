import type { Person, Task } from '../task.ts';
import { withoutPerson } from './pseudonym.ts';
import { WRITTEN } from './written.ts';

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
  if (task.origin.user.id === person || withoutPerson(task, person, pseudonym) === task) return null;
  const left = Object.values(WRITTEN).reduce((next, { without }) => without?.(next, person) ?? next, task);
  return withoutPerson(left, person, pseudonym);
}
