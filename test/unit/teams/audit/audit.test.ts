import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '#src/engine/store/open.ts';
import type { RecordWrite, Store } from '#src/engine/store/store.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import {
  type Actor,
  type AuditEntry,
  type ChainedEntry,
  type ChainedValue,
  hashOf,
} from '#src/teams/audit/audit-entry.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { RedisServer } from '#test/fakes/redis-server.ts';

const TEAM = { platform: 'slack', team: 'T1' };
const ADA: Actor = { person: { id: 'U1', name: 'Ada' }, surface: 'command' };
const entry = (before: string, after: string): AuditEntry => ({
  action: 'currency',
  before: [{ kind: 'text', text: before }],
  after: [{ kind: 'text', text: after }],
});

interface Opened {
  readonly store: Store;
  readonly close: () => Promise<void>;
}

async function onSqlite(): Promise<Opened> {
  const directory = await mkdtemp(join(tmpdir(), 'dailies-audit-'));
  const store = await openStore(`sqlite:${join(directory, 'd.db')}`, { logger: pino({ level: 'silent' }) });
  const close = async () => {
    await store.close();
    await rm(directory, { recursive: true });
  };
  return { store, close };
}

async function onRedis(): Promise<Opened> {
  const server = await RedisServer.start();
  const store = await openStore(server.url, { logger: pino({ level: 'silent' }) });
  const close = async () => {
    await store.close();
    await server.remove();
  };
  return { store, close };
}

const inMemory = async (): Promise<Opened> => ({ store: new MemoryStore(), close: async () => undefined });

