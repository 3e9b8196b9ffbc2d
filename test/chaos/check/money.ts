import type { LedgerEntry } from '#src/tasks/ledger.ts';
import type { Task } from '#src/tasks/task.ts';
import { wrongSums } from '../../fakes/books.ts';
import type { History, Made, Violation } from '../history.ts';

const NAME = 'money that does not add up';

/** Checks that the ledger matches what the service will bill, and the sums match the ledger. */
export function checkMoney({ store, creates, made }: History): readonly Violation[] {
  const known = new Map(made.map((one) => [one.upstreamId, one]));
  const byTask = Map.groupBy(store.ledger.values(), ({ task }) => task);
  const orphans = [...byTask.keys()].filter((task) => !store.tasks.has(task));
  const ofTasks = [...store.tasks.values()].flatMap((task) => {
    const entries = (byTask.get(task.id) ?? []).toSorted((a, b) => a.send - b.send);
    const taken = creates.filter(({ key, upstreamId }) => key === task.id && upstreamId !== null).length;
    const ended = task.upstreamId === undefined ? undefined : known.get(task.upstreamId);
    return wrongWith(task, entries, { taken, ended }).map((wrong) => ({
      name: NAME,
      what: `task ${task.id} (${task.state}): ${wrong}; ${entries.map(({ send, state }) => `${send} ${state}`).join(', ')}`,
    }));
  });
  return [
    ...ofTasks,
    ...wrongSums(store).map((what) => ({ name: NAME, what })),
    ...orphans.map((task) => ({ name: NAME, what: `entries of no task: ${task}` })),
  ];
}

/** Returns whether a task is more than a request for approval. */
function isBought({ state }: Task): boolean {
  return state !== 'requested' && state !== 'declined';
}

/** @param truth number of creates that the service accepted, and the one with a known id. */
function wrongWith(
  task: Task,
  entries: readonly LedgerEntry[],
  { taken, ended }: { readonly taken: number; readonly ended: Made | undefined },
): readonly string[] {
  const count = (state: LedgerEntry['state']): number => entries.filter((entry) => entry.state === state).length;
  const billable = entries.length - count('released');
  const isKnown = task.upstreamId !== undefined && task.lateOutcome !== 'unknown';
  const isBilled = ended?.status === 'completed' || (ended?.status === 'failed' && typeof ended.cost === 'string');
  // What the service has forgotten is followed for a day.
  const isFollowed = ended?.isForgotten === true && task.lateOutcome === undefined;
  const isFree = ended?.status === 'failed' || ended?.status === 'cancelled';
  const expected = {
    settled: isKnown && isBilled ? 1 : 0,
    refunded: isKnown && isFree && !isBilled && !isFollowed ? 1 : 0,
    // A chained shot waits for one that is in doubt.
    reserved: isFollowed || task.state === 'waiting' ? 1 : 0,
  };
  return [
    ...(entries.some(({ send }, place) => send !== place + 1) ? ['sends are missing'] : []),
    ...(isBought(task) && entries.length === 0 ? ['there is no entry'] : []),
    ...(isBought(task) || entries.length === 0 ? [] : ['there are entries, and nothing was bought']),
    ...(taken > billable ? [`the service took ${taken}, ${billable} are accounted for`] : []),
    ...Object.entries(expected)
      .filter(([state, wanted]) => count(state as LedgerEntry['state']) !== wanted)
      .map(([state, wanted]) => `${wanted} should be ${state}`),
    ...(entries.some(({ send, amount }) => amount !== task.money?.sends[send - 1]?.amount)
      ? ['another amount than was bought']
      : []),
  ];
}
