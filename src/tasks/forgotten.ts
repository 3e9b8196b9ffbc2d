import type { ReviewDecision } from './review/review.ts';
import type { Person, Task } from './task.ts';

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

/** Paths in a record at which it names people, without positions in lists and keys of maps: `review.by`. */
export type PersonPath<Value, At extends string = ''> = Value extends string | number | boolean | null | undefined
  ? never
  : Value extends Person
    ? At
    : Value extends readonly (infer Item)[]
      ? PersonPath<Item, At>
      : { [Key in keyof Value & string]-?: PersonPath<Value[Key], Below<At, Key>> }[keyof Value & string];

type Below<At extends string, Key extends string> = string extends Key ? At : At extends '' ? Key : `${At}.${Key}`;

/** Decision of a person on a task, with what they wrote: a line of their export. */
interface Decision {
  readonly record: 'decision' | 'review';
  readonly by: Person;
  readonly decision: string;
  /** In milliseconds since the Unix epoch. Absent: not stored. */
  readonly atMs?: number | undefined;
  readonly reason?: string | undefined;
  readonly text?: string | undefined;
  readonly atSeconds?: number | undefined;
}

/** What people decided and wrote in one place of a task. */
interface Written {
  readonly decisions: (task: Task) => readonly Decision[];
  /** Returns the task without what a person wrote there; their name is replaced everywhere. Absent: it has no texts. */
  readonly without?: (task: Task, person: string) => Task;
}

/**
 * Every place in which a task names people: what is forgotten there, and what the export of the person has of it. A notice
 * is shown again for each pseudonym in it.
 */
export const WRITTEN: { readonly [At in PersonPath<Task>]: Written } = {
  // The prompt goes with the content of the task; its requester's export has a line for each of theirs.
  'origin.user': { decisions: () => [] },
  cancelledBy: { decisions: ({ cancelledBy: by }) => decided(by, 'cancelled') },
  leftBy: { decisions: ({ leftBy: by }) => decided(by, 'dismissed') },
  'approval.approved.by': {
    decisions: ({ approval }) => decided(approval?.approved?.by, 'approved', { atMs: approval?.approved?.atMs }),
  },
  'approval.askedOf': {
    decisions: () => [],
    without({ approval, ...task }, person) {
      if (approval === undefined) return task;
      const askedOf = approval.askedOf.filter(({ kind, id }) => kind !== 'person' || id !== person);
      return { ...task, approval: { ...approval, askedOf } };
    },
  },
  'declined.by': {
    decisions: ({ declined: { by, how = 'denied', reason, atMs } = {} }) => decided(by, how, { reason, atMs }),
    without(task, person) {
      if (task.declined?.by?.id !== person) return task;
      const { reason: _reason, ...declined } = task.declined;
      return { ...task, declined };
    },
  },
  'review.by': {
    decisions: ({ review = [] }) =>
      review.map(({ kind: decision, by, note, atMs }) => ({ record: 'review', by, decision, ...note, atMs })),
    without(task, person) {
      if (task.review === undefined) return task;
      const withoutNote = ({ note: _note, ...rest }: ReviewDecision): ReviewDecision => rest;
      return { ...task, review: task.review.map((one) => (one.by.id === person ? withoutNote(one) : one)) };
    },
  },
};

function decided(
  by: Person | undefined,
  decision: string,
  more: Pick<Decision, 'reason' | 'atMs'> = {},
): readonly Decision[] {
  return by === undefined ? [] : [{ record: 'decision', by, decision, ...more }];
}

const PREFIX = 'forgotten-';

/** Returns the pseudonym of a person who is forgotten. @param randomId nothing leads from it back to the person */
export function newPseudonym(randomId: string): Person {
  return { id: `${PREFIX}${randomId}`, name: 'Removed person' };
}

/** Returns whether a user id is that of a pseudonym. */
export function isPseudonym(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** Returns the ids of the forgotten people whom a JSON value names by their pseudonyms. */
export function pseudonymsIn(value: unknown): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return new Set();
  const own = 'id' in value && typeof value.id === 'string' && isPseudonym(value.id) ? [value.id] : [];
  return new Set([...own, ...Object.values(value).flatMap((one) => [...pseudonymsIn(one)])]);
}

/**
 * Replaces a person wherever a JSON value names them by id and name.
 * @returns the same value if it does not.
 */
export function withoutPerson<Value>(value: Value, id: string, pseudonym: Person): Value {
  return replaced(value, id, pseudonym) as Value;
}

function replaced(value: unknown, id: string, pseudonym: Person): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const next = items.map((item) => replaced(item, id, pseudonym));
    return next.some((item, at) => item !== items[at]) ? next : value;
  }
  const entries = Object.entries(value).map(([key, field]) => [key, field, replaced(field, id, pseudonym)] as const);
  const isThem = 'id' in value && value.id === id && 'name' in value && typeof value.name === 'string';
  if (!isThem && entries.every(([, before, after]) => before === after)) return value;
  return { ...Object.fromEntries(entries.map(([key, , after]) => [key, after])), ...(isThem ? pseudonym : {}) };
}
