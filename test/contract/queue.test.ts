import { pino } from 'pino';
import { systemClock } from '#src/clock.ts';
import { openBullmqQueue } from '#src/engine/queue/bullmq/queue.ts';
import { MemoryQueue } from '#src/engine/queue/memory/queue.ts';
import { queueNamesOf } from '#src/engine/queue/queue.ts';
import { RedisServer } from '#test/fakes/redis-server.ts';
import { CONCURRENCY, describeQueue, PLATFORMS } from './queue.contract.ts';

const common = { clock: systemClock, logger: pino({ level: 'silent' }), concurrency: CONCURRENCY };

describeQueue('the work queue of one process', async () => ({
  open: async (limits = {}) => {
    const queue = new MemoryQueue({ ...common, limits });
    return queue;
  },
  remove: () => Promise.resolve(),
}));

describeQueue('the work queue on Redis', async () => {
  const server = await RedisServer.start();
  return {
    open: (limits = {}) => openBullmqQueue({ ...common, url: server.url, limits, names: queueNamesOf(PLATFORMS) }),
    remove: () => server.remove(),
  };
});
