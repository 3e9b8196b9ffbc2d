/** Time until another replica repeats the job of a killed one, and delay of the job that was due next. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#src/clock.ts';
import { openBullmqQueue } from '#src/engine/queue/bullmq/queue.ts';
import { queueNamesOf } from '#src/engine/queue/queue.ts';
import { createLogger } from '#src/logger.ts';
import { RedisServer } from '#test/fakes/redis-server.ts';
import { report } from './figure.ts';
import { quantile } from './house.ts';

const ROUNDS = 5;
const MOST_SECONDS = 20;
/** Delay after the kill until the next poll is due, which no replica has in progress. */
const NEXT_MS = 3_000;

const redis = await RedisServer.start();
const program = fileURLToPath(new URL('../fakes/queue-process.ts', import.meta.url));

/** Starts a replica with a job that never ends, and waits until it runs. @returns a function that kills the replica. */
async function victim(): Promise<() => Promise<number>> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, redis.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) if (line === 'in hand') break;
  return async () => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    return performance.now();
  };
}

/** Kills a replica once. @returns the seconds until its job was repeated, and the delay of the job due next. */
async function round(): Promise<{ readonly takeover: number; readonly late: number }> {
  const queue = await openBullmqQueue({
    url: redis.url,
    clock: systemClock,
    logger: createLogger('error'),
    concurrency: { send: 1, poll: 1, fetch: 1, deliver: 1, notify: 1, join: 1, frame: 1 },
    names: queueNamesOf([]),
  });
  queue.schedule('poll', 'in hand', Date.now());
  const kill = await victim();
  const times = new Map<string, number>();
  const both = Promise.withResolvers<void>();
  const nothing = async (): Promise<null> => null;
  const poll = async (id: string): Promise<null> => {
    times.set(id, performance.now());
    if (times.size === 2) both.resolve();
    return null;
  };
  queue.start({
    send: nothing,
    poll,
    fetch: nothing,
    deliver: nothing,
    notify: nothing,
    join: nothing,
    frame: nothing,
  });
  const killedAt = await kill();
  queue.schedule('poll', 'next', Date.now() + NEXT_MS);
  await both.promise;
  await queue.drain();
  await queue.close();
  const since = (id: string): number => (times.get(id) ?? Number.NaN) - killedAt;
  return { takeover: since('in hand') / 1_000, late: (since('next') - NEXT_MS) / 1_000 };
}

const rounds: Awaited<ReturnType<typeof round>>[] = [];
for (let number = 0; number < ROUNDS; number += 1) rounds.push(await round());
const takeovers = rounds.map(({ takeover }) => takeover);
const longest = Math.max(...takeovers);
report([
  {
    what: 'a poll that a killed replica had in hand, until another replica repeats it',
    measured: `${quantile(takeovers, 0.5).toFixed(1)} s`,
    target: `at most ${MOST_SECONDS} s`,
    isMet: longest <= MOST_SECONDS,
    remark: `longest of ${ROUNDS}: ${longest.toFixed(1)} s; polls that it had not in hand were ${Math.max(...rounds.map(({ late }) => late)).toFixed(2)} s late at the most`,
  },
]);
await redis.remove();
