import { expect, test } from 'vitest';
import type { Task } from '#src/tasks/task.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import type { AuditEntry } from '#src/teams/audit/audit-entry.ts';
import { ManualClock } from '../../fakes/manual-clock.ts';
import { MemoryStore } from '../../fakes/memory-store.ts';
import { ADA, BOB, EVENTS, lived, NOON_MS, requestedTask } from '../../fakes/tasks.ts';
import { checkAudit } from './audit.ts';

const REQUESTED = requestedTask();
const APPROVED = lived(REQUESTED, EVENTS.approve);
const AGAIN = lived(APPROVED, EVENTS.send, EVENTS.lost, EVENTS.resubmit);
const DENIED = lived(REQUESTED, EVENTS.decline);
const EXPIRED = lived(REQUESTED, { kind: 'decline', how: 'expired', atMs: NOON_MS + 24 * 3_600_000 });

/** The log of these decisions, by Bob, after a change of a setting. */
async function logOf(...decisions: readonly string[]): Promise<Map<string, unknown>> {
  const store = new MemoryStore();
  const trail = new AuditTrail(store, new ManualClock(NOON_MS));
  const team = { platform: 'fake', team: 'T1' };
  const zone: AuditEntry = { action: 'time_zone', before: [], after: [{ kind: 'text', text: 'UTC' }] };
  const entries = decisions.map(
    (text): AuditEntry => ({
      action: text === 'sent again' ? 'unconfirmed' : 'approval',
      subject: [
        { kind: 'task', task: REQUESTED.id },
        { kind: 'person', person: ADA },
      ],
      before: [],
      after: [{ kind: 'text', text }],
    }),
  );
  await trail.commitAudited(team, { person: BOB, surface: 'button' }, async () => ({
    change: { records: [] },
    entries: [zone, ...entries],
    result: null,
  }));
  const audit = new Map<string, unknown>();
  for await (const page of store.contents.records('audit')) for (const { key, value } of page) audit.set(key, value);
  return audit;
}

const namesOf = (task: Task, audit: ReadonlyMap<string, unknown>): readonly string[] => [
  ...new Set(checkAudit({ store: { tasks: new Map([[task.id, task]]), audit } }).map(({ name }) => name)),
];

test('one entry by the person who decided is no violation, and none for what nobody decided', async () => {
  expect(namesOf(APPROVED, await logOf('approved'))).toEqual([]);
  expect(namesOf(DENIED, await logOf('denied'))).toEqual([]);
  expect(namesOf(EXPIRED, await logOf())).toEqual([]);
  expect(namesOf(AGAIN, await logOf('approved', 'sent again'))).toEqual([]);
  expect(namesOf(REQUESTED, new Map())).toEqual([]);
});

test.each<readonly [Task, readonly string[]]>([
  [APPROVED, []],
  [APPROVED, ['approved', 'approved']],
  [APPROVED, ['approved', 'denied']],
  [DENIED, ['approved']],
  [EXPIRED, ['denied']],
  [REQUESTED, ['approved']],
  [AGAIN, ['approved']],
  [APPROVED, ['approved', 'sent again']],
  [lived(REQUESTED, { ...EVENTS.decline, by: ADA }), ['denied']],
])('reports decisions that are logged wrongly', async (task, decisions) => {
  expect(namesOf(task, await logOf(...decisions))).toEqual(['decision logged wrongly']);
});

test('reports a log with a changed, missing or additional entry', async () => {
  const broken = ['broken audit log'];
  const changed = await logOf('approved');
  changed.set('entry:fake:T1#1', { ...(changed.get('entry:fake:T1#1') as object), atMs: 1 });
  expect(namesOf(APPROVED, changed)).toEqual(broken);
  for (const key of ['entry:fake:T1#1', 'head:fake:T1']) {
    const missing = await logOf('approved');
    missing.delete(key);
    expect(namesOf(APPROVED, missing)).toEqual(broken);
  }
  const cut = await logOf('approved');
  cut.set('head:fake:T1', { ...(cut.get('head:fake:T1') as object), entries: 1 });
  expect(namesOf(APPROVED, cut)).toEqual(broken);
});
