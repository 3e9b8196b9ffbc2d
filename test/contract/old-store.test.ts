import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pino } from 'pino';
import { describe, type TestContext, test } from 'vitest';
import { createSubscriptions } from '#src/chat/subscriptions.ts';
import { openStore } from '#src/store/open.ts';
import type { NAMESPACES, Store, StoredRecord, SumParts } from '#src/store/store.ts';
import { addParts, ZERO_SUM } from '#src/store/sums.ts';
import { toChange } from '#src/tasks/indexes.ts';
import type { Task } from '#src/tasks/task.ts';
import { wrongBooks } from '#test/fakes/books.ts';
import { RedisServer } from '#test/fakes/redis-server.ts';
import { type ScriptedService, startScriptedService } from '#test/fakes/scripted-service.ts';
import { startDailies } from '../e2e/dailies.ts';

// Stores of revision 72ef3f3, with tasks in every state, made by `old-store/make.ts`.

/** Tasks by prompt: their state in the old store, and the state that they reach from there. */
const TASKS = {
  'sandbox clip': ['completed', 'completed'],
  'done delivered': ['completed', 'completed'],
  'done undelivered': ['completed', 'completed'],
  fetching: ['completed', 'completed'],
  unfetchable: ['completed', 'completed'],
  failed: ['failed', 'failed'],
  rejected: ['rejected', 'rejected'],
  open: ['polling', 'completed'],
  'open cancelled': ['cancelled', 'cancelled'],
  late: ['cancelled', 'cancelled'],
  'claimed cancelled': ['cancelled', 'cancelled'],
  uncertain: ['uncertain', 'uncertain'],
  'uncertain left': ['uncertain', 'uncertain'],
  hang: ['sending', 'uncertain'],
  'hang cancelled': ['sending', 'uncertain'],
  busy: ['claimed', 'completed'],
  claimed: ['claimed', 'completed'],
} as const;
/** Tasks with a file in the chat: delivered by the old revision, or to be delivered by this one. */
const DELIVERED = ['sandbox clip', 'done delivered', 'done undelivered', 'fetching', 'open', 'busy', 'claimed'];
const TIMEOUT = { timeout: 40_000 };
const TEST_TIMEOUT = { timeout: 200_000 };

type Line = readonly (string | number | readonly string[])[];
/** Loads the lines of a fixture; resolves to the URL of the store. */
type Load = (lines: readonly Line[], context: Pick<TestContext, 'onTestFinished'>, dir: string) => Promise<string>;

const onSqlite: Load = async (lines, _context, dir) => {
  const file = join(dir, 'data/dailies.db');
  await mkdir(join(dir, 'data'), { recursive: true });
  const database = new DatabaseSync(file);
  for (const [first = '', key = '', last] of lines) {
    if (last === undefined) database.exec(String(first));
    else if (typeof last === 'number') {
      database.prepare('INSERT INTO index_entries VALUES (?, ?, ?)').run(String(first), String(key), last);
    } else {
      database.prepare('INSERT INTO records VALUES (?, ?, ?, NULL)').run(String(first), String(key), String(last));
    }
  }
  database.close();
  return `sqlite:${file}`;
};

const onRedis: Load = async (lines, { onTestFinished }) => {
  const server = await RedisServer.start();
  onTestFinished(() => server.remove());
  const strings = lines.filter(([, value]) => typeof value === 'string');
  await server.command('MSET', ...strings.flat().map(String));
  for (const [key = '', members = []] of lines) {
    if (Array.isArray(members)) await server.command('ZADD', String(key), ...pairs(members));
  }
  return server.url;
};

/** Swaps member and score. */
function pairs(members: readonly string[]): readonly string[] {
  return members.flatMap((member, at) => (at % 2 === 0 ? [members[at + 1] ?? '', member] : []));
}

async function makeFolder({ onTestFinished }: Pick<TestContext, 'onTestFinished'>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'dailies-old-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
}

