import { afterEach, beforeEach, expect, test } from 'vitest';
import { REDIS_OUTAGES } from '../fakes/redis-house.ts';
import { RedisServer } from '../fakes/redis-server.ts';
import { type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { answered, makeDir, type RunningDailies, startDailies } from './dailies.ts';

const TIMEOUT = { timeout: 600_000 };

let redis: RedisServer;
let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let dailies: RunningDailies;

beforeEach(async () => {
  redis = await RedisServer.start();
  upstream = await startVideoService();
  dir = await makeDir();
  dailies = await startDailies({ dir: dir.path, upstream, env: { STORE_URL: redis.url } });
});

afterEach(async () => {
  await dailies.kill();
  await upstream.close();
  await redis.remove();
  await dir.remove();
});

async function readiness(): Promise<string> {
  const answer = await fetch(`${dailies.url}/readyz`);
  return `${answer.status} ${await answer.text()}`;
}

/** Expects one message with its clip, and one mention of its requester. */
async function expectOneOfEach(message: string): Promise<void> {
  await dailies.reaches(message, 'completed');
  const replies = async () => (await dailies.messages()).filter(({ replyTo }) => replyTo === message);
  await expect.poll(replies, TIMEOUT).toHaveLength(1);
  expect((await dailies.message(message)).attachments).toHaveLength(1);
}

test.each(REDIS_OUTAGES)(
  'a Redis that is $what: not ready, no create, and tasks in flight continue afterwards',
  async (outage) => {
    const { retrieve } = upstream.handlers;
    upstream.handlers.retrieve = (call) => {
      if (call.task !== undefined) call.task.polls = 0;
      retrieve(call);
    };
    const open = answered(await dailies.interact('/video create open'));
    await dailies.reaches(open, 'polling');
    await redis.command(...outage.begin);
    await expect.poll(readiness, TIMEOUT).toContain(outage.sentence);
    expect(await readiness()).toMatch(/^503 /);
    const { status } = await dailies.interact('/video create refused', { id: 'refused' });
    expect(status).toBeGreaterThanOrEqual(500);
    upstream.handlers.retrieve = retrieve;
    await redis.command(...outage.end);
    await expect.poll(readiness, TIMEOUT).toMatch(/^200 /);
    expect(upstream.posts).toBe(1);
    await expectOneOfEach(open);
    await expectOneOfEach(answered(await dailies.interact('/video create refused', { id: 'refused' })));
    expect(upstream.posts).toBe(2);
    const said = dailies.output();
    expect(said.split('"redis_writes_rejected"')).toHaveLength(2);
    expect(said).toContain(outage.sentence);
  },
);

test('a Redis that is killed and restarted: no create meanwhile, nothing lost, nothing duplicated', async () => {
  const messages = await Promise.all(
    Array.from({ length: 5 }, async (_, at) => answered(await dailies.interact(`/video create fox ${at}`))),
  );
  await redis.kill();
  await expect.poll(readiness, TIMEOUT).toMatch(/^503 .*"store":"[^"]*(ECONNREFUSED|closed)/);
  expect((await dailies.interact('/video create refused', { id: 'refused' })).status).toBeGreaterThanOrEqual(500);
  await redis.restart();
  await expect.poll(readiness, TIMEOUT).toMatch(/^200 /);
  const refused = answered(await dailies.interact('/video create refused', { id: 'refused' }));
  for (const message of [...messages, refused]) await expectOneOfEach(message);
  expect({ posts: upstream.posts, creates: upstream.creates }).toEqual({ posts: 6, creates: 6 });
});
