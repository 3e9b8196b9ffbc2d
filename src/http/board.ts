import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import basicAuth from '@fastify/basic-auth';
import type { Queue } from 'bullmq';
import type { FastifyInstance } from 'fastify';
import { bearerOf, isSameSecret } from './secrets.ts';
import type { WrongTokens } from './wrong-tokens.ts';

const PATH = '/board';

/** What lets the page work, and nothing from elsewhere into it: it asks for fonts of another host, and does without. */
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

/** What the board shows, and to whom. */
export interface BoardOptions {
  readonly queues: readonly Queue[];
  /** Asked for as the password (of any user name), or as a bearer token. */
  readonly token: string;
  /** Notes wrong passwords and delays the answer to them. */
  readonly wrongTokens: Pick<WrongTokens, 'note'>;
}

/**
 * Serves bull-board at `/board`: where each task's job is, and when it is due. It only shows: what a job may do is
 * decided by the task's record, and what is planned by the bot.
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
        if (request.method === 'GET' || request.method === 'HEAD') return;
        await reply.code(405).header('allow', 'GET, HEAD').send({ error: 'The board only shows.' });
      });
      await board.register(pages.registerPlugin());
    },
    { prefix: PATH },
  );
}