describe.each([
  ['in memory', inMemory],
  ['on SQLite', onSqlite],
  ['on Redis', onRedis],
] as const)('the audit log %s', (_where, open) => {
  let opened: Opened;
  let store: Store;
  let trail: AuditTrail;
  const clock = new ManualClock(1_000);

  beforeEach(async () => {
    opened = await open();
    store = opened.store;
    trail = new AuditTrail(store, clock);
  });

  afterEach(() => opened.close());

  const change = (key: string, value: object): readonly RecordWrite[] => [
    { namespace: 'settings', key, value, expected: 'any' },
  ];
  const append = (actor: Actor, ...entries: readonly AuditEntry[]) =>
    trail.commitAudited(TEAM, actor, async () => ({ change: { records: change('a', { x: 1 }) }, entries, result: 1 }));
  const stored = <Value>(key: string): Promise<Value | undefined> => store.keyv('audit').get<Value>(key);

  it('is empty and intact at first', async () => {
    expect(await trail.page(TEAM, { offset: 0, limit: 10 })).toEqual({ entries: [], total: 0 });
    expect(await trail.verify(TEAM)).toEqual({ ok: true, entries: 0 });
  });

  it('shows who changed what, when, from what to what, and how, newest first', async () => {
    await append(ADA, entry('USD', 'EUR'));
    clock.advance(5);
    await append({ ...ADA, surface: 'button' }, { ...entry('EUR', 'USD'), subject: [{ kind: 'role', role: '7' }] });
    const { entries, total } = await trail.page(TEAM, { offset: 0, limit: 10 });
    expect(total).toBe(2);
    expect(entries).toMatchObject([
      { number: 2, by: ADA.person, surface: 'button', subject: [{ kind: 'role', role: '7' }] },
      { number: 1, by: ADA.person, surface: 'command', subject: [], ...entry('USD', 'EUR') },
    ]);
    expect((entries[0]?.atMs ?? 0) - (entries[1]?.atMs ?? 0)).toBe(5);
    expect((await trail.page(TEAM, { offset: 1, limit: 1 })).entries.map(({ number }) => number)).toEqual([1]);
    expect((await trail.page(TEAM, { offset: 2, limit: 1 })).entries).toEqual([]);
  });

  it('keeps the logs of teams and of the deployment apart', async () => {
    await append(ADA, entry('a', 'b'));
    await trail.commitAudited('deployment', { person: null, surface: 'environment' }, async () => ({
      change: { records: [] },
      entries: [{ ...entry('c', 'd'), action: 'environment' }],
      result: 1,
    }));
    expect((await trail.page('deployment', { offset: 0, limit: 9 })).entries).toMatchObject([{ number: 1, by: null }]);
    expect((await trail.page({ ...TEAM, team: 'T2' }, { offset: 0, limit: 9 })).total).toBe(0);
    expect(await trail.verifyAll()).toEqual([]);
  });

  it('commits a change and its entries together, and nothing without an entry', async () => {
    await append(ADA);
    expect(await store.keyv('settings').get('a')).toBeUndefined();
    await append(ADA, entry('a', 'b'), entry('b', 'c'));
    expect(await store.keyv('settings').get('a')).toEqual({ x: 1 });
    expect(await trail.verify(TEAM)).toEqual({ ok: true, entries: 2 });
  });

  it('writes no entry where the change is not applied, and prepares it again', async () => {
    await store.keyv('settings').set('b', { revision: 1 });
    let expected = 7;
    const result = await trail.commitAudited(TEAM, ADA, async () => {
      const value = { revision: 2 };
      const tried = expected;
      expected = 1;
      const records = [{ namespace: 'settings', key: 'b', value, expected: tried }] as const;
      return { change: { records }, entries: [entry('1', '2')], result: tried };
    });
    expect(result).toBe(1);
    expect(await trail.verify(TEAM)).toEqual({ ok: true, entries: 1 });
  });

  it('has one entry for each of many concurrent changes', async () => {
    const persons = Array.from({ length: 12 }, (_, at) => ({ id: `U${at % 3}`, name: `N${at % 3}` }));
    await Promise.all(persons.map((person, at) => append({ person, surface: 'command' }, entry(`${at}`, `${at + 1}`))));
    expect(await trail.verify(TEAM)).toEqual({ ok: true, entries: 12 });
    const { entries } = await trail.page(TEAM, { offset: 0, limit: 12 });
    expect(new Set(entries.flatMap(({ after }) => JSON.stringify(after))).size).toBe(12);
  });

  it('is intact while it grows during a check', async () => {
    await append(ADA, entry('a', 'b'));
    const records = store.keyv('audit');
    const getMany = records.getMany.bind(records);
    let isGrown = false;
    records.getMany = async (keys: string[]) => {
      if (!isGrown) {
        isGrown = true;
        await append(ADA, entry('b', 'c'), entry('c', 'd'));
      }
      return getMany(keys);
    };
    expect(await new AuditTrail(store, clock).verify(TEAM)).toEqual({ ok: true, entries: 3 });
  });

  const tamperings: readonly (readonly [string, () => Promise<void>, object])[] = [
    [
      'a changed byte',
      async () => {
        const record = (await stored<Record<string, unknown>>('entry:slack:T1#2')) ?? {};
        await store.keyv('audit').set('entry:slack:T1#2', { ...record, after: [{ kind: 'text', text: 'Eur' }] });
      },
      { number: 2, reason: 'changed' },
    ],
    [
      'a changed time',
      async () => {
        const record = (await stored<Record<string, unknown>>('entry:slack:T1#1')) ?? {};
        await store.keyv('audit').set('entry:slack:T1#1', { ...record, atMs: 5 });
      },
      { number: 1, reason: 'changed' },
    ],
    [
      'a removed entry',
      async () => void (await store.keyv('audit').delete('entry:slack:T1#2')),
      { number: 2, reason: 'missing' },
    ],
    [
      'swapped entries',
      async () => {
        const [one, two] = [await stored('entry:slack:T1#1'), await stored('entry:slack:T1#2')];
        await store.keyv('audit').set('entry:slack:T1#1', two);
        await store.keyv('audit').set('entry:slack:T1#2', one);
      },
      { number: 1, reason: 'changed' },
    ],
    [
      'a removed end',
      async () => {
        await store.keyv('audit').delete('entry:slack:T1#3');
        const record = (await stored<{ readonly hash: string }>('entry:slack:T1#2'))?.hash ?? '';
        await store.keyv('audit').set('head:slack:T1', { revision: 9, entries: 2, hash: record });
        await store.keyv('audit').set('entry:slack:T1#3', { forged: true });
      },
      { number: 3, reason: 'changed' },
    ],
    [
      'another person behind an id',
      async () => {
        const { id } = (await stored<{ readonly id: string }>('person:slack:T1:U1')) ?? { id: '' };
        const record = (await stored<Record<string, unknown>>(`reference:slack:T1:${id}`)) ?? {};
        const forged = { ...record, person: { id: 'U9', name: 'Eve' } };
        await store.keyv('audit').set(`reference:slack:T1:${id}`, forged);
      },
      { number: 1, reason: 'changed' },
    ],
    [
      'another note behind an id',
      async () => {
        const { after = [] } = (await stored<ChainedEntry>('entry:slack:T1#3')) ?? {};
        const [{ id = '' } = {}] = after as readonly { readonly id?: string }[];
        const record = (await stored<Record<string, unknown>>(`reference:slack:T1:${id}`)) ?? {};
        await store.keyv('audit').set(`reference:slack:T1:${id}`, { ...record, text: 'she agreed' });
      },
      { number: 3, reason: 'changed' },
    ],
    [
      'a removed head',
      async () => void (await store.keyv('audit').delete('head:slack:T1')),
      { number: 1, reason: 'changed' },
    ],
  ];

  it.each(tamperings)('finds %s', async (_what, tamper, found) => {
    const noted = { ...entry('GBP', 'USD'), after: [{ kind: 'note', text: 'she refused' } as const] };
    await append(ADA, entry('USD', 'EUR'), entry('EUR', 'GBP'), noted);
    await tamper();
    expect(await trail.verify(TEAM)).toEqual({ ok: false, ...found });
    expect(await trail.verifyAll()).toEqual([{ log: 'slack:T1', result: { ok: false, ...found } }]);
  });

  it('is missed by a head that was noted before, once its end is cut off or it is deleted', async () => {
    await append(ADA, entry('USD', 'EUR'), entry('EUR', 'GBP'));
    const [noted] = await trail.heads();
    expect(noted).toEqual({ log: 'slack:T1', entries: 2, hash: expect.any(String) });
    await append(ADA, entry('GBP', 'USD'));
    expect(await trail.hasEntry(noted?.hash ?? '')).toBe(true);
    const [last] = (await trail.heads()).map(({ hash }) => hash);
    await store.keyv('audit').delete('entry:slack:T1#2');
    const { hash } = (await stored<ChainedEntry>('entry:slack:T1#1')) ?? { hash: '' };
    await store.keyv('audit').set('head:slack:T1', { revision: 9, entries: 1, hash });
    expect(await trail.verifyAll()).toEqual([]);
    expect(await trail.hasEntry(noted?.hash ?? '')).toBe(false);
    // The last entry is still there, and nothing leads to it.
    expect(await trail.hasEntry(last ?? '')).toBe(false);
    const orphan = (await stored<ChainedEntry>('entry:slack:T1#3')) ?? {};
    await store.keyv('audit').set('entry:slack:T1#3', { ...orphan, number: 1 });
    expect(await trail.hasEntry(last ?? '')).toBe(false);
  });

  it('chains persons and notes by random ids alone, so that they can be erased', async () => {
    const note = { kind: 'note', text: 'Ben overdid it' } as const;
    const ben = { kind: 'person', person: { id: 'U2', name: 'Ben' } } as const;
    await append(ADA, { action: 'pause', subject: [ben], before: [], after: [note] });
    const chained = JSON.stringify(await stored('entry:slack:T1#1'));
    for (const word of ['U1', 'Ada', 'U2', 'Ben']) expect(chained).not.toContain(word);
    for await (const page of store.contents.records('audit'))
      for (const { key } of page) if (/^(?:reference|person):/u.test(key)) await store.keyv('audit').delete(key);
    expect(await trail.verify(TEAM)).toEqual({ ok: true, entries: 1 });
    const erased = { kind: 'erased' };
    expect((await trail.page(TEAM, { offset: 0, limit: 1 })).entries).toMatchObject([
      { by: 'erased', subject: [erased], after: [erased] },
    ]);
  });

  it('erases a person from the log of the deployment: as actor, as subject and in notes, and no one else', async () => {
    const [eve, ben] = [
      { id: 'U7', name: 'Eve' },
      { id: 'U2', name: 'Ben' },
    ];
    const note = (text: string) => ({ kind: 'note', text }) as const;
    const logged = (actor: Actor, made: AuditEntry) =>
      trail.commitAudited('deployment', actor, async () => ({
        change: { records: [] },
        entries: [made],
        result: undefined,
      }));
    await logged({ person: eve, surface: 'command' }, { action: 'pause', before: [], after: [note('over budget')] });
    await logged(
      { person: ben, surface: 'command' },
      { action: 'budget', subject: [{ kind: 'person', person: eve }], before: [], after: [note('hers')] },
    );
    await logged(
      { person: null, surface: 'environment' },
      { action: 'environment', before: [note('slack:U7')], after: [note('slack:U77')] },
    );
    for (let time = 0; time < 2; time += 1) await trail.erase('deployment', eve);
    const all = (await Array.fromAsync(store.contents.records('audit'))).flat();
    expect(JSON.stringify(all)).not.toMatch(/U7\b|Eve|over budget/);
    expect(await trail.verify('deployment')).toEqual({ ok: true, entries: 3 });
    const { entries } = await trail.page('deployment', { offset: 0, limit: 3 });
    const erased = { kind: 'erased' };
    expect(entries).toMatchObject([
      { before: [erased], after: [note('slack:U77')] },
      { by: ben, subject: [erased], after: [note('hers')] },
      { by: 'erased', after: [erased] },
    ]);
  });

  it('shows a person by the name of their latest change', async () => {
    await append(ADA, entry('a', 'b'));
    await append({ person: { id: 'U1', name: 'Ada L.' }, surface: 'command' }, entry('b', 'c'));
    const { entries } = await trail.page(TEAM, { offset: 0, limit: 2 });
    expect(entries.map(({ by }) => by)).toEqual([
      { id: 'U1', name: 'Ada L.' },
      { id: 'U1', name: 'Ada L.' },
    ]);
  });
});

