import type { SumPart, SumParts } from '#src/store/store.ts';
import { addParts, ZERO_SUM } from '#src/store/sums.ts';
import { microsOf } from '#src/tasks/amount.ts';
import type { LedgerEntry } from '#src/tasks/ledger.ts';
import { sumsOf } from '#src/tasks/money.ts';
import type { Task } from '#src/tasks/task.ts';
import type { History, Kept, Violation } from '../history.ts';

const NAME = 'money that does not add up';

/** Checks that the ledger matches what the service will bill, and the sums match the ledger. */
export function checkMoney({ store, creates, made }: History): readonly Violation[] {
  const status = new Map(made.map((one) => [one.upstreamId, one.status]));
  const byTask = Map.groupBy(store.ledger.values(), ({ task }) => task);
  const orphans = [...byTask.keys()].filter((task) => !store.tasks.has(task));
  const ofTasks = [...store.tasks.values()].flatMap((task) => {
    const entries = (byTask.get(task.id) ?? []).toSorted((a, b) => a.send - b.send);
    const taken = creates.filter(({ key, upstreamId }) => key === task.id && upstreamId !== null).length;
    const ended = task.upstreamId === undefined ? undefined : status.get(task.upstreamId);
    return wrongWith(task, entries, { taken, ended }).map((wrong) => ({
      name: NAME,
      what: `task ${task.id} (${task.state}): ${wrong}; ${entries.map(({ send, state }) => `${send} ${state}`).join(', ')}`,
    }));
  });
  return [
    ...ofTasks,
    ...wrongSums(store),
    ...orphans.map((task) => ({ name: NAME, what: `entries of no task: ${task}` })),
  ];
}

/** Adds the ledger up by scope and month, and compares the result with the sums of the store. */
function wrongSums({ tasks, ledger, sums }: Kept): readonly Violation[] {
  const folded = new Map<string, SumParts>();
  for (const entry of ledger.values()) {
    const task = tasks.get(entry.task);
    const part = task === undefined ? undefined : partOf(entry, task);
    if (task === undefined || part === undefined) continue;
    const period = entry.period ?? new Date(entry.createdAtMs).toISOString().slice(0, 7);
    for (const sum of Object.values(sumsOf(task.origin, { period, currency: entry.currency }))) {
      const parts = { ...ZERO_SUM, [part]: microsOf(entry.amount) };
      folded.set(sum, addParts(folded.get(sum) ?? ZERO_SUM, parts));
    }
  }
  return [...new Set([...folded.keys(), ...sums.keys()])].flatMap((sum) => {
    const [is, shouldBe] = [sums.get(sum) ?? ZERO_SUM, folded.get(sum) ?? ZERO_SUM];
    if (is.held === shouldBe.held && is.settled === shouldBe.settled && is.doubted === shouldBe.doubted) return [];
    const parts = ({ held, settled, doubted }: SumParts) => `${held} held, ${settled} settled, ${doubted} in doubt`;
    return [{ name: NAME, what: `${sum} is ${parts(is)}; by the ledger ${parts(shouldBe)}` }];
  });
}

function partOf({ state, booked }: LedgerEntry, { money }: Task): SumPart | undefined {
  if (state === 'refunded' && booked === undefined && money?.awaitsRefund === true) return 'held';
  return PARTS[state === 'reserved' ? state : (booked ?? state)];
}

const PARTS: Readonly<Partial<Record<LedgerEntry['state'], SumPart>>> = {
  reserved: 'held',
  settled: 'settled',
  in_doubt: 'doubted',
};

/** Returns whether a task is more than a request for approval. */
function isBought({ state }: Task): boolean {
  return state !== 'requested' && state !== 'declined';
}

/** @param truth number of creates that the service accepted, and the status of the one with a known id. */
function wrongWith(
  task: Task,
  entries: readonly LedgerEntry[],
  { taken, ended }: { readonly taken: number; readonly ended: string | undefined },
): readonly string[] {
  const count = (state: LedgerEntry['state']): number => entries.filter((entry) => entry.state === state).length;
  const billable = entries.length - count('released');
  const isKnown = task.upstreamId !== undefined && task.lateOutcome !== 'unknown';
  const expected = {
    settled: isKnown && ended === 'completed' ? 1 : 0,
    refunded: isKnown && ended === 'failed' ? 1 : 0,
    reserved: 0,
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
