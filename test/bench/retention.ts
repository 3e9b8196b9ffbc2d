/**
 * Retention over 10,000 clips, whose periods end: the space of the store, with SQLite and with Redis, and the time of a
 * sweep that removes the clips, of one that removes the prompts, and of one that finds nothing.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openStore } from '#src/engine/store/open.ts';
import { createLogger } from '#src/logger.ts';
import { afterDays, bytesOfDatabase, openLibrary } from '../fakes/expiring-library.ts';
import { ManualClock } from '../fakes/manual-clock.ts';
import { RedisServer } from '../fakes/redis-server.ts';
import { type Figure, report } from './figure.ts';
import { inFolder } from './house.ts';

const CLIPS = 10_000;
/** Most bytes in Redis that an expired clip may take. */
const MAX_BYTES = 1_100;

/** Adds up the memory of all keys, by `MEMORY USAGE`. */
const ALL_KEYS = `local used = 0
  for _, key in ipairs(redis.call('KEYS', '*')) do
    used = used + redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0')
  end
  return used`;

await inFolder(measure);

async function measure(folder: string): Promise<void> {
  const redis = await RedisServer.start('--appendfsync', 'no');
  try {
    const file = join(folder, 'store.db');
    const used = async (): Promise<number> => Number(await redis.command('EVAL', ALL_KEYS, '0'));
    report([
      ...(await figuresOf('SQLite', folder, { url: `sqlite:${file}`, space: () => bytesOfDatabase(file) })),
      ...(await figuresOf('Redis', folder, { url: redis.url, space: used })),
    ]);
  } finally {
    await redis.remove();
  }
}

interface StoreToMeasure {
  readonly url: string;
  /** Returns the bytes that the store takes, once it is closed. */
  readonly space: () => Promise<number>;
}

async function figuresOf(name: string, folder: string, { url, space }: StoreToMeasure): Promise<readonly Figure[]> {
  const own = join(folder, name);
  await mkdir(own);
  const clock = new ManualClock(afterDays(0));
  const logger = createLogger('error');
  /** Runs `use` on the library. @returns its time in seconds, and the bytes per clip afterwards. */
  const run = async (use: 'fill' | 'sweep'): Promise<{ readonly seconds: number; readonly bytes: number }> => {
    const store = await openStore(url, { logger });
    const library = await openLibrary(store, own, clock);
    const startedMs = performance.now();
    if (use === 'fill') await library.fill(CLIPS);
    else if (!(await library.sweep())) throw new TypeError('the sweep is not complete');
    const seconds = (performance.now() - startedMs) / 1_000;
    await store.close();
    return { seconds, bytes: await space() };
  };
  const empty = name === 'Redis' ? await space() : 0;
  const alive = await run('fill');
  clock.step(afterDays(30) - clock.now());
  const clips = await run('sweep');
  clock.step(afterDays(90) - clock.now());
  const prompts = await run('sweep');
  const nothing = await run('sweep');
  const perClip = (bytes: number): string => `${Math.round((bytes - empty) / CLIPS)} bytes`;
  const row = (what: string, measured: string, remark = ''): Figure => ({
    what: `retention, ${name}: ${what}`,
    measured,
    target: '',
    isMet: null,
    remark,
  });
  return [
    row('a clip that is kept', perClip(alive.bytes), 'with its indexes and the records of its message'),
    row('a clip that expired', perClip(clips.bytes), 'its prompt is kept'),
    {
      ...row('a clip whose prompt expired', perClip(prompts.bytes), 'kept for good: id, state, amounts'),
      ...(name === 'Redis'
        ? { target: 'at most 1,100 bytes', isMet: (prompts.bytes - empty) / CLIPS <= MAX_BYTES }
        : {}),
    },
    row('a sweep that removes 10,000 clips', `${clips.seconds.toFixed(1)} s`),
    row('a sweep that removes 10,000 prompts', `${prompts.seconds.toFixed(1)} s`),
    row('a sweep that finds nothing', `${nothing.seconds.toFixed(2)} s`),
  ];
}
