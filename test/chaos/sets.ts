import { isOnCard } from '#src/chat/sets/set-view.ts';
import { memberIds, taskIdOf } from '#src/pipeline/task-ids.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import { COMPARED } from './money.ts';
import type { Random } from './random.ts';

/** What an order asks for. */
export type Ordered = 'clip' | 'takes' | 'storyboard' | 'comparison';

/** Shares of what orders ask for; in a chat, which has few, more of them are sets. */
const ORDERED: Readonly<Record<'playground' | 'chat', Readonly<Record<Ordered, number>>>> = {
  playground: { clip: 68, takes: 14, storyboard: 10, comparison: 8 },
  chat: { clip: 40, takes: 12, storyboard: 24, comparison: 24 },
};
const MAX_TAKES = 4;
const MAX_SHOTS = 5;

/** Draws what an order asks for, and its number of clips. */
export function drawOrdered(
  random: Random,
  where: keyof typeof ORDERED,
): { readonly ordered: Ordered; readonly takes: number } {
  const ordered = random.weighed(ORDERED[where]);
  const most = { clip: 1, takes: MAX_TAKES, storyboard: MAX_SHOTS, comparison: COMPARED.length }[ordered];
  return { ordered, takes: ordered === 'clip' ? 1 : random.between(2, most) };
}

/** Returns whether the clips of an order are on the card of their set. */
export function isOnOneCard({ ordered }: { readonly ordered: Ordered }): boolean {
  return ordered === 'takes' || ordered === 'comparison';
}

/** Order as far as its command says. */
type Commanded = {
  readonly id: string;
  readonly ordered: Ordered;
  readonly takes: number;
  readonly isChained?: true;
};

/** Returns the lines of a storyboard. */
export function shotsOf({ id, takes }: Pick<Commanded, 'id' | 'takes'>): string {
  const shots = Array.from({ length: takes }, (_, at) => `${id}: shot ${at + 1}${at === 1 ? ' --seconds 6' : ''}`);
  return shots.join('\n');
}

/** Returns the command of an order; every prompt begins with its id. */
export function commandFor({ id, ordered, takes, isChained }: Commanded): string {
  if (ordered === 'clip') return `/video create ${id}: a red fox in snow`;
  if (ordered === 'takes') return `/video create ${id}: a red fox in snow --takes ${takes}`;
  if (ordered === 'comparison')
    return `/video compare ${id}: a red fox in snow --models ${COMPARED.slice(0, takes).join(',')}`;
  return `/video storyboard ${isChained === true ? '--chain\n' : ''}${shotsOf({ id, takes })}`;
}

/** Returns the ids of the tasks of an order. @param key its idempotency key */
export function tasksOf(key: string, takes: number): readonly TaskId[] {
  return memberIds({ id: taskIdOf(key), of: takes });
}

/** Returns the ids of the tasks of an order by the first one. */
export function tasksOfSet(first: string, clips: number): readonly TaskId[] {
  return memberIds({ id: first as TaskId, of: clips });
}

/** Returns the id of a set's card, by which its buttons name it. */
export function cardOf(set: string): string {
  return `set-${set}`;
}

/** Returns the sets of tasks, each by its tasks, in their order. */
export function setsIn(tasks: Iterable<Task>): readonly (readonly Task[])[] {
  const members = [...tasks].filter(({ set }) => set !== undefined);
  const sets = Map.groupBy(members, ({ set }) => set?.id);
  return [...sets.values()].map((set) => set.toSorted((one, other) => (one.set?.at ?? 0) - (other.set?.at ?? 0)));
}

/** Returns whether a task is a shot before another one of the same storyboard, or a further take of it. */
export function isBefore(one: Task, { set }: Task): boolean {
  const place = one.set ?? one.takeOf;
  return set?.kind === 'storyboard' && place?.id === set.id && place.at < set.at;
}

/** Returns whether the card of its set shows a task: one of a comparison, until a retry takes its place there. */
export function isShownOnCard(task: Task, tasks: Iterable<Task>): boolean {
  const { set } = task;
  return isOnCard(task) && ![...tasks].some(({ takeOf }) => takeOf?.id === set?.id && takeOf?.at === set?.at);
}

/** Returns whether a file is the clip of a task by its name, such as `red-fox-7f3a.mp4`; of one of a set, `red-fox-7f3a-2.mp4`. */
export function isFileOf({ id, set }: Pick<Task, 'id' | 'set'>, name: string): boolean {
  const place = set === undefined ? '' : `-${set.at}`;
  return name.endsWith(`-${id.slice(0, 4)}${place}.mp4`);
}
