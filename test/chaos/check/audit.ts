import type { Task } from '#src/tasks/task.ts';
import { type AuditValue, type ChainedEntry, hashOf } from '#src/teams/audit/audit-entry.ts';
import type { Kept, Violation } from '../history.ts';

/** Entry of a *Send again*; the task does not say who pressed it. */
const AGAIN = 'sent again';

/**
 * Checks that the audit logs are unbroken, and hold one entry for each decision on a request and each *Send again*, and
 * no other.
 */
export function checkAudit({ store }: { readonly store: Pick<Kept, 'tasks' | 'audit'> }): readonly Violation[] {
  const { tasks, audit } = store;
  const decided = Map.groupBy(entriesIn(audit).flatMap(decisionIn), ({ task }) => task);
  const written = [...tasks.values()].flatMap((task) => {
    const wanted = decisionsOn(task);
    const found = (decided.get(task.id) ?? []).map(({ log, entry }) =>
      textOf(entry) === AGAIN ? AGAIN : `${textOf(entry)} by ${personOf(audit, log, entry)}`,
    );
    if (wanted.join() === found.join()) return [];
    const what = `task ${task.id} (${task.state}): ${found.join(', ') || 'nothing'}, not ${wanted.join(', ') || 'nothing'}`;
    return [{ name: 'decision logged wrongly', what }];
  });
  return [...brokenChains(audit), ...written];
}

interface Logged {
  readonly log: string;
  readonly entry: ChainedEntry;
}

/** Returns the entries of every log, each log in its order. */
function entriesIn(audit: Kept['audit']): readonly Logged[] {
  return [...audit]
    .flatMap(([key, entry]) => {
      const log = /^entry:(.+)#\d+$/s.exec(key)?.[1];
      return log === undefined ? [] : [{ log, entry: entry as ChainedEntry }];
    })
    .toSorted((one, other) => one.entry.number - other.entry.number);
}

function decisionIn(logged: Logged): readonly (Logged & { readonly task: string })[] {
  const { action, subject } = logged.entry;
  if (action !== 'approval' && textOf(logged.entry) !== AGAIN) return [];
  return subject.flatMap((value) => (value.kind === 'task' ? [{ ...logged, task: value.task }] : []));
}

/** Returns the decisions that a log has to hold: an expiry and a withdrawal are none. */
function decisionsOn({ approval, declined, money, set }: Task): readonly string[] {
  // A set is decided on once: the entry names its first task.
  const isNamed = set === undefined || set.at === 1;
  const approver = isNamed ? approval?.approved?.by.id : undefined;
  const isLogged = isNamed && (declined?.how === 'denied' || declined?.how === 'repriced');
  return [
    ...(approver === undefined ? [] : [`approved by ${approver}`]),
    ...(isLogged ? [`${declined.how} by ${declined.by?.id}`] : []),
    ...(money?.sends.slice(1) ?? []).map(() => AGAIN),
  ];
}

function textOf({ after }: ChainedEntry): string {
  const [first] = after;
  return first?.kind === 'text' ? first.text : '?';
}

function personOf(audit: Kept['audit'], log: string, { by }: ChainedEntry): string | undefined {
  const value = audit.get(`reference:${log}:${by}`) as AuditValue | undefined;
  return value?.kind === 'person' ? value.person.id : undefined;
}

/** Checks every log from its first entry to its head. */
function brokenChains(audit: Kept['audit']): readonly Violation[] {
  const logs = Map.groupBy(entriesIn(audit), ({ log }) => log);
  const heads = [...audit.keys()].flatMap((key) => (key.startsWith('head:') ? [key.slice('head:'.length)] : []));
  return [...new Set([...logs.keys(), ...heads])].flatMap((log) => {
    const entries = (logs.get(log) ?? []).map(({ entry }) => entry);
    const head = audit.get(`head:${log}`) as { readonly entries: number; readonly hash: string } | undefined;
    let end = '';
    const broken = entries.find((entry, at) => {
      end = hashOf(end, entry);
      return entry.number !== at + 1 || entry.hash !== end;
    });
    if (broken === undefined && head?.entries === entries.length && head.hash === end) return [];
    const where =
      broken === undefined ? `its head (${head?.entries} entries, ${entries.length} there)` : `entry ${broken.number}`;
    return [{ name: 'broken audit log', what: `${log}, at ${where}` }];
  });
}
