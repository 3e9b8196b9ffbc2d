import { join } from 'node:path';
import { pino } from 'pino';
import { type TestContext, test } from 'vitest';
import { openStore } from '#src/engine/store/open.ts';
import type { Store } from '#src/engine/store/store.ts';
import { acceptAndReset } from '../fakes/faults.ts';
import { RedisServer } from '../fakes/redis-server.ts';
import { startVideoService } from '../fakes/video-service.ts';
import { answered, buttonOf, makeDir, type RunningDailies, runCommand, startDailies } from './dailies.ts';

const TIMEOUT = { timeout: 600_000 };
const SQLITE = 'sqlite:data/dailies.db';

/** A test with its own bots and stores, so that the tests of this file can wait concurrently. */
const alongside = test.concurrent;

/** Prepares a folder for bots, a Redis, and a video service. */
async function begin({ onTestFinished }: TestContext) {
  const dir = await folder(onTestFinished);
  const redis = await RedisServer.start();
  onTestFinished(() => redis.remove());
  const upstream = await startVideoService({ pollsUntilDone: 1 });
  onTestFinished(() => upstream.close());
  const start = async (storeUrl: string): Promise<RunningDailies> => {
    const dailies = await startDailies({ dir, upstream, env: { STORE_URL: storeUrl } });
    onTestFinished(() => dailies.kill());
    return dailies;
  };
  const migrate = (from: string, to: string) => runCommand('migrate.ts', { dir, args: ['--from', from, '--to', to] });
  return { dir, redis, upstream, start, migrate };
}

async function folder(onTestFinished: TestContext['onTestFinished']): Promise<string> {
  const dir = await makeDir();
  onTestFinished(() => dir.remove());
  return dir.path;
}

/** Returns the bot's response, without the parts that differ from one response to the next. */
async function asked(dailies: RunningDailies, text: string): Promise<string> {
  return (await dailies.message(answered(await dailies.interact(text)))).text;
}

/** Opens a store that no bot uses, and closes it again. */
async function withStore<T>(url: string, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url, { logger: pino({ level: 'silent' }) });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Returns every sum and budget of a store. */
const moneyOf = (url: string) =>
  withStore(url, async ({ contents }) => {
    const sums = (await Array.fromAsync(contents.sums())).flat().map(({ sum, parts }) => [sum, parts] as const);
    return {
      sums: Object.fromEntries(sums),
      budgets: (await Array.fromAsync(contents.records('budgets'))).flat(),
    };
  });

/** Returns the mentions under a clip's message. */
const repliesTo = async (dailies: RunningDailies, message: string) =>
  (await dailies.messages()).filter(({ replyTo }) => replyTo === message);

async function create(dailies: RunningDailies, prompt: string): Promise<string> {
  return answered(await dailies.interact(`/video create ${prompt}`, { id: `i-${prompt}` }));
}

