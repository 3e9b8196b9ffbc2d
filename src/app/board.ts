import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import basicAuth from '@fastify/basic-auth';
import type { Queue } from 'bullmq';
import type { FastifyInstance } from 'fastify';
import { bearerOf, isRead, isSameSecret, type WrongTokens } from '../http/index.ts';

const PATH = '/board';

/** Response headers. The policy allows no other hosts: the page requests fonts from one, and works without them. */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cache-control': 'no-cache',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

/** Options of {@link serveBoard}. */
interface BoardOptions {
  readonly queues: readonly Queue[];
  /** Required as the password (with any user name), or as a bearer token. */
  readonly token: string;
  /** Notes wrong passwords and delays the answer to them. */
  readonly wrongTokens: Pick<WrongTokens, 'note'>;
}

/**
 * Serves bull-board at `/board`: the queue of each task's job, and when it is due. Read-only: the task's record decides
 * what a job may do, and the bot schedules the jobs.
 */
export async function serveBoard(http: FastifyInstance, { queues, token, wrongTokens }: BoardOptions): Promise<void> {
  const pages = new FastifyAdapter().setBasePath(PATH);
  const adapters = queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true }));
  createBullBoard({
    queues: adapters,
    serverAdapter: pages,
    options: { uiConfig: { boardTitle: 'Dailies', hideRedisDetails: true } },
  });
  await http.register(
    async (board) => {
      await board.register(basicAuth, {
        authenticate: { realm: 'Dailies' },
        async validate(_user, password) {
          if (isSameSecret(password, token)) return;
          await wrongTokens.note();
          throw new Error('That is not the board’s password; it is in BOARD_TOKEN.');
        },
      });
      board.addHook('onRequest', async (_request, reply) => void reply.headers(HEADERS));
      board.addHook('onRequest', (request, reply, done) => {
        const bearer = bearerOf(request);
        if (isSameSecret(bearer, token)) done();
        else
          void (bearer === '' ? Promise.resolve() : wrongTokens.note()).then(() =>
            board.basicAuth(request, reply, done),
          );
      });
      board.addHook('onRequest', async (request, reply) => {
        if (isRead(request)) return;
        await reply.code(405).header('allow', 'GET, HEAD').send({ error: 'This dashboard is read-only.' });
      });
      await board.register(pages.registerPlugin());
    },
    { prefix: PATH },
  );
}
