import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { ReplicaWatch } from '#src/engine/store/redis/replicas.ts';
import { LOOK_EVERY_MS } from '#src/engine/store/redis/writer.ts';
import type { Change, Store } from '#src/engine/store/store.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { openRedis, serveRedis } from '#test/fakes/redis-house.ts';
import type { RedisServer } from '#test/fakes/redis-server.ts';
import { deferred } from '#test/fakes/settle.ts';
import { SilentWay } from '#test/fakes/silent-way.ts';
import { StoreChild } from '#test/fakes/store-child.ts';

const TOP = join(import.meta.dirname, '../../../../..');
const UNCONFIRMED = {
  code: 'store_unavailable',
  retryable: true,
  message: expect.stringContaining('no replica confirms what Redis takes'),
};

const said: string[] = [];
const logger = pino({ base: null, timestamp: false }, { write: (line: string) => void said.push(line) });

afterEach(() => {
  said.length = 0;
});

/**
 * Repeats a write until a replica confirms it: WAIT lasts a second, and beside other work a replica may take longer,
 * which the store reports as retryable.
 */
function confirmed<T>(write: () => Promise<T>): Promise<T> {
  return vi.waitFor(write, 300_000);
}

/** Commits a claim, under a new key for each attempt: one that no replica confirmed may have been written all the same. */
function committed(store: Store, key: string): Promise<string> {
  let attempts = 0;
  return confirmed(async () => {
    const tried = `${key}-${++attempts}`;
    expect(await store.commit(claim(tried))).toBe(true);
    return tried;
  });
}

function claim(key: string): Change {
  return {
    records: [{ namespace: 'tasks', key, value: { revision: 1 }, expected: 'absent' }],
    index: [{ index: 'open', member: key, score: 1 }],
  };
}

describe('a Redis with a replica', () => {
  let primary: RedisServer;
  let replica: RedisServer;

  beforeEach(async () => {
    primary = await serveRedis();
    replica = await primary.replica();
    onTestFinished(() => replica.remove());
  });

  function open(): Promise<Store> {
    return openRedis(primary.url, { clock: systemClock, logger });
  }

  it('has every acknowledged claim on the replica when the primary is killed', async () => {
    const way = await SilentWay.start(primary.port);
    onTestFinished(() => way.remove());
    await replica.command('REPLICAOF', '127.0.0.1', String(way.port));
    await vi.waitFor(async () => expect(await primary.command('WAIT', '1', '100')).toBe(1), 300_000);
    const child = await StoreChild.start(primary.url, 'write');
    // The output of the child begins with the log of its start.
    await child.saying(500);
    // From now on writes reach the primary only; treating them as safe would let the child continue.
    way.silence();
    await child.saying(child.lines.length + 500).catch(() => undefined);
    await Promise.all([primary.kill(), child.kill()]);
    const claims = child.lines.filter((line) => /^\d+-\d+$/.test(line));
    expect(claims.length).toBeGreaterThan(400);
    await replica.command('REPLICAOF', 'NO', 'ONE');
    const found = await replica.command('MGET', ...claims.map((id) => `dailies:tasks::${id}`));
    expect(claims.filter((_, at) => !(found as readonly unknown[])[at])).toEqual([]);
  });

  it('rejects claims while the replica is frozen, logs it once, and recovers afterwards', async () => {
    const store = await open();
    replica.pause();
    await expect(store.commit(claim('unknown'))).rejects.toMatchObject(UNCONFIRMED);
    await expect(store.commit(claim('late'))).rejects.toMatchObject(UNCONFIRMED);
    await expect(store.ping()).rejects.toMatchObject(UNCONFIRMED);
    // Reads are not blocked by it.
    expect(await store.keyv('tasks').get('late')).toBeUndefined();
    replica.resume();
    await confirmed(() => store.ping());
    // The first one was written, the others were not even attempted.
    expect(await store.commit(claim('unknown'))).toBe(false);
    expect(await store.commit(claim('late'))).toBe(true);
    expect(said.filter((line) => line.includes('redis_writes_rejected'))).toHaveLength(1);
    expect(said.filter((line) => line.includes('redis_writes_accepted'))).toHaveLength(1);
  });

  it('rejects claims once the replica is gone, even from a new process, until one is attached again', async () => {
    const store = await open();
    await replica.kill();
    await expect(store.commit(claim('a'))).rejects.toMatchObject(UNCONFIRMED);
    const another = await open();
    await expect(another.commit(claim('b'))).rejects.toMatchObject(UNCONFIRMED);
    // A write that could not be confirmed is not attempted.
    expect(await another.keyv('tasks').get('b')).toBeUndefined();
    await expect(another.ping()).rejects.toMatchObject(UNCONFIRMED);
    expect(said.join('')).toContain('redis_replica_missing');
    await replica.restart();
    await committed(another, 'b');
    await committed(store, 'c');
  });

  it('stays required after a failover', async () => {
    await open();
    await vi.waitFor(
      async () => expect(await replica.command('GET', 'dailies:replica-confirmation')).toBe('required'),
      300_000,
    );
    await primary.kill();
    await replica.command('REPLICAOF', 'NO', 'ONE');
    const store = await openRedis(replica.url, { clock: systemClock, logger });
    await expect(store.commit(claim('a'))).rejects.toMatchObject(UNCONFIRMED);
  });

  it('can be waived by an operator only, and is required again once one is attached', async () => {
    const clock = new ManualClock();
    const store = await openRedis(primary.url, { clock, logger });
    expect(await doctor(primary)).toMatchObject({ code: 1, stderr: expect.stringContaining('1 replica(s) connected') });
    await replica.kill();
    await expect(store.commit(claim('a'))).rejects.toMatchObject(UNCONFIRMED);
    // A Redis that lost all data does not waive the requirement.
    await primary.command('FLUSHALL');
    await expect(store.commit(claim('a'))).rejects.toMatchObject(UNCONFIRMED);
    expect(await doctor(primary)).toMatchObject({ code: 0, stdout: expect.stringContaining('without a replica') });
    const { entries } = await new AuditTrail(store, clock).page('deployment', { offset: 0, limit: 5 });
    expect(entries.map(({ surface, by, after }) => ({ surface, by, after }))).toEqual([
      { surface: 'command_line', by: null, after: [{ kind: 'text', text: 'waived' }] },
    ]);
    clock.advance(LOOK_EVERY_MS);
    await committed(store, 'b');
    await replica.restart();
    await vi.waitFor(async () => expect(await primary.command('WAIT', '1', '100')).toBe(1), 300_000);
    const before = await waits(primary);
    await confirmed(() => store.ping());
    expect(await waits(primary)).toBeGreaterThan(before);
    expect(await primary.command('GET', 'dailies:replica-confirmation')).toBe('required');
  });

  it('waits once for many concurrent claims', async () => {
    const store = await open();
    const before = await waits(primary);
    await Promise.all(Array.from({ length: 500 }, (_, at) => confirmed(() => store.commit(claim(`id-${at}`)))));
    expect((await waits(primary)) - before).toBeGreaterThan(0);
    expect((await waits(primary)) - before).toBeLessThan(50);
  });
});