alongside(
  'a bot moves from SQLite to Redis and back: same messages and spending, open tasks continue, nothing is rebought',
  async (context) => {
    const { expect } = context;
    const { dir, redis, upstream, start, migrate } = await begin(context);
    let dailies = await start(SQLITE);
    const done = await create(dailies, 'done');
    await dailies.reaches(done, 'completed');
    await expect.poll(() => repliesTo(dailies, done), TIMEOUT).not.toEqual([]);

    const { create: take, retrieve, content } = upstream.handlers;
    upstream.handlers.create = acceptAndReset;
    const uncertain = await create(dailies, 'uncertain');
    await dailies.reaches(uncertain, 'uncertain');
    upstream.handlers.create = take;

    // One with a clip that never arrives, and one that the service does not finish.
    upstream.handlers.content = () => undefined;
    const undelivered = await create(dailies, 'undelivered');
    await expect.poll(() => upstream.requests.filter(({ path }) => path.endsWith('/content')).length, TIMEOUT).toBe(2);
    upstream.handlers.retrieve = (call) => {
      if (call.task !== undefined && call.task.status !== 'completed') call.task.polls = 0;
      retrieve(call);
    };
    const open = await create(dailies, 'open');
    await dailies.reaches(open, 'polling');
    const before = { list: await asked(dailies, '/video list'), usage: await asked(dailies, '/video usage') };
    const shown = await dailies.messages();
    await dailies.kill();
    upstream.handlers.content = content;
    const budget = { revision: 1, hard: { USD: '100000000' }, soft: {} };
    await withStore(`sqlite:${dir}/data/dailies.db`, (store) =>
      store.commit({
        records: [{ namespace: 'budgets', key: 'team:slack:T1', value: budget, expected: 'absent' }],
        sums: [{ sum: 'team:slack:T1:2026-11:USD', add: { held: 400_000n, settled: 900_719_925_474_099n } }],
      }),
    );
    const money = await moneyOf(`sqlite:${dir}/data/dailies.db`);
    expect(money).toMatchObject({
      sums: { 'team:slack:T1:2026-11:USD': { held: 400_000n, settled: 900_719_925_474_099n } },
      budgets: [{ key: 'team:slack:T1', value: budget }],
    });

    const first = await migrate(SQLITE, redis.url);
    expect(first).toMatchObject({ code: 0, said: expect.stringMatching(/tasks +4\n/) });
    expect(first.said).toContain(`stay where they are, in ${join(dir, 'data')}`);
    expect(await moneyOf(redis.url)).toEqual(money);
    const again = await migrate(SQLITE, redis.url);
    expect(again).toMatchObject({ code: 1, said: expect.stringContaining('the target is not empty') });

    dailies = await start(redis.url);
    for (const message of shown.filter(({ id }) => id !== open && id !== undelivered)) {
      expect(await dailies.message(message.id)).toEqual(message);
    }
    expect((await fetch(`${dailies.url}${(await dailies.message(done)).attachments[0]?.url}`)).ok).toBe(true);
    // Tasks in flight continue at once, and their states change.
    const settled = (list: string) => list.replace(/(^(?:open|undelivered) · )[^·]+/gm, '$1… ');
    expect(settled(await asked(dailies, '/video list'))).toBe(settled(before.list));
    expect(await asked(dailies, '/video usage')).toBe(before.usage);
    expect(await create(dailies, 'open')).toBe(open);
    expect(await create(dailies, 'done')).toBe(done);
    upstream.handlers.retrieve = retrieve;
    for (const message of [open, undelivered]) {
      await dailies.reaches(message, 'completed');
      await expect.poll(async () => (await dailies.message(message)).attachments, TIMEOUT).toHaveLength(1);
      await expect.poll(() => repliesTo(dailies, message), TIMEOUT).not.toEqual([]);
    }
    await dailies.press(uncertain, buttonOf(await dailies.message(uncertain), 'leave'));
    await expect.poll(async () => (await dailies.message(uncertain)).text, TIMEOUT).toContain('left this unresolved');
    expect(upstream.posts).toBe(4);
    expect((await dailies.messages()).filter(({ task }) => task !== null)).toHaveLength(4);
    const after = await dailies.messages();
    await dailies.stop();
    const moneyAfter = await moneyOf(redis.url);

    const late = await migrate(SQLITE, redis.url);
    expect(late).toMatchObject({ code: 1, said: expect.stringContaining('the target is not empty') });
    expect(await migrate(redis.url, 'sqlite:back/dailies.db')).toMatchObject({
      code: 0,
      said: expect.stringContaining('copy the folders'),
    });
    expect(await moneyOf(`sqlite:${dir}/back/dailies.db`)).toEqual(moneyAfter);
    dailies = await start('sqlite:back/dailies.db');
    expect(await dailies.messages()).toEqual(after);
    expect(upstream.posts).toBe(4);
  },
);

alongside('refuses to migrate while a bot runs on either side', { timeout: 600_000 }, async (context) => {
  const { expect } = context;
  const { redis, start, migrate } = await begin(context);
  const here = await start(SQLITE);
  await here.reaches(await create(here, 'here'), 'completed');
  await start(redis.url);
  const tries = [migrate(SQLITE, redis.url), migrate(redis.url, 'sqlite:new/dailies.db')];
  const [fromHeld, fromUsed] = await Promise.all(tries);
  expect(fromHeld).toMatchObject({ code: 1, said: expect.stringContaining('a bot is running on it') });
  expect(fromUsed).toMatchObject({ code: 1, said: expect.stringContaining('is used by a running bot') });
});

alongside('exits if the target cannot be opened, and releases the source', async (context) => {
  const { expect } = context;
  const { redis, migrate } = await begin(context);
  const { code, said } = await migrate(redis.url, 'sqlite:/dev/null/dailies.db');
  expect({ code, said }).toMatchObject({ code: 1, said: expect.stringContaining('--to') });
});

alongside.for([
  [[], 'Usage: npm run migrate'],
  [['--from', SQLITE], 'Usage: npm run migrate'],
  [['--form', SQLITE], "Unknown option '--form'"],
  [['--from', SQLITE, '--to', 'postgres://u:s3cret@db'], '--to is not the address of a store'],
  [['--from', 'sqlite:none.db', '--to', 'redis://127.0.0.1'], 'There is no file none.db'],
  [['--from', 'sqlite:a/../none.db', '--to', 'sqlite:none.db'], 'are the same store'],
] as const)('reports what is wrong with %j', async ([args, sentence], { expect, onTestFinished }) => {
  const { code, said } = await runCommand('migrate.ts', { dir: await folder(onTestFinished), args });
  expect({ code, said }).toMatchObject({ code: 1, said: expect.stringContaining(sentence) });
  expect(said).not.toContain('s3cret');
});
