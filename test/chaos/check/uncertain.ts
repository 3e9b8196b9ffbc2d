import { TOLD, TURNED_AWAY } from '../fates.ts';
import type { Create, History, Life, Trouble, Violation } from '../history.ts';

/** Longest time to store a response without faults. */
const STORING_MS = 6_000;

/**
 * Checks that no user was asked to decide although the response came: to a process that lived on, was not paused, and
 * had its store and its connection to the service. Only a warning: nothing was bought twice, but a user was bothered.
 */
export function checkUncertain(history: History): readonly Violation[] {
  const { store, creates, lives, troubles } = history;
  const doubtful = [...store.ledger.values()].filter(({ state }) => state === 'in_doubt');
  return [...Map.groupBy(doubtful, ({ task }) => task)].flatMap(([task, entries]): readonly Violation[] => {
    const sends = creates.filter(({ key, fate }) => key === task && !TURNED_AWAY.has(fate));
    const excused = sends.filter((create) => !wasAnsweredWell(create, lives, troubles)).length;
    // A submission that never reached the service was lost on the way.
    const unseen = Math.max(0, (store.tasks.get(task)?.sends ?? 0) - sends.length);
    if (entries.length <= excused + unseen) return [];
    const what = `task ${task} is in doubt; it was answered: ${sends.map(({ fate, atMs }) => `${fate} at ${Math.round(atMs)} ms`).join(', ')}`;
    return [{ name: 'needlessly uncertain', what, isWarning: true }];
  });
}

function wasAnsweredWell(create: Create, lives: readonly Life[], troubles: readonly Trouble[]): boolean {
  if (!TOLD.has(create.fate) || create.answeredAtMs === null) return false;
  const untilMs = create.answeredAtMs + STORING_MS;
  const { replica, life } = create.sender;
  const sender = lives.find((one) => one.replica === replica && one.life === life);
  const diedMs = sender?.untilMs ?? Number.POSITIVE_INFINITY;
  const wasTroubled = troubles.some(
    (trouble) =>
      (trouble.replica === null || trouble.replica === replica) &&
      trouble.fromMs <= untilMs &&
      trouble.untilMs + STORING_MS >= create.atMs,
  );
  return !wasTroubled && diedMs > untilMs;
}
