import { type ComparisonRecord, REVEAL_AFTER_MS } from '#src/chat/comparisons/comparison-records.ts';
import { isContentRemoved } from '#src/tasks/removal.ts';
import type { Task } from '#src/tasks/task.ts';
import type { History, Kept, Pressed, Shown, Violation } from '../history.ts';
import { setsIn } from '../sets.ts';

type ComparisonHistory = Pick<History, 'creates' | 'pressed' | 'messages' | 'rights'> & {
  readonly store: Pick<Kept, 'tasks' | 'comparisons'>;
};

/** Words of the playground about a vote that counts. */
const VOTED = /^You (?:voted|changed your vote|already voted)/u;
const LABELS = ['A', 'B', 'C', 'D'];
const MODEL = /swift[ -]\d/iu;
/** A request for approval lists all models with their prices, in the order in which they were named. */
const REQUEST = / requests a comparison of /u;

/**
 * Checks that each label of a comparison is one clip of one model, that each person's vote counts once, and that only
 * its requester or a manager reveals it, or a day; until then no message names a model.
 */
export function checkComparisons(history: ComparisonHistory): readonly Violation[] {
  return setsIn(history.store.tasks.values())
    .filter(([first, ...others]) => first?.set?.kind === 'comparison' && ![first, ...others].some(isContentRemoved))
    .flatMap((tasks) => {
      const [first] = tasks;
      const record = history.store.comparisons.get(first?.id ?? '');
      if (first === undefined) return [];
      return [
        ...wrongModels(tasks, history),
        ...wrongLabels(tasks, history),
        ...wrongReveal(tasks, record, history),
        ...(record === undefined ? [] : wrongVotes(first, record, history)),
        ...(record?.revealed === undefined ? betrayals(tasks, history) : []),
      ];
    });
}

function wrongModels(tasks: readonly Task[], { creates, pressed, store }: ComparisonHistory): readonly Violation[] {
  const models = new Map<string, string>(tasks.map(({ id, request }) => [id, request.model]));
  const modelAt = (at = 0): string => tasks[at - 1]?.request.model ?? '';
  const what = `comparison ${tasks[0]?.id} of ${[...models.values()].join(', ')}`;
  const labels = new Set(models.values()).size;
  const again = [...store.tasks.values()].filter(({ takeOf }) => takeOf?.id === tasks[0]?.id);
  for (const { id, takeOf } of again) models.set(id, modelAt(takeOf?.at));
  return [
    ...(labels === tasks.length ? [] : [{ name: 'two clips of a model', what }]),
    ...creates
      .filter(({ key, model }) => models.has(key) && model !== models.get(key))
      .map(({ key, model }) => ({ name: 'clip of another model', what: `${what}: ${key} by ${model}` })),
    ...again
      .filter((take) => !pressed.some(({ action, task }) => action === 'remake' && isOfLabel(task, take, store)))
      .map(({ id }) => ({ name: 'second clip of a label', what: `${what}: ${id}` })),
  ];
}

/** Checks that every message shows each clip under its label, and the revealed card the model of each label. */
function wrongLabels(tasks: readonly Task[], { messages }: ComparisonHistory): readonly Violation[] {
  const places = new Map<string | null, number>(tasks.map(({ id, set }) => [id, set?.at ?? 0]));
  const own = messages.flatMap(({ id, task, words = '' }) => {
    const [, label] = /\bclip ([A-D]) of \d/u.exec(words) ?? [];
    const at = places.get(task);
    return at === undefined || label === undefined || label === LABELS[at - 1]
      ? []
      : [{ id, what: `${task} as ${label}` }];
  });
  const cards = messages
    .filter(({ set }) => set !== undefined && places.has(set))
    .flatMap(({ id, words = '' }) =>
      [...words.replaceAll('*', '').matchAll(/Clip ([A-D]) · Swift (\d)/gu)].flatMap(([what, label = '', number]) =>
        tasks[LABELS.indexOf(label)]?.request.model === `swift-${number}` ? [] : [{ id, what }],
      ),
    );
  return [...own, ...cards].map(({ id, what }) => ({
    name: 'label of another clip',
    what: `comparison ${tasks[0]?.id}, message ${id}: ${what}`,
  }));
}

/** Returns whether a clip has the label of a take that was made later. */
function isOfLabel(clip: string, { takeOf: label }: Task, { tasks }: Pick<Kept, 'tasks'>): boolean {
  const { set, takeOf = set } = tasks.get(clip) ?? {};
  return takeOf !== undefined && takeOf.id === label?.id && takeOf.at === label.at;
}

