import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { type BullmqQueueOptions, openBullmqQueue, type SharedWorkQueue } from '#src/engine/queue/bullmq/queue.ts';
import { queueNamesOf } from '#src/engine/queue/queue.ts';
import { RedisServer } from '#test/fakes/redis-server.ts';
import { SilentWay } from '#test/fakes/silent-way.ts';
import { CONCURRENCY, PLATFORMS, Replica } from './queue.contract.ts';

const HOUR_MS = 3_600_000;

let server: RedisServer;
let begun: string[];
let logged: { level: number; msg: string; reason?: string }[];
const open: SharedWorkQueue[] = [];

beforeEach(async () => {
  server = await RedisServer.start();
  [begun, logged] = [[], []];
});

afterEach(async () => {
  for (const queue of open.splice(0)) {
    await queue.drain(1_000);
    await queue.close();
  }
  await server.remove();
});

/** Opens a process's queue on the Redis of the test; `begun` collects the jobs that all of them started. */
async function replica(
  differing: Partial<BullmqQueueOptions> = {},
): Promise<Replica & { readonly queue: SharedWorkQueue }> {
  const logger = pino({ level: 'debug' }, { write: (line: string) => logged.push(JSON.parse(line)) });
  const common = { url: server.url, clock: systemClock, logger, concurrency: CONCURRENCY };
  const queue = await openBullmqQueue({ ...common, names: queueNamesOf(PLATFORMS), ...differing });
  open.push(queue);
  return new Replica(queue, begun) as Replica & { readonly queue: SharedWorkQueue };
}

/** Returns the log messages above debug level. */
function loggedMessages(): string[] {
  return logged.filter(({ level }) => level >= 30).map(({ msg }) => msg);
}

