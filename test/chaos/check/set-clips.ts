import { isOnCard } from '#src/chat/sets/set-view.ts';
import { isSought } from '#src/tasks/attempt.ts';
import { isBlind } from '#src/tasks/blind.ts';
import { isContentRemoved } from '#src/tasks/removal.ts';
import type { Task } from '#src/tasks/task.ts';
import type { Deleted, History, Shown, Violation } from '../history.ts';
import { cardOf, isFileOf, isShownOnCard, setsIn } from '../sets.ts';
import { mayRefuse } from './messages.ts';

type ClipHistory = Pick<History, 'messages' | 'made' | 'deleted' | 'troubles'> & {
  readonly store: Pick<History['store'], 'tasks'>;
};

/**
 * Checks the cards of takes and comparisons: each holds one file for each clip, none of a removed one, and leads to the
 * decisions that are needed; one that was deleted before is posted anew with all of them.
 */
export function checkSetClips(history: ClipHistory): readonly Violation[] {
  const { store, messages, deleted } = history;
  return setsIn(store.tasks.values())
    .filter(([first]) => first !== undefined && isOnCard(first))
    .flatMap((all) => {
      const tasks = all.filter((task) => isShownOnCard(task, store.tasks.values()));
      const [card] = messages.filter(({ set }) => set === all[0]?.set?.id);
      const gone = deleted.filter(({ task }) => task === cardOf(all[0]?.set?.id ?? ''));
      return [
        ...tasks.flatMap((task) => ownMessages(task, messages)),
        ...(card === undefined ? unshown(tasks, gone) : wrongCard(tasks, card, { ...history, gone })),
      ];
    });
}

function ownMessages({ id }: Task, messages: readonly Shown[]): readonly Violation[] {
  const own = messages.filter(({ task }) => task === id);
  return own.map((message) => ({ name: 'doubled message', what: `task ${id} is on its card, and in ${message.id}` }));
}

function hasClip({ state, clip, removal }: Task): boolean {
  return state === 'completed' && clip !== undefined && removal === undefined;
}

function isIn(task: Task, { names = [] }: Pick<Deleted, 'names'>): boolean {
  return names.some((name) => isFileOf(task, name));
}

/** Checks a set whose card was deleted: only clips that were visible may be gone. */
function unshown(tasks: readonly Task[], gone: readonly Deleted[]): readonly Violation[] {
  const [only, ...others] = gone;
  if (only === undefined || others.length > 0) return [];
  return tasks
    .filter((task) => hasClip(task) && !isIn(task, only))
    .map(({ id }) => ({
      name: 'lost delivery',
      what: `task ${id}: card ${only.id} was deleted before the clip was there, and no other has it`,
    }));
}

function wrongCard(
  tasks: readonly Task[],
  card: Shown,
  { gone, made, store, troubles }: ClipHistory & { readonly gone: readonly Deleted[] },
): readonly Violation[] {
  const bytes = new Map(made.map(({ upstreamId, clipBytes }) => [upstreamId, clipBytes]));
  const [first] = tasks;
  const what = `card ${card.id} of set ${first?.set?.id}`;
  const strangers = (card.names ?? []).filter(
    (name) => ![...store.tasks.values()].some((task) => isFileOf(task, name)),
  );
  const isElsewhere = first !== undefined && card.channel !== first.origin.channel && !mayRefuse(first, troubles);
  return [
    ...(isElsewhere ? [{ name: 'message in another channel', what: `${what} is in ${card.channel}` }] : []),
    ...strangers.map((name) => ({ name: 'wrong clip', what: `${what} has ${name}` })),
    ...tasks.flatMap((task) => wrongFiles(task, card, { clipBytes: bytes.get(task.upstreamId ?? ''), gone })),
    // One without content is blanked.
    ...(tasks.every(isContentRemoved) ? [] : wrongState(tasks, card, store.tasks)),
    ...wronglyAgain(tasks, card, gone),
  ];
}

function wrongFiles(
  task: Task,
  { id, files, names = [] }: Shown,
  { clipBytes, gone }: { readonly clipBytes: number | undefined; readonly gone: readonly Deleted[] },
): readonly Violation[] {
  const own = files.filter((_, index) => isFileOf(task, names[index] ?? ''));
  const what = `card ${id} has ${own.length} clips of task ${task.id} (${task.state}), ${task.set?.at} of ${task.set?.of}`;
  if (task.removal !== undefined) return own.length === 0 ? [] : [{ name: 'left by a deletion', what }];
  const wanted = hasClip(task) ? 1 : 0;
  if (own.length > wanted) return [{ name: 'doubled delivery', what }];
  // Another deletion ends the attempts, until a user asks for the clip.
  if (own.length < wanted) return gone.length > 1 ? [] : [{ name: 'lost delivery', what }];
  if (wanted === 0 || own[0] === clipBytes) return [];
  return [{ name: 'wrong clip', what: `${what}: ${own[0]} bytes instead of ${clipBytes}` }];
}

/** Checks what a card says of its tasks, and that it leads to every decision that is needed. */
function wrongState(
  tasks: readonly Task[],
  { id, tasks: shown = [], buttonIds = [] }: Shown,
  all: ClipHistory['store']['tasks'],
): readonly Violation[] {
  const name = 'message in a wrong state';
  const stale = shown.filter(({ task, state }) => {
    const one = all.get(task);
    return one !== undefined && !isBlind(one) && !isContentRemoved(one) && one.state !== state;
  });
  const wanted = tasks.filter((task) => task.state === 'uncertain' && task.leftBy === undefined && !isSought(task));
  const led = tasks.filter((task) => buttonIds.includes(`details:${task.id}`));
  const decisions = [...wanted.filter((task) => !led.includes(task)), ...led.filter((task) => !wanted.includes(task))];
  return [
    ...stale.map(({ task, state }) => ({ name, what: `card ${id} says ${state} of task ${task}` })),
    ...decisions.map((task) => ({
      name,
      what: `card ${id} ${led.includes(task) ? 'leads' : 'does not lead'} to a decision on task ${task.id} (${task.state})`,
    })),
  ];
}

/** A card is posted anew only for a clip that was not delivered before its message was deleted. */
function wronglyAgain(tasks: readonly Task[], card: Shown, gone: readonly Deleted[]): readonly Violation[] {
  const last = gone.at(-1);
  if (last?.wasDelivered !== true || !tasks.filter(hasClip).every((task) => isIn(task, last))) return [];
  return [{ name: 'doubled delivery', what: `card ${card.id}, after ${last.id} with all clips` }];
}
