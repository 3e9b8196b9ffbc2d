import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { acceptAndReset } from '../fakes/faults.ts';
import { RedisServer } from '../fakes/redis-server.ts';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { answered, buttonOf, makeDir, type RunningDailies, startDailies } from './dailies.ts';

const PROGRAM = new URL('../../src/migrate.ts', import.meta.url).pathname;
const PATIENT = { timeout: 15_000 };
const SQLITE = 'sqlite:data/dailies.db';

let redis: RedisServer;
let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let dailies: RunningDailies;

beforeEach(async () => {
  redis = await RedisServer.start();
  upstream = await startVideoService({ pollsUntilDone: 1 });
  dir = await makeDir();
});

afterEach(async () => {
  await dailies?.kill();
  await upstream.close();
  await redis.remove();
  await dir.remove();
});

async function start(storeUrl: string): Promise<void> {
  dailies = await startDailies({ dir: dir.path, upstream, env: { STORE_URL: storeUrl } });
}

interface Outcome {
  readonly code: number | null;
  readonly said: string;
}

function migrate(from: string, to: string): Promise<Outcome> {
  return run(['--from', from, '--to', to]);
}

async function run(args: readonly string[]): Promise<Outcome> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, ...args], {
    cwd: dir.path,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said };
}

/** What the bot answers, without what differs from answer to answer. */
async function asked(text: string): Promise<string> {
  return (await dailies.message(answered(await dailies.interact(text)))).text;
}

/** Waits until somebody was told of a clip. */
async function notified(message: string): Promise<void> {
  const told = async () => (await dailies.messages()).some(({ replyTo }) => replyTo === message);
  await expect.poll(told, PATIENT).toBe(true);
}

async function create(prompt: string): Promise<string> {
  return answered(await dailies.interact(`/video create ${prompt}`, { id: `i-${prompt}` }));
}

test('a bot moves from SQLite to Redis and back: same messages, same money, open tasks go on, nothing is bought again', async () => {
  await start(SQLITE);
  const done = await create('done');
  await dailies.reaches(done, 'completed');
  await notified(done);

  const { create: take, retrieve, content } = upstream.handlers;
  upstream.handlers.create = acceptAndReset;
  const uncertain = await create('uncertain');
  await dailies.reaches(uncertain, 'uncertain');
  upstream.handlers.create = take;

  // One whose clip does not come, and one that the service does not finish.
  upstream.handlers.content = () => undefined;
  const undelivered = await create('undelivered');
  await expect.poll(() => upstream.requests.filter(({ path }) => path.endsWith('/content')).length, PATIENT).toBe(2);
  upstream.handlers.retrieve = (call) => {
    if (call.task !== undefined && call.task.status !== 'completed') call.task.polls = 0;
    retrieve(call);
  };
  const open = await create('open');
  await dailies.reaches(open, 'polling');
  const before = { list: await asked('/video list'), usage: await asked('/video usage') };
  const shown = await dailies.messages();
  await dailies.kill();
  upstream.handlers.content = content;

  const first = await migrate(SQLITE, redis.url);
  expect(first).toMatchObject({ code: 0, said: expect.stringMatching(/tasks +4 +0 +4 +4 +0\n/) });
  expect(first.said).toContain(`stay where they are, in ${join(dir.path, 'data')}`);
  const again = await migrate(SQLITE, redis.url);
  expect(again).toMatchObject({ code: 0, said: expect.stringMatching(/tasks +4 +4 +0 +4 +0\n/) });

  await start(redis.url);
  for (const message of shown.filter(({ id }) => id !== open && id !== undelivered)) {
    expect(await dailies.message(message.id)).toEqual(message);
  }
  expect((await fetch(`${dailies.url}${(await dailies.message(done)).attachments[0]?.url}`)).ok).toBe(true);
  expect(await asked('/video list')).toBe(before.list);
  expect(await asked('/video usage')).toBe(before.usage);
  expect(await create('open')).toBe(open);
  expect(await create('done')).toBe(done);
  upstream.handlers.retrieve = retrieve;
  for (const message of [open, undelivered]) {
    await dailies.reaches(message, 'completed');
    await expect.poll(async () => (await dailies.message(message)).attachments, PATIENT).toHaveLength(1);
    await notified(message);
  }
  await dailies.press(uncertain, buttonOf(await dailies.message(uncertain), 'leave'));
  await expect.poll(async () => (await dailies.message(uncertain)).text, PATIENT).toContain('Left as it is');
  expect(upstream.posts).toBe(4);
  expect((await dailies.messages()).filter(({ task }) => task !== null)).toHaveLength(4);
  const after = await dailies.messages();
  await dailies.stop();

  const late = await migrate(SQLITE, redis.url);
  expect(late).toMatchObject({ code: 0, said: expect.stringContaining('has been used since') });
  expect(await migrate(redis.url, 'sqlite:back/dailies.db')).toMatchObject({
    code: 0,
    said: expect.stringContaining('copy the folders'),
  });
  await start('sqlite:back/dailies.db');
  expect(await dailies.messages()).toEqual(after);
  expect(upstream.posts).toBe(4);
});

test('nothing is moved while a bot runs on either side', async () => {
  await start(SQLITE);
  await dailies.reaches(await create('here'), 'completed');
  const there = await startDailies({ dir: dir.path, upstream, env: { STORE_URL: redis.url } });
  try {
    const tries = [migrate(SQLITE, redis.url), migrate(redis.url, 'sqlite:new/dailies.db')];
    const [fromHeld, fromUsed] = await Promise.all(tries);
    expect(fromHeld).toMatchObject({ code: 1, said: expect.stringContaining('a bot is running on it') });
    expect(fromUsed).toMatchObject({ code: 1, said: expect.stringContaining('is used by a running bot') });
  } finally {
    await there.kill();
  }
});

test.each([
  [[], 'Usage: npm run migrate'],
  [['--from', SQLITE], 'Usage: npm run migrate'],
  [['--form', SQLITE], "Unknown option '--form'"],
  [['--from', SQLITE, '--to', 'postgres://u:s3cret@db'], '--to is not the address of a store'],
  [['--from', 'sqlite:none.db', '--to', 'redis://127.0.0.1'], 'There is no file none.db'],
  [['--from', 'sqlite:a/../none.db', '--to', 'sqlite:none.db'], 'are the same store'],
])('says what is wrong with %j', async (args, sentence) => {
  const { code, said } = await run(args);
  expect({ code, said }).toMatchObject({ code: 1, said: expect.stringContaining(sentence) });
  expect(said).not.toContain('s3cret');
});