describe('replicas on one Redis', () => {
  it('run each job once, whichever replica scheduled it', async () => {
    const [one, other] = [await replica(), await replica()];
    const ids = Array.from({ length: 200 }, (_, at) => `t${at}`);
    for (const id of ids) {
      one.plan('send', id);
      other.plan('send', id);
    }
    one.start();
    other.start();
    await expect.poll(() => new Set(begun).size).toBe(ids.length);
    await Promise.all([one.idle('send'), other.idle('send')]);
    // Two replicas that schedule at the same time may run a job once more, but never concurrently.
    expect(new Set(begun)).toEqual(new Set(ids.map((id) => `send ${id}`)));
    expect(loggedMessages()).toEqual([]);
  });

  it('share schedules: one replaces a schedule of another', async () => {
    const [one, other] = [await replica(), await replica()];
    one.plan('poll', 'a', HOUR_MS);
    await expect.poll(() => other.queue.stats('poll')).toMatchObject({ planned: 1 });
    other.start().plan('poll', 'a', 20);
    await other.beginning(1);
    await one.idle('poll');
  });

  it.each([
    ['now', 0, HOUR_MS],
    ['in an hour', HOUR_MS, 0],
    ['now, without a follow-up of its own,', 0, null],
  ])('do not run a job twice at once: a schedule for %s waits, and the earlier one wins', async (_, inMs, answer) => {
    const [one, other] = [await replica(), await replica()];
    one.start({ poll: one.byHand }).plan('poll', 'a');
    await one.beginning(1);
    const asked = other.start({ poll: other.byHand }).plan('poll', 'a', inMs).plan('fetch', 'b');
    await asked.beginning(1);
    expect(begun.filter((step) => step === 'poll a')).toHaveLength(1);
    one.end('a', answer);
    await expect.poll(() => begun.filter((step) => step === 'poll a')).toHaveLength(2);
    for (const each of [one, other]) each.end('a');
    // A schedule for later stays if its replica only looked while one of the two runs was under way.
    await expect
      .poll(() => other.queue.stats('poll'))
      .toMatchObject(inMs > 0 ? { running: 0 } : { planned: 0, running: 0 });
    expect(begun.filter((step) => step === 'poll a')).toHaveLength(2);
  });

  it('do not run a job a third time that ends while another replica schedules it', async () => {
    const [one, other] = [await replica(), await replica()];
    const bull = other.queue.queues().find(({ name }) => name === 'poll');
    if (bull === undefined) throw new TypeError('there is no such queue');
    const add = bull.add.bind(bull);
    // Whatever is added arrives after the first run has ended.
    bull.add = async (...args) => {
      await expect.poll(async () => (await bull.getJob('t-a'))?.isActive()).not.toBe(true);
      return add(...args);
    };
    one.start({ poll: one.byHand }).plan('poll', 'a');
    await one.beginning(1);
    await other.start({ poll: other.byHand }).plan('poll', 'a').plan('fetch', 'b').beginning(1);
    const runs = (): number => begun.filter((step) => step === 'poll a').length;
    one.end('a');
    await expect.poll(runs).toBe(2);
    for (const each of [one, other]) each.end('a');
    // Its schedule is complete once it counts as missing.
    const missing = { queue: 'poll', ids: ['a'], atMs: Date.now() + HOUR_MS } as const;
    await expect.poll(async () => (await other.queue.ensure(missing)) === 1 || runs() > 2).toBe(true);
    expect(runs()).toBe(2);
  });

  it('pause a queue for all replicas', async () => {
    const [one, other] = [await replica(), (await replica()).start()];
    one.queue.pause('poll', HOUR_MS);
    one.plan('poll', 'held').plan('send', 'free', 50);
    await other.beginning(1);
    await expect.poll(() => other.queue.stats('poll')).toMatchObject({ planned: 1, running: 0 });
    expect(begun).toEqual(['send free']);
  });

  it('pause a queue for the longest time requested by any replica', async () => {
    const [one, other] = [await replica(), await replica()];
    const polls = one.queue.queues().find(({ name }) => name.endsWith('poll'));
    const heldForMs = async (): Promise<number> => (await polls?.getRateLimitTtl(1)) ?? 0;
    one.queue.pause('poll', 20_000);
    await expect.poll(heldForMs).toBeGreaterThan(0);
    other.queue.pause('poll', 100);
    await other.queue.close();
    expect(await heldForMs()).toBeGreaterThan(5_000);
    one.queue.pause('poll', HOUR_MS);
    await expect.poll(heldForMs).toBeGreaterThan(60_000);
  });

  it('pause a queue for the longest time requested, even with concurrent requests', async () => {
    const replicas = await Promise.all(Array.from({ length: 5 }, () => replica()));
    for (const lane of queueNamesOf(PLATFORMS)) {
      for (const [at, { queue }] of replicas.entries()) queue.pause(lane, (5 - at) * HOUR_MS);
    }
    await Promise.all(replicas.map(({ queue }) => queue.close()));
    for (const queue of (await replica()).queue.queues()) {
      expect(await queue.getRateLimitTtl(1)).toBeGreaterThan(4.5 * HOUR_MS);
    }
  });

  it('pause a queue for all replicas once Redis accepts it', async () => {
    const [one, other] = [await replica(), await replica()];
    const polls = other.queue.queues().find(({ name }) => name.endsWith('poll'));
    await server.command('CONFIG', 'SET', 'maxmemory', '1');
    one.queue.pause('poll', HOUR_MS);
    await expect.poll(() => loggedMessages()).toHaveLength(1);
    await server.command('CONFIG', 'SET', 'maxmemory', '0');
    await expect.poll(() => polls?.getRateLimitTtl(1)).toBeGreaterThan(60_000);
  });

  it('keep to a pause of their own that Redis has lost', async () => {
    const one = await replica();
    const polls = one.queue.queues().find(({ name }) => name.endsWith('poll'));
    one.queue.pause('poll', HOUR_MS);
    await expect.poll(() => polls?.getRateLimitTtl(1)).toBeGreaterThan(0);
    await server.command('DEL', 'dailies:work:poll:limiter');
    one.start().plan('poll', 'held').plan('send', 'free', 50);
    await one.beginning(1);
    await expect.poll(() => one.queue.stats('poll')).toMatchObject({ planned: 1, running: 0 });
    expect(begun).toEqual(['send free']);
  });

  it('keep to a rate limit that did not exist when a queue was paused', async () => {
    const without = await replica();
    const polls = without.queue.queues().find(({ name }) => name.endsWith('poll'));
    without.queue.pause('poll', 1);
    await expect.poll(() => polls?.getGlobalRateLimit()).not.toBeNull();
    const limited = await replica({ limits: { poll: { max: 1, perMs: HOUR_MS } } });
    limited.start().plan('poll', 'a');
    await limited.beginning(1);
    limited.plan('poll', 'b').plan('send', 'c', 300);
    await limited.beginning(2);
    expect(begun).toEqual(['poll a', 'send c']);
  });

  it('take jobs of a platform only where it is enabled', async () => {
    const [with_, without] = [await replica(), await replica({ names: queueNamesOf([]) })];
    without.start().plan('deliver:fake', 'a').plan('send', 'b', 300);
    await without.beginning(1);
    expect(begun).toEqual(['send b']);
    with_.start();
    await with_.beginning(2);
    expect(begun.at(-1)).toBe('deliver a');
  });

  it('find lost jobs once, whichever replica looks', async () => {
    const [one, other] = [await replica(), await replica()];
    const ids = Array.from({ length: 2_500 }, (_, at) => `t${at}`);
    one.plan('poll', 't7', HOUR_MS);
    await expect.poll(() => one.queue.stats('poll')).toMatchObject({ planned: 1 });
    expect(await one.queue.ensure({ queue: 'poll', ids, atMs: Date.now() + HOUR_MS })).toBe(2_499);
    expect(await other.queue.ensure({ queue: 'poll', ids, atMs: Date.now() + HOUR_MS })).toBe(0);
  });

  it('add lost jobs a few hundred at a time, which a slow Redis answers within the timeout', async () => {
    const one = await replica();
    const polls = one.queue.queues().find(({ name }) => name.endsWith('poll'));
    if (polls === undefined) throw new TypeError('there is no queue of polls');
    const add = polls.add.bind(polls);
    let [open, most] = [0, 0];
    vi.spyOn(polls, 'add').mockImplementation((...given) => {
      open += 1;
      most = Math.max(most, open);
      return add(...given).finally(() => (open -= 1));
    });
    const ids = Array.from({ length: 1_000 }, (_, at) => `t${at}`);
    expect(await one.queue.ensure({ queue: 'poll', ids, atMs: Date.now() + HOUR_MS })).toBe(1_000);
    expect(most).toBeLessThanOrEqual(250);
  });
});

