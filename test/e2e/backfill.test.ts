import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pino } from 'pino';
import { type TestContext, test } from 'vitest';
import { openStore } from '#src/store/open.ts';
import type { Store, SumParts } from '#src/store/store.ts';
import { addParts, ZERO_SUM } from '#src/store/sums.ts';
import { toChange } from '#src/tasks/indexes.ts';
import type { Task, TaskEvent, TaskId } from '#src/tasks/task.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { wrongBooks } from '../fakes/books.ts';
import { RedisServer } from '../fakes/redis-server.ts';
import { EVENTS, lived, newTask, originOf } from '../fakes/tasks.ts';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { answered, makeDir, startDailies } from './dailies.ts';

// Tasks of a version without sums are counted by the program while it is killed, and orders arrive.

/** The lease of the killed process has to expire first. */
const TIMEOUT = { timeout: 150_000 };
/** Enough that counting them takes seconds, with its pauses: a busy machine may look late. */
const TASKS = 6_000;
const OPEN = 20;
const PRICE = { amount: '0.2', currency: 'USD' };
const MICROS = 200_000n;
const YEAR = 2025;
const MONTHS = ['07', '08', '09', '10'];
const PLACE = { platform: 'playground', team: 'playground', channel: 'general', user: { id: 'ana', name: 'ana' } };

const { send, accepted, completed, failed, lost, fetched, cancel } = EVENTS;
const LIVES = [[send, accepted, completed, fetched], [send, accepted, failed], [send, lost], [cancel]] as const;

/** Returns a task as an earlier version wrote it: uncounted, and without money. */
function oldTask(number: number): Task {
  const id = `old${number}` as TaskId;
  const createdAtMs = Date.UTC(YEAR, 6 + (number % MONTHS.length), 10) + number;
  const claimed = newTask({ id, origin: originOf({ ...PLACE, interaction: id }), createdAtMs, price: PRICE });
  const life: readonly TaskEvent[] = number < OPEN ? [send, accepted] : (LIVES[number % LIVES.length] ?? []);
  const events = life.map((event) =>
    event.kind === 'accepted' ? { ...event, upstreamId: `up-${number}` as UpstreamId } : event,
  );
  return { ...lived(claimed, ...events), presented: true };
}

/** Fills a store; the service knows its open tasks, and finishes none of them. @returns a function that finishes them. */
async function fill(url: string, upstream: FakeVideoService): Promise<() => void> {
  await using(url, async (store) => {
    for (let from = 0; from < TASKS; from += 500) {
      const tasks = Array.from({ length: 500 }, (_, at) => oldTask(from + at));
      await Promise.all(tasks.map((task) => store.commit(toChange(null, task))));
    }
  });
  for (let number = 0; number < OPEN; number += 1) upstream.add({ id: `up-${number}` });
  const { retrieve } = upstream.handlers;
  upstream.handlers.retrieve = (call) => {
    if (call.task?.id.startsWith('up-') === true) call.task.polls = 0;
    retrieve(call);
  };
  return () => {
    upstream.handlers.retrieve = retrieve;
  };
}