it.each<readonly [ChainedValue, ChainedValue]>([
  [
    { kind: 'text', text: 'a' },
    { kind: 'text', text: 'b' },
  ],
  [
    { kind: 'price', price: { amount: '1', currency: 'USD' } },
    { kind: 'price', price: { amount: '2', currency: 'USD' } },
  ],
  [
    { kind: 'price', price: { amount: '1', currency: 'USD' } },
    { kind: 'price', price: { amount: '1', currency: 'EUR' } },
  ],
  [
    { kind: 'channel', channel: 'C1' },
    { kind: 'channel', channel: 'C2' },
  ],
  [
    { kind: 'role', role: 'R1' },
    { kind: 'role', role: 'R2' },
  ],
  [
    { kind: 'time', atMs: 1 },
    { kind: 'time', atMs: 2 },
  ],
  [
    { kind: 'task', task: 't1' },
    { kind: 'task', task: 't2' },
  ],
  [
    { kind: 'person', id: '1' },
    { kind: 'person', id: '2' },
  ],
  [
    { kind: 'person', id: '1' },
    { kind: 'note', id: '1' },
  ],
])('the hash of an entry tells %j from %j, wherever it is', (one, other) => {
  const facts = { number: 1, atMs: 1, action: 'approval', by: null, surface: 'button' } as const;
  const places = ['subject', 'before', 'after'] as const;
  const hashes = [one, other].flatMap((value) =>
    places.map((place) => hashOf('', { ...facts, subject: [], before: [], after: [], [place]: [value] })),
  );
  expect(new Set(hashes).size).toBe(6);
});
