import '#src/app.ts';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ComparisonRecords } from '#src/chat/comparisons/comparison-records.ts';
import { Subscriptions } from '#src/chat/subscriptions.ts';
import { createMoney, type Money } from '#src/money/money.ts';
import { writeSpendCsv } from '#src/money/reports/spend-csv.ts';
import { createPersonExport, type PersonExportOptions } from '#src/people/person-export.ts';
import { Drafts } from '#src/pipeline/drafts.ts';
import { toChange } from '#src/tasks/indexes.ts';
import { recount } from '#src/tasks/recount.ts';
import type { Person, Task, TaskId } from '#src/tasks/task.ts';
import { PersonalDefaults } from '#src/teams/personal-defaults.ts';
import { References } from '#src/teams/references.ts';
import { KEPT_ORIGIN } from '#src/videos/references/addresses.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { ADA, BOB, EVENTS, lived, NOON_MS, newTask, originOf } from '#test/fakes/tasks.ts';

const TEAM = { platform: 'fake', team: 'T1' };
const LINKS: PersonExportOptions['links'] = {
  sign: (id) => ({ url: `https://dailies.example/media/${id}?signature=s`, expiresAtMs: NOON_MS + 1_000 }),
};

let directory: string;
let store: MemoryStore;
let money: Money;
const clock = new ManualClock(NOON_MS);

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dailies-export-'));
  store = new MemoryStore();
  money = createMoney({ store, clock });
});

afterEach(() => rm(directory, { recursive: true }));

function finished(changes: Partial<Task>): Task {
  const id = (changes.id ?? 'clip') as TaskId;
  const { send, accepted, completed, fetched } = EVENTS;
  return recount(lived(newTask({ ...changes, id }), send, accepted, completed, fetched));
}

async function put(changes: Partial<Task>): Promise<void> {
  await store.commit(toChange(null, finished(changes)));
}

type Line = Readonly<Record<string, unknown>> & { readonly record: string };

async function linesOf(user = ADA.id, links = LINKS): Promise<readonly Line[]> {
  const path = join(directory, 'export.jsonl');
  await createPersonExport({ store, links, ...money })({ ...TEAM, user }, path);
  const text = await readFile(path, 'utf8');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]));
}

/** The order of the lines follows from that in which modules are loaded. */
const byRecord = (one: Line, other: Line): number =>
  one.record === other.record ? 0 : one.record < other.record ? -1 : 1;