async function using<Result>(url: string, use: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openStore(url, { logger: pino({ level: 'silent' }) });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Returns the sum of the months of old tasks, or of those since. */
async function spent(store: Store, which: 'old' | 'new'): Promise<SumParts> {
  const sums = (await Array.fromAsync(store.contents.sums())).flat().filter(({ sum }) => {
    const isOld = sum.startsWith(`deployment:${YEAR}`);
    return which === 'old' ? isOld : !isOld && sum.startsWith('deployment:');
  });
  return sums.reduce((total, { parts }) => addParts(total, parts), ZERO_SUM);
}

/** Reads what is settled of the old months, while the program has the store open. */
type Look = () => Promise<bigint>;

const onSqlite = async (dir: string): Promise<{ readonly url: string; readonly settled: Look }> => {
  const file = join(dir, 'data/dailies.db');
  return {
    url: `sqlite:${file}`,
    async settled() {
      const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
      const sql = `SELECT CAST(total(settled) AS INTEGER) AS settled FROM sums WHERE name LIKE 'deployment:${YEAR}%'`;
      const found = database.prepare(sql).get();
      database.close();
      return BigInt(Number(found?.['settled']));
    },
  };
};

const onRedis = async (_dir: string, { onTestFinished }: Pick<TestContext, 'onTestFinished'>) => {
  const server = await RedisServer.start();
  onTestFinished(() => server.remove());
  const names = MONTHS.map((month) => `dailies:sum:deployment:${YEAR}-${month}:USD`);
  const settled: Look = async () => {
    const found = await Promise.all(names.map((name) => server.command('HGET', name, 'settled')));
    return found.reduce<bigint>((total, each) => total + BigInt(Number(each ?? 0)), 0n);
  };
  return { url: server.url, settled };
};

test.concurrent.for([
  ['SQLite', onSqlite],
  ['Redis', onRedis],
] as const)(
  'on %s, a killed program goes on counting old tasks, each once',
  { timeout: 300_000 },
  async ([, on], context) => {
    const { expect, onTestFinished } = context;
    const dir = await makeDir();
    onTestFinished(() => dir.remove());
    const upstream = await startVideoService({ pollsUntilDone: 1 });
    onTestFinished(() => upstream.close());
    const { url, settled } = await on(dir.path, context);
    const finish = await fill(url, upstream);
    // Of each kind that ended; the ones without a known outcome are as many.
    const total = BigInt((TASKS - OPEN) / LIVES.length) * MICROS;
    const start = async () => {
      const dailies = await startDailies({ dir: dir.path, upstream, env: { STORE_URL: url, LOG_LEVEL: 'info' } });
      onTestFinished(() => dailies.kill());
      const order = async (id: string) => answered(await dailies.interact(`/video create ${id} --seconds 4`, { id }));
      return { dailies, order };
    };

    let { dailies, order } = await start();
    const orders: string[] = ['before'];
    await order('before');
    await expect.poll(settled, { ...TIMEOUT, interval: 10 }).toBeGreaterThan(total / 10n);
    // Open ones end while others are counted, and new ones begin.
    finish();
    const torn = Array.from({ length: 10 }, (_, at) => `torn ${at}`);
    orders.push(...torn);
    const ordered = Promise.allSettled(torn.map(order));
    await dailies.kill();
    await ordered;
    expect(await settled()).toBeLessThan(total);

    ({ dailies, order } = await start());
    const messages = await Promise.all(orders.map(order));
    await expect.poll(dailies.output, TIMEOUT).toContain('"tasks_counted"');
    // A create that the kill interrupted is uncertain.
    const ends = async () => Promise.all(messages.map(async (message) => (await dailies.message(message)).state ?? ''));
    const isEnded = (state: string): boolean => state === 'completed' || state === 'uncertain';
    await expect.poll(ends, TIMEOUT).toSatisfy((states: readonly string[]) => states.every(isEnded));
    const uncertain = (await ends()).filter((state) => state === 'uncertain').length;
    await expect.poll(settled, TIMEOUT).toBe(total + BigInt(OPEN) * MICROS);
    expect(await dailies.stop()).toBe(0);
    await using(url, async (store) => {
      expect(await wrongBooks(store)).toEqual([]);
      const [done, doubted] = [orders.length - uncertain, uncertain].map((count) => BigInt(count) * MICROS);
      const old = { held: 0n, settled: total + BigInt(OPEN) * MICROS, doubted: total, extra: 0n };
      expect([await spent(store, 'old'), await spent(store, 'new')]).toEqual([
        old,
        { held: 0n, settled: done, doubted, extra: 0n },
      ]);
    });
    expect(upstream.posts).toBeLessThanOrEqual(orders.length);
  },
);
