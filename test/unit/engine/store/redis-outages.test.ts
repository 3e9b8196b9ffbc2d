import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#src/clock.ts';
import type { Change, Store } from '#src/engine/store/store.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { openRedis, REDIS_OUTAGES, serveRedis } from '#test/fakes/redis-house.ts';
import type { RedisServer } from '#test/fakes/redis-server.ts';
import { SilentWay } from '#test/fakes/silent-way.ts';

const UNAVAILABLE = { code: 'store_unavailable', retryable: true };
const BEGUN = 'redis_writes_rejected';
const OVER = 'redis_writes_accepted';

const said: Record<string, unknown>[] = [];
const logger = pino({ base: null, timestamp: false }, { write: (line: string) => void said.push(JSON.parse(line)) });
let server: RedisServer;

beforeEach(async () => {
  server = await serveRedis();
});

afterEach(() => {
  said.length = 0;
});

function open(port: number, clock = systemClock): Promise<Store> {
  return openRedis(`redis://127.0.0.1:${port}`, { clock, logger });
}

async function way(): Promise<SilentWay> {
  const made = await SilentWay.start(server.port);
  onTestFinished(() => made.remove());
  return made;
}

function claim(key: string, value: object = { revision: 1 }): Change {
  return { records: [{ namespace: 'tasks', key, value, expected: 'absent' }] };
}

async function failing(call: Promise<unknown>): Promise<string> {
  const failure: unknown = await call.then(
    () => 'it succeeded',
    (thrown: unknown) => thrown,
  );
  expect(failure).toMatchObject(UNAVAILABLE);
  return String(failure);
}

it.each([
  ...REDIS_OUTAGES,
  {
    what: 'short of replicas',
    begin: ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
    end: ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
    sentence: 'Redis has fewer replicas than its min-replicas-to-write',
  },
])(
  'a Redis that is $what is not ready and rejects claims, names the fix, and logs it once',
  async ({ begin, end, sentence }) => {
    const store = await open(server.port);
    await store.ping();
    await server.command(...begin);
    expect(await failing(store.ping())).toContain(sentence);
    expect(await failing(store.commit(claim('a')))).toContain(sentence);
    expect(await failing(store.ping())).toContain(sentence);
    await server.command(...end);
    await vi.waitFor(() => store.ping(), 300_000);
    expect(await store.commit(claim('a'))).toBe(true);
    const logged = said.filter(({ event }) => event === BEGUN || event === OVER);
    expect(logged).toMatchObject([
      { level: 50, event: BEGUN, reason: expect.stringContaining(sentence) },
      { level: 30, event: OVER },
    ]);
  },
);

it('a Redis that cannot write to its disk is not ready', async () => {
  const store = await open(server.port);
  await server.command('CONFIG', 'SET', 'save', '3600 1');
  await server.blockSnapshots();
  await server.command('BGSAVE');
  await vi.waitFor(async () => expect(await failing(store.ping())).toContain('cannot write to its disk'), 300_000);
});

it('reconnects to the new primary after a failover', async () => {
  const follower = await server.replica();
  onTestFinished(() => follower.remove());
  const address = await way();
  const store = await open(address.port);
  await follower.command('REPLICAOF', 'NO', 'ONE');
  await server.command('REPLICAOF', '127.0.0.1', String(follower.port));
  address.leadTo(follower.port);
  await vi.waitFor(() => store.ping(), 300_000);
  expect(await store.commit(claim('a'))).toBe(true);
  expect(await follower.command('EXISTS', 'dailies:tasks::a')).toBe(1);
});

it('calls on a half-open connection time out, and nothing is written later', async () => {
  const clock = new ManualClock();
  const address = await way();
  const store = await open(address.port, clock);
  address.silence();
  const calls = [store.commit(claim('a')), store.keyv('tasks').get('b'), store.leases.take('l', 10_000), store.ping()];
  const outcomes = Promise.allSettled(calls);
  clock.advance(5_000);
  for (const outcome of await outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: UNAVAILABLE });
  // More than fits into the socket buffers; none of it is sent before the first call failed.
  const large = { revision: 1, filling: 'x'.repeat(1_000_000) };
  for (let count = 0; count < 20; count += 1) await failing(store.commit(claim(`late-${count}`, large)));
  address.speak('all');
  await vi.waitFor(() => store.ping(), 300_000);
  const late = Array.from({ length: 20 }, (_, count) => `late-${count}`);
  expect((await store.keyv('tasks').getMany(late)).filter((found) => found !== undefined)).toEqual([]);
});

it('recovers from connections that were accepted and never served', async () => {
  const clock = new ManualClock();
  const address = await way();
  const store = await open(address.port, clock);
  const before = address.connections;
  address.silence();
  const call = failing(store.ping());
  clock.advance(5_000);
  await call;
  await vi.waitFor(() => expect(address.connections).toBeGreaterThan(before), 300_000);
  address.speak('new');
  await vi.waitFor(() => store.ping(), 300_000);
  expect(await store.commit(claim('a'))).toBe(true);
});

it('detects a half-open connection by itself', async () => {
  const address = await way();
  const store = await open(address.port);
  address.silence();
  address.speak('new');
  await vi.waitFor(() => expect(said.map(({ event }) => event)).toContain('redis_reconnected'), 300_000);
  // The reason is worded for operators, not by the client library.
  expect(said[0]).toMatchObject({
    event: 'redis_unreachable',
    reason: 'Error: no answer within 5000 ms',
  });
  expect(await store.keyv('tasks').get('a')).toBeUndefined();
});