function wrongReveal(
  tasks: readonly Task[],
  record: ComparisonRecord | undefined,
  { pressed, messages, rights: { administrators } }: ComparisonHistory,
): readonly Violation[] {
  const [first] = tasks;
  const presses = pressed.filter(({ action, task }) => action === 'reveal' && task === first?.id);
  const { platform, user: requester } = first?.origin ?? {};
  const allowed = presses.filter(({ user }) => user === requester?.id || administrators.has(`${platform}:${user}`));
  const shown = tasks.filter(({ revealedAtMs }) => revealedAtMs !== undefined).length;
  const what = `comparison ${first?.id}: ${shown} of ${tasks.length} clips`;
  if (record?.revealed === undefined) {
    const isPromised = allowed.some(({ message }) => wordsOf(message, messages) === 'The models are revealed.');
    return shown > 0 || isPromised ? [{ name: isPromised ? 'lost reveal' : 'early reveal', what }] : [];
  }
  const isDue = record.revealed.atMs >= record.shownAtMs + REVEAL_AFTER_MS;
  const hasClips = tasks.some(({ state, clip }) => state === 'completed' && clip !== undefined);
  return [
    ...(allowed.length > 0 || isDue || !hasClips ? [] : [{ name: 'reveal that nobody allowed asked for', what }]),
    ...(shown === tasks.length ? [] : [{ name: 'revealed in part', what }]),
  ];
}

function wrongVotes(
  { id }: Task,
  { votes, revealed }: ComparisonRecord,
  { pressed, messages }: ComparisonHistory,
): readonly Violation[] {
  const presses = pressed.filter(({ action, task }) => action === 'vote' && task === id);
  const voters = peopleIn(presses);
  const promised = peopleIn(presses.filter(({ message }) => VOTED.test(wordsOf(message, messages))));
  const counted =
    revealed === undefined ? Object.keys(votes).length : revealed.tally.reduce((sum, one) => sum + one, 0);
  const what = `comparison ${id}: ${counted} votes by ${voters.size} people, ${promised.size} of them told`;
  const isStray = (count: number, at: number): boolean =>
    count > peopleIn(presses.filter(({ choice }) => choice === at + 1)).size;
  const stray =
    revealed?.tally.some(isStray) ?? Object.entries(votes).some(([user, choice]) => !has(presses, user, choice));
  return [
    ...(counted > voters.size || stray ? [{ name: 'vote of nobody', what }] : []),
    ...(counted < promised.size ? [{ name: 'lost vote', what }] : []),
  ];
}

function has(presses: readonly Pressed[], user: string, choice: number): boolean {
  return presses.some((press) => press.user === user && press.choice === choice);
}

function peopleIn(presses: readonly Pressed[]): ReadonlySet<string> {
  return new Set(presses.map(({ user }) => user));
}

function wordsOf(message: string | null, messages: History['messages']): string {
  return messages.find(({ id }) => id === message)?.words ?? '';
}

/** Actions of buttons with the price of one clip, or that show its request. */
const BETRAYING: ReadonlySet<string> = new Set(['retry', 'again', 'edit']);

function betrayals(tasks: readonly Task[], { messages, pressed }: ComparisonHistory): readonly Violation[] {
  const ids = new Set<string | null>(tasks.map(({ id }) => id));
  const own = messages.filter(({ task, set }) => ids.has(task) || ids.has(set ?? null));
  const about = new Set<string | null>(own.map(({ id }) => id));
  const details = pressed.filter(({ action, task }) => action === 'details' && ids.has(task));
  const told = new Set<string | null>(details.map(({ message }) => message));
  const betrays = ({ id, replyTo, words = '', names = [], buttons, buttonIds = [] }: Shown): boolean => {
    const isNamed = (about.has(id) || about.has(replyTo) || told.has(id)) && MODEL.test(words) && !REQUEST.test(words);
    const offered = buttonIds
      .map((button) => button.split(':', 2))
      .some(([action = '', task]) => BETRAYING.has(action) && ids.has(task ?? null));
    const isOffered = (about.has(id) && offered) || (told.has(id) && buttons.some((action) => BETRAYING.has(action)));
    return isNamed || isOffered || (about.has(id) && names.some((name) => MODEL.test(name)));
  };
  return messages.filter(betrays).map(({ id, words, buttons }) => ({
    name: 'model named before the reveal',
    what: `message ${id}: ${words} (${buttons.join()})`,
  }));
}
