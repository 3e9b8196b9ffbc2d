import { isSought } from '#src/tasks/attempt.ts';
import { isContentRemoved } from '#src/tasks/removal.ts';
import type { Task } from '#src/tasks/task.ts';
import type { MoneyCommit } from '../commits.ts';
import type { History, Shown, Violation } from '../history.ts';
import { cardOf, setsIn } from '../sets.ts';

/**
 * Checks that a set is claimed and decided on as a whole, in one commit each, and that it has one card, and one notice
 * once nothing more happens to it by itself.
 */
export function checkSets({
  store,
  commits,
  messages,
}: Pick<History, 'store' | 'commits' | 'messages'>): readonly Violation[] {
  return [
    ...setsIn(store.tasks.values()).flatMap((set) => [...partly(set), ...wrongCard(set, messages)]),
    ...brokenCommits(commits),
  ];
}

function describe(tasks: readonly Task[]): string {
  return tasks.map(({ id, state, set }) => `${set?.at} of ${set?.of}: ${id} ${state}`).join(', ');
}

function partly(tasks: readonly Task[]): readonly Violation[] {
  const isWaiting = ({ state }: Task): boolean => state === 'requested' || state === 'declined';
  const some = tasks.filter(isWaiting).length;
  return [
    ...(tasks.length === tasks[0]?.set?.of ? [] : [{ name: 'partial set', what: describe(tasks) }]),
    ...(some === 0 || some === tasks.length ? [] : [{ name: 'set approved in part', what: describe(tasks) }]),
  ];
}

/** Replays the commits: all tasks of a set are new in one of them, and leave `requested` in one. */
function brokenCommits(commits: readonly MoneyCommit[]): readonly Violation[] {
  const before = new Map<string, Task>();
  return commits.flatMap((commit, at) => {
    const written = commit.flatMap((write) => (write.of === 'task' && write.value !== null ? [write.value] : []));
    const changed = written.filter(({ id, state }) => {
      const was = before.get(id)?.state;
      return was === undefined || (was === 'requested' && state !== 'requested');
    });
    for (const task of written) before.set(task.id, task);
    return setsIn(new Map(changed.map((task) => [task.id, task])).values())
      .filter((set) => set.length !== set[0]?.set?.of)
      .map((set) => ({ name: 'set changed in part', what: `commit ${at}: ${describe(set)}` }));
  });
}

/** Returns whether the requester was told of a task by itself: of the decision on it, or of its clip. */
function isToldOf({ id, state, sends }: Task, messages: readonly Shown[]): boolean {
  const own = messages.find(({ task }) => task === id);
  const phases = state === 'uncertain' ? ['uncertain', 'disowned'] : state === 'completed' ? ['done'] : [];
  const ends = phases.map((phase) => `${phase}:${sends}`);
  return own !== undefined && messages.some(({ end, replyTo }) => replyTo === own.id && ends.includes(end ?? ''));
}

function wrongCard(tasks: readonly Task[], messages: readonly Shown[]): readonly Violation[] {
  const [first] = tasks;
  if (first?.set === undefined || tasks.some(isContentRemoved)) return [];
  const own = messages.filter(({ set }) => set === first.set?.id);
  const [card] = own;
  if (card === undefined) return [{ name: 'lost message', what: `the card of ${describe(tasks)}` }];
  if (own.length > 1) return [{ name: 'doubled message', what: `${own.length} cards of ${describe(tasks)}` }];
  const notices = messages.filter(({ end, replyTo }) => end === cardOf(first.id) && replyTo === card.id);
  // One that is unconfirmed although all were cancelled has a notice of its own.
  const isSilent = tasks.every(
    ({ cancelledBy, declined }) => cancelledBy !== undefined || declined?.how === 'withdrawn',
  );
  const isOpen = tasks.some(({ state }) => state === 'requested');
  const what = `the end of ${describe(tasks)} was told of ${notices.length} times`;
  if (notices.length > 1) return [{ name: 'doubled delivery', what }];
  // After all of it was cancelled, a clip that a user found, or sent again, is told of by itself.
  const left = tasks.filter(({ cancelledBy }) => cancelledBy === undefined);
  const isFoundAlone = left.length < tasks.length && left.every((task) => isToldOf(task, messages));
  if (notices.length > 0 || isSilent || isOpen || isFoundAlone) return [];
  // The others are behind it, and it alone is told of; not while it is looked for.
  const isBehind = tasks.some(({ state }) => state === 'waiting');
  const isAsked = tasks.some(
    (task) => isSought(task) || (isBehind && task.state === 'uncertain' && isToldOf(task, messages)),
  );
  return isAsked ? [] : [{ name: 'lost delivery', what }];
}
