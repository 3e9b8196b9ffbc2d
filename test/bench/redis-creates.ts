/** Overhead of Dailies per create on Redis, through BullMQ, with Redis's configured durability. */
import { RedisServer } from '#test/fakes/redis-server.ts';
import { type Figure, report } from './figure.ts';
import { startUpstream } from './house.ts';
import { AT_ONCE, measureCreates } from './ordering.ts';

const MOST_MS = 3;

const upstream = await startUpstream();
const figures: Figure[] = [];
for (const fsync of ['always', 'everysec']) {
  const redis = await RedisServer.start('--appendfsync', fsync);
  const { bareMs, oursMs, bareRate, ourRate } = await measureCreates({ baseUrl: upstream.baseUrl, url: redis.url });
  await redis.remove();
  const addedMs = oursMs - bareMs;
  figures.push(
    {
      what: `added to one create on Redis, median (appendfsync ${fsync})`,
      measured: `${addedMs.toFixed(2)} ms`,
      target: 'at most 3 ms',
      isMet: addedMs <= MOST_MS,
      remark: `bare undici POST ${bareMs.toFixed(2)} ms, with Dailies ${oursMs.toFixed(2)} ms; Redis on the same two cores`,
    },
    {
      what: `creates on Redis, ${AT_ONCE} at a time (appendfsync ${fsync})`,
      measured: `${Math.round(ourRate)}/s`,
      target: '',
      isMet: null,
      remark: `bare undici loop ${Math.round(bareRate)}/s`,
    },
  );
}
report(figures);
upstream.stop();
