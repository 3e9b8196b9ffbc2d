/**
 * Polls per second through BullMQ with 20,000 tasks in flight, beside the in-process engine and a bare undici loop in
 * the same run; Redis commands per poll, and memory per open task.
 */
import { join } from 'node:path';
import { RedisServer } from '#test/fakes/redis-server.ts';
import { report } from './figure.ts';
import { fillWithOpenTasks, inFolder, quantile, startUpstream } from './house.ts';
import { AT_ONCE, bareRound, houseRound } from './rounds.ts';

const TASKS = 20_000;
const ROUNDS = 3;

const upstream = await startUpstream();
// A typical production setting: lost polls can be repeated.
const redis = await RedisServer.start('--appendfsync', 'everysec');

/** Returns a field of INFO. */
async function info(section: string, field: string): Promise<number> {
  const text = String(await redis.command('INFO', section));
  return Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(text)?.[1]);
}

/** Returns the calls of each command since the last call, including those inside scripts. */
async function commandsSince(): Promise<ReadonlyMap<string, number>> {
  const text = String(await redis.command('INFO', 'commandstats'));
  await redis.command('CONFIG', 'RESETSTAT');
  const rows = [...text.matchAll(/^cmdstat_([\w|]+):calls=(\d+)/gm)];
  return new Map(rows.map(([, name = '', calls]) => [name, Number(calls)]));
}

const inMemory = (): Promise<number> => info('memory', 'used_memory');

await inFolder(async (folder) => {
  const [local, shared] = [`sqlite:${join(folder, 'store.db')}`, redis.url];
  await fillWithOpenTasks(local, TASKS);
  const emptyBytes = await inMemory();
  await fillWithOpenTasks(shared, TASKS);
  const [bares, ours, theirs]: [number[], number[], number[]] = [[], [], []];
  let [commands, polls]: [ReadonlyMap<string, number>, number] = [new Map(), 0];
  await bareRound(upstream.baseUrl, TASKS);
  // By now the buffers of all these writes have been released.
  const recordBytes = await inMemory();
  for (let round = 0; round < ROUNDS; round += 1) {
    bares.push(await bareRound(upstream.baseUrl, TASKS));
    ours.push((await houseRound({ baseUrl: upstream.baseUrl, url: local })).rate);
    const counted = async (): Promise<void> => {
      commands = await commandsSince();
    };
    const shared20k = await houseRound({ baseUrl: upstream.baseUrl, url: shared }, counted);
    theirs.push(shared20k.rate);
    polls = shared20k.polls;
  }
  const jobBytes = await inMemory();
  const [bare, inProcess, bullmq] = [bares, ours, theirs].map((rates) => quantile(rates, 0.5));
  const all = [...commands.values()].reduce((sum, calls) => sum + calls, 0);
  const scripts = commands.get('evalsha') ?? 0;
  const perPoll = (calls: number): string => (calls / polls).toFixed(1);
  report([
    {
      what: `polls through BullMQ with ${TASKS.toLocaleString('en')} tasks in flight, one replica`,
      measured: `${Math.round(bullmq ?? 0)}/s`,
      target: '',
      isMet: null,
      remark: `in process on SQLite ${Math.round(inProcess ?? 0)}/s, bare undici loop ${Math.round(bare ?? 0)}/s; ${AT_ONCE} at once, Redis on the same two cores, median of ${ROUNDS} rounds in turn`,
    },
    {
      what: 'Redis commands of one poll',
      measured: perPoll(all),
      target: '',
      isMet: null,
      remark: `by INFO commandstats, those inside of scripts included; ${perPoll(scripts)} scripts, ${[...commands]
        .toSorted(([, a], [, b]) => b - a)
        .slice(0, 6)
        .map(([name, calls]) => `${name} ${perPoll(calls)}`)
        .join(', ')}`,
    },
    {
      what: 'memory in Redis of one open task',
      measured: `${((jobBytes - emptyBytes) / TASKS / 1024).toFixed(2)} KB`,
      target: '',
      isMet: null,
      remark: `record and indexes ${((recordBytes - emptyBytes) / TASKS / 1024).toFixed(2)} KB, its job ${((jobBytes - recordBytes) / TASKS / 1024).toFixed(2)} KB (used_memory, ${TASKS.toLocaleString('en')} tasks)`,
    },
  ]);
});
await redis.remove();
upstream.stop();
