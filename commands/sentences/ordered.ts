import { formatPrice, labelAt, type Price, type SetKind, type SetPlace, type Task } from '#src/tasks/index.ts';
import { count } from './format.ts';

/** What an order makes: the clips of a set, or a single one (`null`). */
export type Ordered = Pick<SetPlace, 'kind' | 'of'> | null;

const MEMBERS: Readonly<Record<SetKind, { readonly one: string; readonly many: string }>> = {
  takes: { one: 'take', many: 'takes' },
  comparison: { one: 'clip', many: 'clips' },
  storyboard: { one: 'shot', many: 'shots' },
};

/** Returns the words for the tasks of a set; those of a kind of a later version are takes. */
export function memberWords(kind: SetKind): (typeof MEMBERS)[SetKind] {
  return (MEMBERS as Readonly<Partial<typeof MEMBERS>>)[kind] ?? MEMBERS.takes;
}

/** Counts the tasks of a set: `4 takes`. */
export function setSize({ kind, of }: NonNullable<Ordered>): string {
  return kind === 'comparison' ? `comparison of ${count(of, 'model')}` : count(of, memberWords(kind).one);
}

/** Names a task in its set: `take 2`, `clip B`. */
export function memberName(kind: SetKind, at: number): string {
  return `${memberWords(kind).one} ${kind === 'comparison' ? labelAt(at) : at}`;
}

/** Names the place of a task in its set: `shot 4 of 9`; a shot that was inserted later has a number beyond those. */
export function placeName({ kind, at, of }: Pick<SetPlace, 'kind' | 'at' | 'of'>): string {
  return at > of ? memberName(kind, at) : `${memberName(kind, at)} of ${of}`;
}

/** Returns the place of a task in its set, or of a take of a shot: `take 2 of 4`; nothing for a task of its own. */
export function placeWords({ takeOf, set = takeOf }: Pick<Task, 'set' | 'takeOf'>): readonly string[] {
  return set === undefined ? [] : [placeName(set)];
}

/** Names what an order makes for the first time: `a clip`, `4 takes`. */
export function someClips(ordered: Ordered): string {
  if (ordered?.kind === 'comparison') return `a ${setSize(ordered)}`;
  return ordered === null ? 'a clip' : setSize(ordered);
}

/** Names what an order makes with its price: `this clip costs $0.30`, `these 4 takes cost $1.20`. */
export function clipsCost(ordered: Ordered, price: Price): string {
  if (ordered?.kind === 'comparison') return `this ${setSize(ordered)} costs ${formatPrice(price)}`;
  const what = ordered === null ? 'this clip costs' : `these ${setSize(ordered)} cost`;
  return `${what} ${formatPrice(price)}`;
}

/** Names the orders above a threshold, which is about all tasks of a set together: `clips above $1.00`. */
export function ordersAbove(ordered: Ordered, above: Price): string {
  return `${ordered === null ? 'clips' : 'orders'} above ${formatPrice(above)}`;
}
