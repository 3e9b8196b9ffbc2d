import { pino } from 'pino';
import { expect, it } from 'vitest';
import { Remover } from '#src/clips/remover.ts';
import { systemClock } from '#src/clock.ts';
import { REMOVALS } from '#src/tasks/indexes.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { ChatHouse } from '#test/fakes/chat-house.ts';
import { NO_CUTS } from '#test/fakes/no-cuts.ts';
import { openRedis, serveRedis } from '#test/fakes/redis-house.ts';
import type { RedisServer } from '#test/fakes/redis-server.ts';
import { TaskHouse } from '#test/fakes/task-house.ts';
import { EVENTS, orderOf } from '#test/fakes/tasks.ts';

/** Most bytes in Redis that an expired task may take, with its part of the indexes. */
const MAX_BYTES = 1_100;
/** Tasks per measurement: Redis stores an index of more than 128 entries in another form. */
const TASKS = 300;
const AT_ONCE = 20;

/** Returns a request as Discord sends it: ids of 19 digits, the interaction's token. */
function originOf(at: number): Origin {
  const id = (of: number): string => `${1_200_000_000_000_000_000n + BigInt(of)}`;
  return {
    platform: 'fake',
    team: id(1),
    channel: id(2),
    user: { id: id(3 + (at % 2)), name: 'Ada Lovelace' },
    interaction: id(1_000 + at),
    uploadLimitBytes: 10_485_760,
    audience: 'team',
    address: {
      access: 'bot',
      application: id(9),
      token: 'aW50ZXJhY3Rpb246MTI'.repeat(12),
      expiresAtMs: '1795219200000',
      guild: id(1),
      permissions: '2222085186636353',
    },
  };
}

it('takes at most 1,100 bytes per expired task', async () => {
  const redis = await serveRedis('--appendfsync', 'no');
  const logger = pino({ level: 'silent' });
  const store = await openRedis(redis.url, { clock: systemClock, logger });
  const tasks = new TaskHouse({ store, exclusive: false });
  const chat = new ChatHouse({ store });
  const remover = new Remover({
    cuts: NO_CUTS,
    store,
    repository: chat.repository,
    clips: { list: async () => new Map(), remove: async () => undefined },
    messages: chat.chat.retraction,
    audit: new AuditTrail(store, tasks.clock),
    clock: tasks.clock,
    logger,
  });

  const live = async (at: number): Promise<TaskId> => {
    const origin = originOf(at);
    const { request } = orderOf();
    const { task } = await tasks.submit({
      key: `fake:${origin.interaction}`,
      origin,
      request: {
        ...request,
        prompt: 'a red fox running through snow at dawn, cinematic '.repeat(5),
        aspectRatio: '16:9',
        resolution: '720p',
      },
    });
    await chat.chat.show(task.id);
    tasks.clock.advance(1_234);
    const upstreamId = `video_${`${at}`.padStart(48, '0')}` as UpstreamId;
    const clip = { path: `/data/clips/${task.id}.mp4`, bytes: 4_123_456, contentType: 'video/mp4' };
    for (const event of [
      EVENTS.send,
      { ...EVENTS.accepted, upstreamId },
      EVENTS.completed,
      { ...EVENTS.fetched, clip },
    ])
      expect(await chat.repository.record(task.id, event)).toMatchObject({ done: true });
    // The queue of the house is at it as well.
    while (!(await chat.record(task.id)).presented) {
      await chat.chat.deliver(task.id);
      await chat.chat.notify(task.id);
    }
    return task.id;
  };
  /** Creates and removes as many tasks again. @returns the memory of all keys. */
  const expire = async (from: number): Promise<number> => {
    for (let at = from; at < from + TASKS; at += AT_ONCE) {
      const some = Array.from({ length: AT_ONCE }, (_, more) => live(at + more));
      for (const id of await Promise.all(some)) await remover.remove({ id }, { reason: 'expired' });
    }
    expect(await store.count(REMOVALS)).toBe(0);
    return usedBytes(redis);
  };
  const [first, second] = [await expire(0), await expire(TASKS)];
  expect((second - first) / TASKS).toBeLessThanOrEqual(MAX_BYTES);
});

/** Returns the memory of all keys in bytes. */
async function usedBytes(redis: RedisServer): Promise<number> {
  const script = `local used = 0
    for _, key in ipairs(redis.call('KEYS', '*')) do
      used = used + redis.call('MEMORY', 'USAGE', key, 'SAMPLES', '0')
    end
    return used`;
  return (await redis.command('EVAL', script, '0')) as number;
}