describe('a replica that shuts down', () => {
  it('hands back aborted and unstarted jobs at once', async () => {
    const [one, other] = [await replica(), await replica()];
    const brokenOff = (_: string, signal: AbortSignal): Promise<never> =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('broken off')));
      });
    one.start({ poll: brokenOff }).plan('poll', 'a').plan('poll', 'b').plan('poll', 'c');
    await one.beginning(2);
    other.start();
    await other.beginning(3);
    expect(await one.queue.drain()).toBe(true);
    await other.beginning(5);
    expect(begun.toSorted()).toEqual(['poll a', 'poll a', 'poll b', 'poll b', 'poll c']);
    await other.idle('poll');
    expect(loggedMessages()).toEqual([]);
  });

  it('keeps follow-up jobs, and jobs that are scheduled during the shutdown', async () => {
    const [one, other] = [await replica(), await replica()];
    one.start({ send: one.byHand }).plan('send', 'a');
    await one.beginning(1);
    const drained = one.queue.drain();
    one.plan('poll', 'b');
    one.end('a', 10);
    expect(await drained).toBe(true);
    other.start();
    await other.beginning(3);
    expect(begun.toSorted()).toEqual(['poll b', 'send a', 'send a']);
  });
});

describe('a replica that is killed', () => {
  it('loses its jobs to another one', async () => {
    const program = fileURLToPath(new URL('../fakes/queue-process.ts', import.meta.url));
    const child = spawn(process.execPath, [program, server.url], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines: string[] = [];
    const one = await replica();
    one.plan('send', 'a');
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      if (lines.includes('a')) break;
    }
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    one.start();
    await one.beginning(1);
    expect(begun).toEqual(['send a']);
    await one.idle('send');
  });
});

