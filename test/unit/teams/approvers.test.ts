import { expect, it } from 'vitest';
import { Approvers, approversFor, whoDecides } from '#src/teams/approvers.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { ADA, BOB, NOON_MS } from '#test/fakes/tasks.ts';

const TEAM = { platform: 'fake', team: 'T1' };
const actor = { person: ADA, surface: 'command' } as const;
const ben = { kind: 'person', ...BOB } as const;
const leads = { kind: 'role', id: '99', name: '@leads' } as const;
const DAY_MS = 86_400_000;

function house() {
  const [store, clock] = [new MemoryStore(), new ManualClock(NOON_MS)];
  const audit = new AuditTrail(store, clock);
  const open = () => new Approvers({ store, audit, clock });
  return { clock, audit, approvers: open(), other: open() };
}

it('adds and removes people and groups, each with one entry in the audit log', async () => {
  const { approvers, audit, other } = house();
  expect(await approvers.add(TEAM, actor, ben)).toBe(true);
  expect(await other.add(TEAM, actor, leads, NOON_MS + DAY_MS)).toBe(true);
  expect(await approvers.list(TEAM)).toEqual([
    { ...ben, by: ADA },
    { ...leads, by: ADA, untilMs: NOON_MS + DAY_MS },
  ]);
  expect(await other.remove(TEAM, actor, { kind: 'person', id: BOB.id })).toBe(true);
  const { entries } = await audit.page(TEAM, { offset: 0, limit: 10 });
  expect(entries.map(({ action, before, after }) => ({ action, before, after }))).toEqual([
    { action: 'approver', before: [{ kind: 'person', person: BOB }], after: [] },
    {
      action: 'approver',
      before: [],
      after: [
        { kind: 'role', role: '99' },
        { kind: 'time', atMs: NOON_MS + DAY_MS },
      ],
    },
    { action: 'approver', before: [], after: [{ kind: 'person', person: BOB }] },
  ]);
  expect(await audit.verify(TEAM)).toMatchObject({ ok: true, entries: 3 });
});

it('changes and logs nothing where nothing differs', async () => {
  const { approvers, audit } = house();
  await approvers.add(TEAM, actor, ben);
  expect(await approvers.add(TEAM, actor, { ...ben, name: 'Benjamin' })).toBe(false);
  expect(await approvers.remove(TEAM, actor, leads)).toBe(false);
  expect((await audit.page(TEAM, { offset: 0, limit: 10 })).total).toBe(1);
});

it('ends a deputy’s rights at the time, without a change of the record', async () => {
  const { approvers, clock } = house();
  await approvers.add(TEAM, actor, ben, NOON_MS + DAY_MS);
  clock.advance(DAY_MS - 1);
  expect(await approvers.list(TEAM)).toHaveLength(1);
  clock.advance(1);
  expect(await approvers.list(TEAM)).toEqual([]);
  expect(await approvers.add(TEAM, actor, ben)).toBe(true);
  expect(await approvers.list(TEAM)).toEqual([{ ...ben, by: ADA }]);
});

it('keeps the changes of two replicas at once, and teams apart', async () => {
  const { approvers, other } = house();
  await Promise.all([approvers.add(TEAM, actor, ben), other.add(TEAM, actor, leads)]);
  expect((await approvers.list(TEAM)).map(({ id }) => id).toSorted()).toEqual(['99', 'bob']);
  expect(await approvers.list({ ...TEAM, team: 'T2' })).toEqual([]);
});

it('asks nobody to approve their own clip: without anyone else, administrators', async () => {
  const { approvers } = house();
  await approvers.add(TEAM, actor, ben);
  const all = await approvers.list(TEAM);
  expect(approversFor(all, ADA.id)).toEqual([ben]);
  expect(approversFor(all, BOB.id)).toEqual([]);
});

it('decide as long as one of them is in the team; roles stay', async () => {
  const isMember =
    (...there: readonly string[]) =>
    async (user: string) =>
      there.includes(user);
  const cleo = { kind: 'person', id: 'cleo', name: 'Cleo' } as const;
  expect(await whoDecides([ben, cleo], isMember('bob', 'cleo'))).toEqual([ben, cleo]);
  expect(await whoDecides([ben, cleo], isMember('cleo'))).toEqual([cleo]);
  expect(await whoDecides([ben, leads], isMember())).toEqual([leads]);
  expect(await whoDecides([ben, cleo], isMember())).toEqual([]);
  await expect(whoDecides([ben], () => Promise.reject(new Error('away')))).rejects.toThrow('away');
});
