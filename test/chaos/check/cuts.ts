import { type Cut, cutIdOf } from '#src/orders/cut.ts';
import type { CutFile, History, Kept, Shown, Violation } from '../history.ts';

type CutHistory = Pick<History, 'made' | 'pressed' | 'messages' | 'cutFiles'> & {
  readonly store: Pick<Kept, 'tasks' | 'cuts' | 'cards'>;
};

/** Failures that are right: the clip was deleted meanwhile, or the disk is full. */
const EXPLAINED: ReadonlySet<string | undefined> = new Set(['clip_missing', 'disk_full']);

/**
 * Checks that every file with the final name of a cut is whole, with the pictures of its clips in their order; that a
 * cut was asked for, has one message with its file, and reaches an outcome.
 */
export function checkCuts(history: CutHistory): readonly Violation[] {
  const { cutFiles, messages, pressed, store } = history;
  const shown = new Set(messages.map(({ id }) => id));
  const lost = pressed.filter(
    ({ action, status, message }) => action === 'join' && status === 202 && (message === null || !shown.has(message)),
  );
  return [
    ...lost.map(({ task, message }) => ({ name: 'lost cut', what: `${task}: no message ${message}` })),
    ...cutFiles.flatMap((file) => wrongFile(file, history)),
    ...[...store.cuts.values()].flatMap((cut) => [
      ...unasked(cut, history),
      ...wrongMessages(cut, store.cards.get(cut.id)?.copy ?? 1, messages),
    ]),
  ];
}

function wrongFile({ path, cut: id, message, pictures }: CutFile, history: CutHistory): readonly Violation[] {
  if (pictures === null) return [{ name: 'half file', what: path }];
  const { messages, store } = history;
  const cut = store.cuts.get(id ?? messages.find((one) => one.id === message)?.cut ?? '');
  // It was removed with one of its clips, of which another replica may have a copy.
  if (cut === undefined) return [];
  const wanted = picturesOf(cut, history);
  const what = `${path}: ${pictures.length} pictures, ${wanted.length} in its clips`;
  return cutIdOf(cut.tasks) === cut.id && pictures.join() === wanted.join() ? [] : [{ name: 'wrong cut', what }];
}

/** Returns the pictures of a cut's clips, as the service has them. */
function picturesOf({ tasks }: Cut, { store, made }: CutHistory): readonly string[] {
  return tasks.flatMap((id) => {
    const upstreamId = store.tasks.get(id)?.upstreamId;
    return made.find((one) => one.upstreamId === upstreamId)?.pictures ?? [];
  });
}

/** All clips of a cut are shots of one storyboard on which somebody pressed. */
function unasked({ id, tasks }: Cut, { store, pressed }: CutHistory): readonly Violation[] {
  const sets = new Set(
    tasks.map((task) => {
      const { set, takeOf } = store.tasks.get(task) ?? {};
      return (set ?? takeOf)?.id ?? task;
    }),
  );
  const [set] = sets;
  const isAsked = sets.size === 1 && pressed.some(({ action, task }) => action === 'join' && task === set);
  return isAsked ? [] : [{ name: 'cut nobody asked for', what: `${id} of ${[...sets].join(', ')}` }];
}

/** @param copies messages that were opened for it */
function wrongMessages(cut: Cut, copies: number, messages: readonly Shown[]): readonly Violation[] {
  const { id, state, presented, failure, file, isExpired } = cut;
  const own = messages.filter((message) => message.cut === id);
  const what = `${id} is ${state} ${failure?.code ?? ''}, with ${own.length} messages`;
  if (isExpired === true) return [];
  if (!presented || state === 'joining') return [{ name: 'stuck cut', what }];
  const files = own.flatMap((message) => message.files);
  return [
    ...(own.length > copies ? [{ name: 'doubled message', what }] : []),
    ...(own.length === 0 ? [{ name: 'lost message', what }] : []),
    ...(state === 'failed' && !EXPLAINED.has(failure?.code) ? [{ name: 'cut given up', what }] : []),
    ...(files.length > copies ? [{ name: 'doubled delivery', what: `${what} and ${files.length} files` }] : []),
    ...(state === 'joined' && own.length > 0 && !files.includes(file?.bytes ?? -1)
      ? [{ name: 'lost delivery', what: `${what}, and files of ${files.join(', ') || 'no'} bytes` }]
      : []),
  ];
}
