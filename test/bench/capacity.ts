/**
 * Capacity of the whole program on Redis: `node test/bench/capacity.ts REPLICAS TASKS`. Orders that many clips in the
 * playground across all replicas, has them polled at full speed, and then completed. Produces the figures of
 * docs/capacity.md. Not part of `npm run bench`: it takes minutes and all cores. On a machine under other load the
 * rates are too low; the processor time per command or poll is not affected.
 */
import { setTimeout as after } from 'node:timers/promises';
import { RedisServer } from '../fakes/redis-server.ts';
import { inFolder, startUpstream } from './house.ts';
import { type Program, startProgram } from './program.ts';

const [replicaCount = 1, taskCount = 5_000] = process.argv.slice(2).map(Number);
const SENDERS = 64;
/** Polls start once everything is ordered, and then run at full speed. */
const FIRST_POLL_MS = Math.max(20_000, taskCount * 4);
const POLLED_MS = 20_000;
const CPU = 'process_cpu_seconds_total';

const redis = await RedisServer.start('--maxmemory-policy', 'noeviction');

/** Returns Redis's current figures. */
async function figures(): Promise<{ readonly memory: number; readonly commands: number; readonly cpuSeconds: number }> {
  const info = String(await redis.command('INFO'));
  const figure = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);
  return {
    memory: figure('used_memory'),
    commands: figure('total_commands_processed'),
    cpuSeconds: figure('used_cpu_user') + figure('used_cpu_sys'),
  };
}

/** Returns a metric, summed over replicas and labels. */
async function total(programs: readonly Program[], name: string): Promise<number> {
  const pages = await Promise.all(programs.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()));
  const samples = pages.flatMap((page) =>
    page
      .split('\n')
      .filter((line) => line.startsWith(name))
      .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1))),
  );
  return samples.reduce((a, b) => a + b, 0);
}

async function untilTotal(programs: readonly Program[], name: string, least: number): Promise<number> {
  const beganAt = performance.now();
  while ((await total(programs, name)) < least) await after(100);
  return performance.now() - beganAt;
}

/** Enters all commands with limited concurrency. @returns the response time of each in milliseconds. */
async function enterAll(programs: readonly Program[], count: number): Promise<readonly number[]> {
  const took: number[] = [];
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < count) {
      const number = next++;
      const { url } = programs[number % programs.length] ?? { url: '' };
      const beganAt = performance.now();
      const answer = await fetch(`${url}/playground/interactions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          id: `c-${number}`,
          user: `user-${number % 100}`,
          channel: `channel-${number % 50}`,
          text: '/video create a red fox running through snow, cinematic, long lens, first light of the day',
        }),
      });
      if (answer.status !== 202) throw new Error(`command ${number}: ${answer.status} ${await answer.text()}`);
      took.push(performance.now() - beganAt);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  return took.toSorted((a, b) => a - b);
}

function say(what: string, value: number, unit: string, digits = 0): void {
  process.stdout.write(`${what.padEnd(52)} ${value.toLocaleString('en', { maximumFractionDigits: digits })} ${unit}\n`);
}

/** Starts the replicas of a bot on this Redis; `settings` are added to the common ones. */
async function startReplicas(
  folder: string,
  baseUrl: string,
  settings: Readonly<Record<string, string>>,
): Promise<readonly Program[]> {
  const common = { STORE_URL: redis.url, TASK_DEADLINE_MS: '2000000000', MAX_CONCURRENT_CREATES: '32' };
  const programs: Program[] = [];
  while (programs.length < replicaCount) {
    programs.push(await startProgram(folder, baseUrl, { ...common, ...settings }));
  }
  return programs;
}

/** Measures clips that never complete: ordering, then polling. */
async function inFlight(folder: string): Promise<void> {
  const upstream = await startUpstream();
  const programs = await startReplicas(folder, upstream.baseUrl, {
    POLL_FIRST_MS: String(FIRST_POLL_MS),
    POLL_MIN_MS: '10',
    POLL_MAX_MS: '10',
    MAX_CONCURRENT_POLLS: '128',
  });
  const beganAt = performance.now();
  const [before, cpuBefore] = [await figures(), await total(programs, CPU)];
  const took = await enterAll(programs, taskCount);
  const enteredMs = performance.now() - beganAt;
  await untilTotal(programs, 'dailies_creates_total{outcome="accepted"}', taskCount);
  const createdMs = performance.now() - beganAt;
  const [full, cpuFull] = [await figures(), await total(programs, CPU)];
  say('commands answered', taskCount / (enteredMs / 1_000), 'per second');
  say('answered, median', took[Math.floor(took.length / 2)] ?? 0, 'ms');
  say('answered, 99 %', took[Math.floor(took.length * 0.99)] ?? 0, 'ms');
  say('creates accepted and stored', taskCount / (createdMs / 1_000), 'per second');
  say('one create: processor time in replicas', ((cpuFull - cpuBefore) * 1_000) / taskCount, 'ms', 2);
  say('one create: processor time in Redis', ((full.cpuSeconds - before.cpuSeconds) * 1_000) / taskCount, 'ms', 2);
  say('one create: Redis commands', (full.commands - before.commands) / taskCount, '');
  say('memory in Redis of one task in flight', (full.memory - before.memory) / taskCount, 'bytes');

  await untilTotal(programs, 'dailies_polls_total{outcome="ok"}', 1_000);
  const polledBefore = await total(programs, 'dailies_polls_total');
  const [begun, cpuBegun] = [await figures(), await total(programs, CPU)];
  await after(POLLED_MS);
  const polled = (await total(programs, 'dailies_polls_total')) - polledBefore;
  const [now, cpuNow] = [await figures(), await total(programs, CPU)];
  say('polls', polled / (POLLED_MS / 1_000), 'per second');
  say('one poll: processor time in replicas', ((cpuNow - cpuBegun) * 1_000) / polled, 'ms', 3);
  say('one poll: processor time in Redis', ((now.cpuSeconds - begun.cpuSeconds) * 1_000) / polled, 'ms', 3);
  say('one poll: Redis commands', (now.commands - begun.commands) / polled, '', 1);
  say('resident in one replica', ((await programs[0]?.residentBytes()) ?? 0) / 1024 ** 2, 'MB');
  for (const { stop } of programs) stop();
  upstream.stop();
  await redis.command('FLUSHALL');
}

/** Measures clips that complete at the first poll: from the command to the clip in the chat. */
async function delivered(folder: string): Promise<void> {
  const upstream = await startUpstream([100_000]);
  const programs = await startReplicas(folder, upstream.baseUrl, { MAX_CONCURRENT_DELIVERIES: '16' });
  const beganAt = performance.now();
  const [before, cpuBefore] = [await figures(), await total(programs, CPU)];
  await enterAll(programs, taskCount);
  await untilTotal(programs, 'dailies_deliveries_total', taskCount);
  const [now, cpuNow] = [await figures(), await total(programs, CPU)];
  say('clips, from the command to the chat', taskCount / ((performance.now() - beganAt) / 1_000), 'per second');
  say('one clip: processor time in replicas', ((cpuNow - cpuBefore) * 1_000) / taskCount, 'ms', 2);
  say('one clip: processor time in Redis', ((now.cpuSeconds - before.cpuSeconds) * 1_000) / taskCount, 'ms', 2);
  say('memory in Redis of one task that is done', (now.memory - before.memory) / taskCount, 'bytes');
  for (const { stop } of programs) stop();
  upstream.stop();
}

say('replicas', replicaCount, '');
await inFolder(inFlight);
await inFolder(delivered);
await redis.remove();