describe('a Redis that goes down and comes back', () => {
  it('is awaited: scheduled and running jobs continue, refused ones are found again, logged once', async () => {
    const one = await replica();
    one.start({ poll: one.byHand }).plan('poll', 'running');
    await one.beginning(1);
    one.plan('poll', 'planned', 5_500).plan('fetch', 'soon', 5_000);
    await expect.poll(() => one.queue.stats('poll')).toMatchObject({ planned: 1, running: 1 });
    await server.kill();
    await expect.poll(() => loggedMessages()).toHaveLength(1);
    one.plan('send', 'refused');
    await expect(one.queue.ensure({ queue: 'send', ids: ['a'], atMs: 0 })).rejects.toMatchObject({
      code: 'store_unavailable',
      retryable: true,
    });
    await expect(one.queue.stats('send')).rejects.toMatchObject({ code: 'store_unavailable' });
    one.end('running', 0);
    await server.restart();
    await expect.poll(() => begun.toSorted()).toEqual(['fetch soon', 'poll planned', 'poll running', 'poll running']);
    expect(await one.queue.ensure({ queue: 'send', ids: ['refused'], atMs: Date.now() })).toBe(1);
    await expect.poll(() => begun).toContain('send refused');
    expect(loggedMessages()).toEqual([
      'Redis does not serve the work queue, due jobs are delayed',
      'Redis serves the work queue again',
    ]);
    for (const id of ['running', 'planned']) one.end(id);
    await one.idle('poll');
  });

  it('is awaited even if it goes down while the queues are starting', async () => {
    const address = await SilentWay.start(server.port);
    onTestFinished(() => address.remove());
    const one = await replica({ url: `redis://127.0.0.1:${address.port}` });
    const before = address.connections;
    address.silence();
    one.start();
    await expect.poll(() => address.connections).toBe(before + queueNamesOf(PLATFORMS).length);
    address.cut();
    address.speak('new');
    const ids = queueNamesOf(PLATFORMS);
    const planned = () => Promise.all(ids.map((queue) => one.queue.ensure({ queue, ids: ['a'], atMs: 0 })));
    await vi.waitFor(planned, 300_000);
    await expect.poll(() => new Set(begun).size).toBe(ids.length);
  });

  it('is logged as full once, regardless of the number of calls, and is used again once it is not', async () => {
    const one = await replica();
    one.start().plan('send', 'before');
    await one.beginning(1);
    await server.command('CONFIG', 'SET', 'maxmemory', '1');
    one.plan('send', 'refused').plan('poll', 'refused');
    await expect.poll(() => loggedMessages()).toHaveLength(1);
    await server.command('CONFIG', 'SET', 'maxmemory', '0');
    await one.queue.ensure({ queue: 'send', ids: ['refused'], atMs: Date.now() });
    await expect.poll(() => begun).toContain('send refused');
    expect(loggedMessages()).toEqual([
      'Redis does not serve the work queue, due jobs are delayed',
      'Redis serves the work queue again',
    ]);
  });

  it('is abandoned once it is a replica: the address is followed to the new primary, logged once', async () => {
    const follower = await server.replica();
    onTestFinished(() => follower.remove());
    const address = await SilentWay.start(server.port);
    onTestFinished(() => address.remove());
    const one = await replica({ url: `redis://127.0.0.1:${address.port}` });
    one.start({ poll: one.byHand }).plan('poll', 'running').plan('poll', 'planned', HOUR_MS);
    await one.beginning(1);
    const jobs = ['dailies:work:poll:t-running:lock', 'dailies:work:poll:t-planned'];
    await expect.poll(() => follower.command('EXISTS', ...jobs)).toBe(2);
    await follower.command('REPLICAOF', 'NO', 'ONE');
    await server.command('REPLICAOF', '127.0.0.1', String(follower.port));
    // For a while the name still resolves to the old one.
    for (const id of ['refused', 'refused too']) {
      const before = address.connections;
      await expect(one.queue.ensure({ queue: 'send', ids: [id], atMs: 0 })).rejects.toMatchObject({ retryable: true });
      await expect.poll(() => address.connections).toBeGreaterThan(before);
    }
    expect(logged.find(({ level }) => level === 40)?.reason).toContain('this Redis is a replica');
    // A connection that breaks, and leads to the old one again, ends nothing.
    const earlier = address.connections;
    address.cut();
    await expect.poll(() => address.connections).toBeGreaterThan(earlier);
    const refused = () =>
      one.queue.ensure({ queue: 'send', ids: ['refused'], atMs: 0 }).catch((thrown) => String(thrown));
    await expect.poll(refused).toContain('this Redis is a replica');
    expect(loggedMessages()).toEqual(['Redis does not serve the work queue, due jobs are delayed']);
    address.leadTo(follower.port);
    const found = () => one.queue.ensure({ queue: 'send', ids: ['refused'], atMs: Date.now() }).catch(() => 0);
    await expect.poll(found).toBe(1);
    one.plan('poll', 'planned');
    const known = ['poll planned', 'poll running', 'send refused'];
    await expect.poll(() => begun.toSorted()).toEqual(known);
    one.end('running', 0);
    await one.beginning(4);
    expect(begun.at(-1)).toBe('poll running');
    expect(loggedMessages()).toEqual([
      'Redis does not serve the work queue, due jobs are delayed',
      'Redis serves the work queue again',
    ]);
    for (const id of ['running', 'planned']) one.end(id);
    await one.idle('poll');
  });
});