/** Reads a fixture, with its paths in `dir`; `ageMs` moves its times to that long ago. */
async function linesOf(name: string, dir: string, ageMs?: number): Promise<readonly Line[]> {
  let text = (await readFile(new URL(`./old-store/${name}.jsonl`, import.meta.url), 'utf8')).replaceAll(
    '/old/',
    `${dir}/`,
  );
  if (ageMs !== undefined) {
    const times = [...text.matchAll(/(?<![\w.-])1[78]\d{11}(?![\w.-])/g)].map(([time]) => Number(time));
    const shiftMs = Date.now() - ageMs - Math.max(...times);
    text = text.replaceAll(/(?<![\w.-])1[78]\d{11}(?![\w.-])/g, (time) => String(Number(time) + shiftMs));
  }
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

async function recordsOf(store: Store, namespace: (typeof NAMESPACES)[number]): Promise<readonly StoredRecord[]> {
  return (await Array.fromAsync(store.contents.records(namespace))).flat();
}

async function tasksOf(store: Store): Promise<readonly Task[]> {
  return (await recordsOf(store, 'tasks')).map(({ value }) => value as Task);
}

async function entriesOf(store: Store): Promise<readonly string[]> {
  const indexes = await Promise.all(
    (await store.contents.indexes()).map(async (index) =>
      (await store.scan(index)).map(({ member, score }) => `${index} ${member} ${score}`),
    ),
  );
  return indexes.flat().toSorted();
}

/** Returns the sum of a scope over all months. */
async function spentBy(store: Store, scope: string): Promise<SumParts> {
  const sums = (await Array.fromAsync(store.contents.sums())).flat().filter(({ sum }) => sum.startsWith(`${scope}:`));
  return sums.reduce((total, { parts }) => addParts(total, parts), ZERO_SUM);
}

/** Makes the service know the tasks that the old revision created there, and puts their clips on disk. */
async function prepare(service: ScriptedService, url: string): Promise<void> {
  service.off.add('busy');
  // The service numbers its tasks: it must not give an old id to a new one.
  for (let number = 0; number < 50; number += 1) service.add();
  const store = await openStore(url, { logger: pino({ level: 'silent' }) });
  for (const { upstreamId, clip, endedAtMs } of await tasksOf(store)) {
    if (upstreamId !== undefined)
      service.add({ id: upstreamId, status: endedAtMs === undefined ? 'queued' : 'completed' });
    if (clip !== undefined) await writeFile(clip.path, service.clip);
  }
  await store.close();
}

describe.for([
  ['sqlite', onSqlite],
  ['redis', onRedis],
] as const)('a store of revision 72ef3f3 on %s', ([name, load]) => {
  test.concurrent('is read with every task in its state, and with consistent indexes and ledger', async (context) => {
    const { expect } = context;
    const dir = await makeFolder(context);
    const url = await load(await linesOf(name, dir), context, dir);
    const store = await openStore(url, { logger: pino({ level: 'silent' }) });
    const tasks = await tasksOf(store);
    expect(Object.fromEntries(tasks.map(({ request, state }) => [request.prompt, state]))).toEqual(
      Object.fromEntries(Object.entries(TASKS).map(([prompt, [state]]) => [prompt, state])),
    );
    const changes = tasks.map((task) => toChange(null, task));
    const expected = changes.flatMap(({ index = [] }) =>
      index.map((each) => `${each.index} ${each.member} ${each.score}`),
    );
    const ofTasks = (await entriesOf(store)).filter((entry) => !entry.startsWith('playground'));
    expect(ofTasks).toEqual(expected.toSorted());
    const ledger = changes.flatMap(({ records }) => records.filter(({ namespace }) => namespace === 'ledger'));
    const entries = new Map((await recordsOf(store, 'ledger')).map(({ key, value }) => [key, value]));
    // The old revision did not store the month of an entry.
    const inUtc = [...entries].map(([key, value]) => [key, { ...(value as object), period: '2026-11' }] as const);
    expect(new Map(inUtc)).toEqual(new Map(ledger.map(({ key, value }) => [key, value])));
    const outbox = (await store.scan('outbox')).map(
      ({ member }) => tasks.find(({ id }) => id === member)?.request.prompt,
    );
    expect(outbox).toEqual(['done undelivered']);
    const subscribed = await createSubscriptions(store).list('playground', 'playground');
    expect(subscribed.map(({ who }) => who)).toEqual(['everyone', { id: 'ana', name: 'ana' }]);
    await store.close();
  });

  test.concurrent(
    'is continued: nothing is sent twice, and every outcome is delivered once',
    TEST_TIMEOUT,
    async (context) => {
      const { expect, onTestFinished } = context;
      const dir = await makeFolder(context);
      await mkdir(join(dir, 'data/clips'), { recursive: true });
      const storeUrl = await load(await linesOf(name, dir, 10_000), context, dir);
      const upstream = await startScriptedService();
      onTestFinished(() => upstream.close());
      await prepare(upstream, storeUrl);
      const dailies = await startDailies({ dir, upstream, env: { STORE_URL: storeUrl, LOG_LEVEL: 'info' } });
      onTestFinished(() => dailies.kill());
      const shown = async () => (await dailies.messages()).filter(({ task }) => task !== null);
      const promptOf = (text: string): string =>
        Object.keys(TASKS)
          .toSorted((a, b) => b.length - a.length)
          .find((prompt) => text.startsWith(prompt)) ?? text;
      const states = async () => Object.fromEntries((await shown()).map(({ text, state }) => [promptOf(text), state]));
      await expect
        .poll(states, TIMEOUT)
        .toEqual(Object.fromEntries(Object.entries(TASKS).map(([prompt, [, state]]) => [prompt, state])));
      const files = async () =>
        (await shown()).filter(({ attachments }) => attachments.length === 1).map(({ text }) => promptOf(text));
      await expect.poll(async () => [...new Set(await files())].toSorted(), TIMEOUT).toEqual(DELIVERED.toSorted());
      await expect
        .poll(async () => (await shown()).find(({ text }) => text.startsWith('open cancelled'))?.text, TIMEOUT)
        .toContain('finished');
      await expect.poll(() => dailies.output(), TIMEOUT).toContain('"tasks_counted"');
      expect(await dailies.stop()).toBe(0);
      expect(Object.fromEntries(upstream.postsOf)).toEqual({ busy: 1, claimed: 1 });
      const store = await openStore(storeUrl, { logger: pino({ level: 'silent' }) });
      const tasks = await tasksOf(store);
      expect(tasks).toHaveLength(
        (await linesOf(name, dir)).filter(([first]) => /^(dailies:)?tasks/.test(String(first))).length,
      );
      expect(await store.scan('outbox')).toEqual([]);
      expect(await wrongBooks(store)).toEqual([]);
      // $0.20 each: ten that completed, two of them cancelled, and a retry; four without a known outcome.
      const spent = { held: 0n, settled: 11n * 200_000n, doubted: 4n * 200_000n, extra: 0n };
      expect(await spentBy(store, 'team:playground:playground')).toEqual(spent);
      await store.close();
    },
  );
});
