import { setOfCard } from '#src/chat/sets/set-view.ts';
import { formatPrice } from '#src/tasks/price.ts';
import type { Price, SetKind, SetPlace, Task, TaskId } from '#src/tasks/task.ts';
import { shortId } from '../ui/buttons.ts';
import { count } from './format.ts';

/** What an order makes: the clips of a set, or a single one (`null`). */
export type Ordered = Pick<SetPlace, 'kind' | 'of'> | null;

/** Words for a task of a set. */
const MEMBERS = {
  takes: { one: 'take', many: 'takes' },
  storyboard: { one: 'shot', many: 'shots' },
} as const satisfies Readonly<Record<SetKind, object>>;

/** Returns the words for the tasks of a set; those of a kind of a later version are takes. */
export function memberWords(kind: SetKind): (typeof MEMBERS)[SetKind] {
  return (MEMBERS as Readonly<Partial<typeof MEMBERS>>)[kind] ?? MEMBERS.takes;
}

/** Counts the tasks of a set: `4 takes`. */
export function setSize({ kind, of }: NonNullable<Ordered>): string {
  return count(of, memberWords(kind).one);
}

/** Names the place of a task in its set: `2 of 4 takes`, `shot 4 of 9`. */
export function placeInSet({ kind, at, of }: Pick<SetPlace, 'kind' | 'at' | 'of'>): string {
  return kind === 'storyboard' ? `${memberWords(kind).one} ${at} of ${of}` : `${at} of ${setSize({ kind, of })}`;
}

/** Returns the place of a task in its set, or of a take of a shot: `take 2 of 4`; nothing for a task of its own. */
export function placeWords({ takeOf, set = takeOf }: Pick<Task, 'set' | 'takeOf'>): readonly string[] {
  return set === undefined ? [] : [`${memberWords(set.kind).one} ${set.at} of ${set.of}`];
}

/** Returns what tasks are: those of a set, or a single one. */
export function orderedOf({ set }: Pick<Task, 'set'>): Ordered {
  return set ?? null;
}

/** Names what an order makes for the first time: `a clip`, `4 takes`. */
export function someClips(ordered: Ordered): string {
  return ordered === null ? 'a clip' : setSize(ordered);
}

/** Names what an order makes: `the clip`, `the 4 takes`. */
export function theClips(ordered: Ordered): string {
  return ordered === null ? 'the clip' : `the ${setSize(ordered)}`;
}

/** Names what an order makes with its price: `this clip costs $0.30`, `these 4 takes cost $1.20`. */
export function clipsCost(ordered: Ordered, price: Price): string {
  const what = ordered === null ? 'this clip costs' : `these ${setSize(ordered)} cost`;
  return `${what} ${formatPrice(price)}`;
}

/** Names the orders above a threshold, which is about all tasks of a set together: `clips above $1.00`. */
export function ordersAbove(ordered: Ordered, above: Price): string {
  return `${ordered === null ? 'clips' : 'orders'} above ${formatPrice(above)}`;
}

/** Returns the displayed id of a task, or of a set by the id of its card: that of its first task. */
export function shownId(id: TaskId): string {
  return shortId(setOfCard(id) ?? id);
}
