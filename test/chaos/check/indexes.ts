import { ledgerOf } from '#src/tasks/indexes.ts';
import type { LedgerEntry } from '#src/tasks/ledger.ts';
import { isContentRemoved } from '#src/tasks/removal.ts';
import { isEnded } from '#src/tasks/state-machine.ts';
import type { Task } from '#src/tasks/task.ts';
import type { History, Kept, Violation } from '../history.ts';

const OURS = /^(history|history-in|shared|open|open-in|state|outbox|removals|spend)(:|$)/;

/** Checks that the indexes match the records. */
export function checkIndexes({ store }: History): readonly Violation[] {
  const wanted = indexesOf(store);
  const names = [...new Set([...wanted.keys(), ...store.indexes.keys()])].filter((name) => OURS.test(name));
  return names.flatMap((name) => {
    const is = store.indexes.get(name) ?? new Map<string, number>();
    const shouldBe = wanted.get(name) ?? new Map<string, number>();
    const wrong = (what: string) => ({ name: 'index that disagrees with its records', what: `${name}: ${what}` });
    return [
      ...[...is.keys()].filter((member) => !shouldBe.has(member)).map((member) => wrong(`${member} is too much`)),
      ...[...shouldBe]
        // The score in the outbox is the time of the end, the create or a later insertion, so only members count.
        .filter(([member, score]) => (name === 'outbox' ? !is.has(member) : is.get(member) !== score))
        .map(([member, score]) => wrong(`${member} is at ${is.get(member) ?? 'no place'}, not ${score}`)),
    ];
  });
}

function indexesOf({ tasks, ledger }: Kept): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const indexes = new Map<string, Map<string, number>>();
  const add = (name: string, member: string, score: number): void => {
    indexes.set(name, (indexes.get(name) ?? new Map<string, number>()).set(member, score));
  };
  for (const task of tasks.values()) for (const name of namesOf(task)) add(name, task.id, scoreOf(name, task));
  for (const [key, entry] of ledger) add(spendOf(entry), key, entry.createdAtMs);
  return indexes;
}

/** In the index of its state, a task is as old as its acceptance by the service, else its approval; in the others, as its order. */
function scoreOf(name: string, { accepted, approval, createdAtMs }: Task): number {
  return name.startsWith('state:') ? (accepted?.atMs ?? approval?.approved?.atMs ?? createdAtMs) : createdAtMs;
}

function namesOf(task: Task): readonly string[] {
  const { platform, team, channel, user } = task.origin;
  const scopes = [`${platform}:${team}`, `${platform}:${team}:${user.id}`];
  // One that was deleted is found by its entries in the ledger; where it has none, in its requester's history.
  if (isContentRemoved(task)) return ledgerOf(task).length === 0 ? [`history:${scopes[1]}`] : [];
  return [
    ...scopes.map((scope) => `history:${scope}`),
    ...(task.origin.audience === 'team' ? [`shared:${platform}:${team}`] : []),
    `history-in:${platform}:${team}:${channel}`,
    ...(isEnded(task) ? [] : [...scopes.map((scope) => `open:${scope}`), `state:${task.state}`]),
    ...(isEnded(task) ? [] : [`open-in:${platform}:${team}:${channel}`]),
    ...(task.presented ? [] : ['outbox']),
  ];
}

function spendOf({ platform, team, period, createdAtMs }: LedgerEntry): string {
  return `spend:${platform}:${team}:${period ?? new Date(createdAtMs).toISOString().slice(0, 7)}`;
}