describe('a Redis without a replica', () => {
  it('gets one probe write for many concurrent pings', async () => {
    const server = await serveRedis();
    const store = await openRedis(server.url, { clock: systemClock, logger });
    const before = await calls(server, 'set');
    await Promise.all(Array.from({ length: 100 }, () => store.ping()));
    expect((await calls(server, 'set')) - before).toBeLessThan(20);
  });

  it.each(['the readiness probe', 'the periodic check'])('is not waited for until %s finds one', async (who) => {
    const server = await serveRedis();
    const clock = new ManualClock();
    const store = await openRedis(server.url, { clock, logger });
    await store.commit(claim('a'));
    expect(await waits(server)).toBe(0);
    const replica = await server.replica();
    onTestFinished(() => replica.remove());
    const before = await waits(server);
    if (who === 'the periodic check') clock.advance(LOOK_EVERY_MS);
    else await confirmed(() => store.ping());
    await vi.waitFor(() => expect(said.join('')).toContain('redis_replica_required'), 300_000);
    const key = await committed(store, 'b');
    expect((await waits(server)) - before).toBeGreaterThan(0);
    expect(await replica.command('EXISTS', `dailies:tasks::${key}`)).toBe(1);
  });
});

describe('the watch', () => {
  const asked = [deferred<number>(), deferred<number>(), deferred<number>()];
  const redis = {
    socketEpoch: 1,
    info: async () => 'role:master\r\nslave0:ip=10.0.0.2,port=6379,state=online,offset=1,lag=0\r\n',
    wait: vi.fn(),
    get: async () => 'required',
    set: async () => 'OK',
  };
  let watch: ReplicaWatch;

  beforeEach(async () => {
    redis.socketEpoch = 1;
    redis.wait.mockReset();
    for (const place of asked.keys()) {
      asked[place] = deferred();
      redis.wait.mockReturnValueOnce(asked[place].promise);
    }
    watch = new ReplicaWatch(redis, logger);
    await watch.look();
  });

  it('sends one more WAIT for all writes made during the first one', async () => {
    const first = watch.confirm(1);
    await vi.waitFor(() => expect(redis.wait).toHaveBeenCalledTimes(1), 300_000);
    const others = Promise.all([watch.confirm(1), watch.confirm(1)]);
    asked[0]?.resolve(1);
    await first;
    await vi.waitFor(() => expect(redis.wait).toHaveBeenCalledTimes(2), 300_000);
    asked[1]?.resolve(1);
    await others;
    expect(redis.wait).toHaveBeenCalledTimes(2);
  });

  it('does not treat a WAIT on a new connection as a confirmation of earlier writes', async () => {
    const early = watch.confirm(1);
    redis.socketEpoch = 2;
    const late = watch.confirm(2);
    asked[0]?.resolve(1);
    await expect(early).rejects.toThrow('the connection broke');
    await late;
  });

  it('checks for replicas once per connection', async () => {
    const info = vi.spyOn(redis, 'info');
    expect(await watch.known()).toBe(1);
    expect(info).not.toHaveBeenCalled();
    redis.socketEpoch = 2;
    expect([await watch.known(), await watch.known()]).toEqual([2, 2]);
    expect(info).toHaveBeenCalledTimes(1);
    info.mockRestore();
  });

  it('recovers from a failed WAIT', async () => {
    const failing = watch.confirm(1);
    asked[0]?.reject(new Error('closed'));
    await expect(failing).rejects.toThrow('closed');
    const next = watch.confirm(1);
    asked[1]?.resolve(1);
    await next;
  });
});

/** Runs `npm run doctor -- --forget-redis-replica` on a Redis. */
function doctor({
  url,
}: RedisServer): Promise<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }> {
  const args = ['--disable-warning=ExperimentalWarning', 'src/doctor.ts', '--forget-redis-replica'];
  const env = { ...process.env, STORE_URL: url };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env, cwd: TOP }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
}

/** Returns the number of WAIT commands that this Redis received. */
function waits(server: RedisServer): Promise<number> {
  return calls(server, 'wait');
}

async function calls(server: RedisServer, command: string): Promise<number> {
  const stats = String(await server.command('INFO', 'commandstats'));
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}
