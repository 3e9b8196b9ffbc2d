import { isOnCard } from '#src/chat/sets/set-view.ts';
import { isSought } from '#src/tasks/attempt.ts';
import { isContentRemoved } from '#src/tasks/removal.ts';
import type { Task } from '#src/tasks/task.ts';
import type { MoneyCommit } from '../commits.ts';
import type { History, Shown, Violation } from '../history.ts';
import { cardOf, setsIn } from '../sets.ts';
import { mayRefuse } from './messages.ts';

/**
 * Checks that a set is claimed and decided on as a whole, in one commit each, and that it has one card, and one notice
 * once nothing more happens to it by itself.
 */
export function checkSets(
  history: Pick<History, 'store' | 'commits' | 'messages' | 'deleted' | 'troubles'>,
): readonly Violation[] {
  return [
    ...setsIn(history.store.tasks.values()).flatMap((set) => [...partly(set), ...wrongCard(set, history)]),
    ...brokenCommits(history.commits),
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

/** Messages that show a set, and those that did until they were deleted. */
interface CardMessages {
  readonly card: Shown | undefined;
  readonly ids: ReadonlySet<string | null>;
}

/** Returns whether the requester was told of a task by itself: of the decision on it, or of its clip. */
function isToldOf(task: Task, { ids }: CardMessages, messages: readonly Shown[]): boolean {
  const { id, state, sends } = task;
  const own = messages.find((message) => message.task === id);
  const phases = state === 'uncertain' ? ['uncertain', 'disowned'] : state === 'completed' ? ['done'] : [];
  const ends = phases.map((phase) => `${phase}:${sends}`);
  return messages.some(
    ({ end, endOf, replyTo }) =>
      ends.includes(end ?? '') && (isOnCard(task) ? ids.has(replyTo) && endOf === id : own?.id === replyTo),
  );
}

function wrongCard(
  tasks: readonly Task[],
  { messages, deleted, troubles }: Pick<History, 'messages' | 'deleted' | 'troubles'>,
): readonly Violation[] {
  const [first] = tasks;
  if (first?.set === undefined || tasks.some(isContentRemoved)) return [];
  const own = messages.filter(({ set }) => set === first.set?.id);
  const [card, ...others] = own;
  const gone = deleted.filter(({ task }) => task === cardOf(first.id));
  if (card === undefined && gone.length === 0)
    return [{ name: 'lost message', what: `the card of ${describe(tasks)}` }];
  if (others.length > 0 && !isLeftBehind(first, own, troubles))
    return [{ name: 'doubled message', what: `${own.length} cards of ${describe(tasks)}` }];
  const shown = { card, ids: new Set([...own, ...gone].map(({ id }) => id)) };
  return [...wrongNotice(tasks, shown, messages), ...(isOnCard(first) ? doubledNotices(tasks, shown, messages) : [])];
}

/** Returns whether the bot was not allowed to change the first card any more, and the other one went to the requester. */
function isLeftBehind({ origin }: Task, [direct, first, ...others]: readonly Shown[], troubles: History['troubles']) {
  const isDirect = direct?.channel !== origin.channel && first?.channel === origin.channel;
  return isDirect && others.length === 0 && mayRefuse({ origin }, troubles);
}

function wrongNotice(tasks: readonly Task[], shown: CardMessages, messages: readonly Shown[]): readonly Violation[] {
  const notices = messages.filter(({ end, replyTo }) => end === cardOf(tasks[0]?.id ?? '') && shown.ids.has(replyTo));
  // One that is unconfirmed although all were cancelled has a notice of its own.
  const isSilent = tasks.every(
    ({ cancelledBy, declined }) => cancelledBy !== undefined || declined?.how === 'withdrawn',
  );
  const isOpen = tasks.some(({ state }) => state === 'requested');
  const what = `the end of ${describe(tasks)} was told of ${notices.length} times`;
  if (notices.length > 1) return [{ name: 'doubled delivery', what }];
  // After all of it was cancelled, a clip that a user found, or sent again, is told of by itself.
  const left = tasks.filter(({ cancelledBy }) => cancelledBy === undefined);
  const isFoundAlone = left.length < tasks.length && left.every((task) => isToldOf(task, shown, messages));
  if (notices.length > 0 || isSilent || isOpen || isFoundAlone) return [];
  // The others are behind it, and it alone is told of; not while it is looked for.
  const isBehind = tasks.some(({ state }) => state === 'waiting');
  const isAsked = tasks.some(
    (task) => isSought(task) || (isBehind && task.state === 'uncertain' && isToldOf(task, shown, messages)),
  );
  return isAsked ? [] : [{ name: 'lost delivery', what }];
}

/** Checks the notices of single clips below their card. */
function doubledNotices(
  tasks: readonly Task[],
  { card, ids }: CardMessages,
  messages: readonly Shown[],
): readonly Violation[] {
  const ends = messages
    .filter(({ end, replyTo }) => end !== null && end !== cardOf(tasks[0]?.id ?? '') && ids.has(replyTo))
    .map(({ end, endOf }) => `${endOf}: ${end}`);
  return ends
    .filter((end, place) => ends.indexOf(end) !== place || end.endsWith(' ?'))
    .map((end) => ({ name: 'doubled delivery', what: `card ${card?.id} of ${describe(tasks)}: ${end}` }));
}
