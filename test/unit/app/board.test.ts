import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveBoard } from '#src/app/board.ts';
import { systemClock } from '#src/clock.ts';
import { openBullmqQueue, type SharedWorkQueue } from '#src/engine/queue/bullmq/queue.ts';
import { queueNamesOf } from '#src/engine/queue/queue.ts';
import { createHttpServer } from '#src/http/server.ts';
import { RedisServer } from '#test/fakes/redis-server.ts';

const TOKEN = 'a password of operators';
const logger = pino({ level: 'silent' });

let redis: RedisServer;
let queue: SharedWorkQueue;
let noted = 0;
const wrongTokens = {
  note: async (): Promise<void> => {
    noted += 1;
  },
};
const http = createHttpServer(logger);

beforeAll(async () => {
  redis = await RedisServer.start();
  const concurrency = { send: 1, poll: 1, fetch: 1, deliver: 1, notify: 1, join: 1, frame: 1 };
  const names = queueNamesOf(['fake']);
  queue = await openBullmqQueue({ url: redis.url, clock: systemClock, logger, concurrency, names });
  await serveBoard(http, { queues: queue.queues(), token: TOKEN, wrongTokens });
  await queue.ensure({ queue: 'poll', ids: ['some-task'], atMs: Date.now() + 3_600_000 });
});

afterAll(async () => {
  await http.close();
  await queue.close();
  await redis.remove();
});

const basic = (user: string, password: string): string => `Basic ${btoa(`${user}:${password}`)}`;

/** All routes of the dashboard, reading and writing. */
const ROUTES = [
  ['GET', '/board'],
  ['GET', '/board/queue/poll'],
  ['GET', '/board/api/queues'],
  ['GET', '/board/api/redis/stats'],
  ['GET', '/board/static/js/main.js'],
  ['PUT', '/board/api/queues/poll/pause'],
  ['POST', '/board/api/queues/poll/add'],
] as const;

describe('the dashboard', () => {
  it.each(ROUTES)('requires the password for %s %s', async (method, url) => {
    for (const authorization of [
      undefined,
      basic('ops', 'wrong'),
      basic(TOKEN, ''),
      'Bearer wrong',
      `Digest ${TOKEN}`,
    ]) {
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await http.inject({ method, url, headers });
      expect(answer.statusCode).toBe(401);
      expect(answer.headers['www-authenticate']).toContain('Basic realm="Dailies"');
      expect(answer.body).not.toContain('poll');
    }
  });

  it('counts a wrong password, but not a right or a missing one', async () => {
    const asks = async (authorization?: string): Promise<number> => {
      const before = noted;
      await http.inject({ url: '/board', headers: authorization === undefined ? {} : { authorization } });
      return noted - before;
    };
    expect(await asks()).toBe(0);
    expect(await asks(basic('ops', TOKEN))).toBe(0);
    expect(await asks(basic('ops', 'wrong'))).toBe(1);
    expect(await asks('Bearer wrong')).toBe(1);
  });

  it.each([basic('any user', TOKEN), `Bearer ${TOKEN}`])(
    'shows every queue of this process to %s',
    async (authorization) => {
      const page = await http.inject({ url: '/board', headers: { authorization } });
      expect(page.statusCode).toBe(200);
      expect(page.headers['content-security-policy']).toContain("default-src 'none'");
      const asset = /src="(static\/js\/main\.\w+\.js)"/.exec(page.body)?.[1];
      expect((await http.inject({ url: `/board/${asset}`, headers: { authorization } })).statusCode).toBe(200);
      const { queues } = (await http.inject({ url: '/board/api/queues', headers: { authorization } })).json<{
        queues: { name: string; readOnlyMode: boolean; counts: { delayed: number } }[];
      }>();
      expect(queues.map(({ name }) => name).toSorted()).toEqual([
        'deliver.fake',
        'fetch',
        'frame',
        'join',
        'notify.fake',
        'poll',
        'send',
      ]);
      expect(queues.every(({ readOnlyMode }) => readOnlyMode)).toBe(true);
      expect(queues.find(({ name }) => name === 'poll')?.counts.delayed).toBe(1);
      const redisStats = await http.inject({ url: '/board/api/redis/stats', headers: { authorization } });
      expect(redisStats.body).not.toMatch(/version|memory/);
    },
  );

  it.each([
    ['PUT', '/board/api/queues/pause'],
    ['PUT', '/board/api/queues/poll/pause'],
    ['PUT', '/board/api/queues/poll/empty'],
    ['PUT', '/board/api/queues/poll/promote'],
    ['PUT', '/board/api/queues/poll/t-some-task/promote'],
    ['PUT', '/board/api/queues/poll/t-some-task/clean'],
    ['PUT', '/board/api/queues/poll/obliterate'],
    ['POST', '/board/api/queues/poll/add'],
    ['PATCH', '/board/api/queues/poll/t-some-task/update-data'],
    ['DELETE', '/board/api/queues/poll'],
  ] as const)('changes nothing: %s %s', async (method, url) => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const answer = await http.inject({ method, url, headers, payload: '{}' });
    expect([404, 405]).toContain(answer.statusCode);
    expect(await queue.stats('poll')).toMatchObject({ planned: 1 });
    expect(await queue.queues()[0]?.isPaused()).toBe(false);
  });
});