describe('the export of a person', () => {
  it('names the set that a clip was ordered in', async () => {
    const id = 'first' as TaskId;
    await put({ id, set: { id, kind: 'takes', at: 1, of: 4 } });
    expect((await linesOf())[0]).toMatchObject({ set: { id, kind: 'takes', number: 1, of: 4 } });
  });

  it('has their vote by its label, and neither here nor in the CSV what leads to the model of a blind clip', async () => {
    const id = 'first' as TaskId;
    const set = { id, kind: 'comparison', at: 1, of: 2, upTo: { amount: '0.77', currency: 'USD' } } as const;
    const { request } = newTask();
    await put({ id, set, request: { ...request, prompt: 'a fox, on film', typed: 'a fox', style: 'film' } });
    const records = new ComparisonRecords(store, clock);
    await records.show(set, TEAM);
    await records.vote(id, BOB.id, 2);
    const [line] = await linesOf();
    expect(line).toMatchObject({
      record: 'clip',
      id,
      hiddenUntilReveal: true,
      request: { typed: 'a fox', style: 'film' },
    });
    expect(JSON.stringify(line)).not.toMatch(/swift-1|0\.30|0\.77|up:/u);
    expect(await linesOf(BOB.id)).toEqual([{ record: 'vote', comparison: id, label: 'B' }]);
    const path = join(directory, 'spend.csv');
    await writeSpendCsv(store, { ...TEAM, month: '2026-11' }, path);
    const rows = (await readFile(path, 'utf8')).trim().split('\r\n').slice(1);
    expect(rows).toEqual([expect.stringContaining(',0.3')]);
    expect(rows[0]).not.toMatch(/first|up:/u);
  });

  it('has the defaults of their orders', async () => {
    await new PersonalDefaults(store).change({ ...TEAM, user: ADA.id }, { seconds: 6 });
    expect(await linesOf()).toEqual([{ record: 'defaults', seconds: 6 }]);
    expect(await linesOf(BOB.id)).toEqual([]);
  });

  it('has their own clips with prompt, price and a signed link', async () => {
    await put({ id: 'hers' as TaskId });
    await put({ id: 'his' as TaskId, origin: originOf({ user: BOB }) });
    expect(await linesOf()).toMatchObject([
      {
        record: 'clip',
        id: 'hers',
        requester: ADA,
        request: { prompt: 'a red fox running through snow' },
        sends: [{ send: 1, month: '2026-11', amount: '0.30', currency: 'USD', state: 'settled' }],
        link: 'https://dailies.example/media/hers?signature=s',
      },
    ]);
    expect((await linesOf(ADA.id, null))[0]).not.toHaveProperty('link');
  });

  it('names images that only this bot has, where their addresses lead nowhere', async () => {
    const { request } = newTask();
    const kept = ['relay-0f', 'frame-first'].map((id) => `${KEPT_ORIGIN}/media/${id}?expires=1&signature=s`);
    const media = { ...request.media, image: [...kept, 'https://a.test/1.png'] };
    const prompt = `${KEPT_ORIGIN} and ${KEPT_ORIGIN}/ a fox`;
    await put({ request: { ...request, prompt, media } });
    await new References(store, clock).add(TEAM, { name: 'mug', url: kept[0] ?? '', by: ADA });
    const named = ['kept by this bot as relay-0f', 'kept by this bot as frame-first'];
    expect((await linesOf()).toSorted(byRecord)).toMatchObject([
      { record: 'clip', request: { prompt, media: { image: [...named, 'https://a.test/1.png'] } } },
      { record: 'library', name: 'mug', url: named[0] },
    ]);
  });

  it('has no token of an interaction and no path of this machine', async () => {
    await put({ origin: originOf({ address: { token: 'a-secret-token' } }) });
    const text = JSON.stringify(await linesOf());
    expect(text).not.toContain('a-secret-token');
    expect(text).not.toContain('/clips/');
  });

  it('has what they decided as a reviewer, and what others did about their clips, without names', async () => {
    const note = { text: 'too dark', atSeconds: 3 };
    await put({ id: 'hers' as TaskId });
    const before = (await store.keyv('tasks').get<Task>('hers')) as Task;
    const decision = { kind: 'changes_requested', by: BOB, atMs: NOON_MS, note } as const;
    await store.commit(toChange(before, lived(before, { kind: 'review', after: 0, decision })));
    expect(await linesOf(BOB.id)).toEqual([
      { record: 'review', clip: 'hers', decision: 'changes_requested', ...note, at: '2026-11-21T12:00:00.000Z' },
    ]);
    const [hers] = await linesOf();
    expect(hers).toMatchObject({ reviews: [{ decision: 'changes_requested', ...note }] });
    expect(JSON.stringify(hers)).not.toContain(BOB.name);
  });

  it('has what they decided as an approver or by a button, with their reasons', async () => {
    const denied = { how: 'denied', by: BOB, reason: 'too dear', atMs: NOON_MS } as const;
    const approval = { above: null, askedOf: [], isPromptShown: false, requestedAtMs: 0, expiresAtMs: 0 };
    const approved = { ...approval, approved: { by: BOB, atMs: NOON_MS } };
    const at = '2026-11-21T12:00:00.000Z';
    for (const [id, changes] of Object.entries({
      a: { declined: denied },
      b: { approval: approved },
      c: { cancelledBy: BOB },
      d: { leftBy: BOB },
      e: { declined: { ...denied, by: ADA }, cancelledBy: ADA, leftBy: ADA },
    }))
      await store.commit(toChange(null, { ...finished({ id: id as TaskId }), ...changes }));
    expect(await linesOf(BOB.id)).toEqual([
      { record: 'decision', clip: 'a', decision: 'denied', reason: 'too dear', at },
      { record: 'decision', clip: 'b', decision: 'approved', at },
      { record: 'decision', clip: 'c', decision: 'cancelled' },
      { record: 'decision', clip: 'd', decision: 'dismissed' },
    ]);
  });

  it('has their entries in the audit log, without the names of others', async () => {
    const by = (person: Person) => ({ person, surface: 'command' }) as const;
    const scope = { kind: 'person', ...TEAM, person: ADA } as const;
    await money.budgets.change(scope, by(BOB), { part: 'hard', currency: 'USD', amount: 5_000_000n });
    await money.settings.change(TEAM, by(ADA), { timeZone: 'Asia/Kathmandu' });
    const lines = await linesOf(BOB.id);
    expect(lines).toMatchObject([{ record: 'audit', action: 'budget', about: [] }]);
    expect(JSON.stringify(lines)).not.toContain(ADA.name);
  });

  it('has a clip that was removed, as far as it is still known', async () => {
    await put({});
    const task = (await store.keyv('tasks').get<Task>('clip')) as Task;
    const removed = recount(lived(lived(task, { ...EVENTS.presented, revision: task.revision }), EVENTS.remove));
    await store.commit(toChange(task, { ...removed, revision: task.revision + 1 }));
    expect(await linesOf()).toMatchObject([{ id: 'clip', removed: { reason: 'expired' }, request: { prompt: '' } }]);
  });

  it('has nothing of another team, where they have the same id, and nothing of others', async () => {
    const other = { platform: TEAM.platform, team: 'T2' };
    const theirs = finished({ id: 'theirs' as TaskId, origin: originOf({ team: 'T2' }) });
    const decision = { kind: 'signed_off', by: ADA, atMs: NOON_MS } as const;
    await store.commit(toChange(null, lived(theirs, { kind: 'review', after: 0, decision })));
    const comparisons = new ComparisonRecords(store, clock);
    await comparisons.show({ id: 'compared' as TaskId, kind: 'comparison', at: 1, of: 2 }, other);
    await comparisons.vote('compared' as TaskId, ADA.id, 2);
    const references = new References(store, clock);
    await references.add(other, { name: 'mug', url: 'https://a.test/mug.png', by: ADA });
    await references.add(TEAM, { name: 'cup', url: 'https://a.test/cup.png', by: BOB });
    const draft = { ...other, channel: 'clips', by: ADA, request: { prompt: 'a fox' } };
    await new Drafts(store, clock).save({ ...draft, id: 'draft' as TaskId, key: 'fake:draft' });
    const cut = { revision: 1, tasks: ['a'], requestedAtMs: NOON_MS, state: 'joining', presented: false };
    await store.keyv('cuts').set('cut-1', { ...cut, id: 'cut-1', origin: originOf({ team: 'T2' }) });
    await new PersonalDefaults(store).change({ ...other, user: ADA.id }, { seconds: 6 });
    expect(await linesOf()).toEqual([]);
  });

  it('has the cuts that they asked for, without the token of the interaction', async () => {
    const cut = { revision: 1, tasks: ['a', 'b'], requestedAtMs: NOON_MS, state: 'joining', presented: false };
    const origin = originOf({ address: { token: 'a-secret-token' } });
    await store.keyv('cuts').set('cut-1', { ...cut, id: 'cut-1', origin });
    await store.keyv('cuts').set('cut-2', { ...cut, id: 'cut-2', origin: { ...origin, user: BOB } });
    const lines = await linesOf();
    expect(lines).toMatchObject([{ record: 'cut', id: 'cut-1', clips: ['a', 'b'], channel: 'clips' }]);
    expect(JSON.stringify(lines)).not.toContain('a-secret-token');
  });

  it('has everything else that names them', async () => {
    const subscriptions = new Subscriptions(store);
    await subscriptions.add({ ...TEAM, channel: 'clips', who: ADA, by: BOB });
    await subscriptions.add({ ...TEAM, channel: 'dm-bob', from: 'clips', who: 'everyone', by: BOB });
    const actor = { person: BOB, surface: 'command' } as const;
    await money.approvers.add(TEAM, actor, { kind: 'person', ...ADA });
    const scope = { kind: 'person', ...TEAM, person: ADA } as const;
    await money.budgets.change(scope, actor, { part: 'hard', currency: 'USD', amount: 5_000_000n });
    await money.settings.change(TEAM, { ...actor, person: ADA }, { pause: { reason: 'rest', by: ADA, atMs: NOON_MS } });
    const named = [{ kind: 'person', ...ADA } as const];
    const policy = { team: { create: named, words: [ADA.id] }, channels: { clips: { decide: named, review: [] } } };
    await money.settings.change(TEAM, { ...actor, person: BOB }, { policy });
    await new References(store, clock).add(TEAM, { name: 'mug', url: 'https://a.test/mug.png', by: ADA });
    const request = { prompt: 'a fox that is not ordered yet' };
    await new Drafts(store, clock).save({
      ...TEAM,
      id: 'draft' as TaskId,
      key: 'fake:i9',
      channel: 'clips',
      by: ADA,
      request,
    });
    expect((await linesOf()).toSorted(byRecord)).toMatchObject([
      { record: 'approver', name: ADA.name },
      { record: 'audit', action: 'pause', to: [{ text: 'paused' }, { text: 'rest' }] },
      { record: 'budget', hard: { USD: '5' } },
      { record: 'draft', request },
      { record: 'library', name: 'mug', url: 'https://a.test/mug.png' },
      { record: 'pause', reason: 'rest' },
      { record: 'policy', rule: 'create', channel: null },
      { record: 'policy', rule: 'decide', channel: 'clips' },
      { record: 'subscription', channel: 'clips', who: ADA, isYours: false },
    ]);
    expect(await linesOf('carol')).toEqual([]);
  });

  it('reads many clips in pages of 200', async () => {
    const made = Array.from({ length: 2_000 }, (_, at) => `clip-${at}`);
    const changes = made.map((id) => toChange(null, finished({ id: id as TaskId })));
    await store.commit({
      records: changes.flatMap(({ records }) => records),
      index: changes.flatMap(({ index = [] }) => index),
    });
    let largest = 0;
    const tasks = store.keyv('tasks');
    const getMany = tasks.getMany.bind(tasks);
    Object.assign(tasks, {
      getMany: (keys: string[]) => {
        largest = Math.max(largest, keys.length);
        return getMany(keys);
      },
    });
    expect(await linesOf()).toHaveLength(2_000);
    expect(largest).toBeLessThanOrEqual(200);
  });
});
