import { createHmac } from 'node:crypto';
import type { App, ReceiverEvent } from '@slack/bolt';
import fastify, { type FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHttpReceiver } from '#adapters/slack/transport/http.ts';
import { overloaded } from '#src/errors.ts';

const SECRET = 'a signing secret of this test';
let http: FastifyInstance;
let url: string;
let take: (event: ReceiverEvent) => Promise<void>;

beforeEach(async () => {
  take = (event) => event.ack();
  http = fastify({ forceCloseConnections: true });
  const logger = pino({ level: 'silent' });
  const receiver = createHttpReceiver({
    http,
    logger,
    signingSecret: SECRET,
    isOpen: () => true,
    nowMs: () => Date.now(),
  });
  receiver.init({ processEvent: (event: ReceiverEvent) => take(event) } as App);
  url = await http.listen({ host: '127.0.0.1', port: 0 });
});

afterEach(() => http.close());

/** Sends a request with Slack's signature. */
async function send(body: string, type = 'application/json'): Promise<number> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', SECRET).update(`v0:${timestamp}:${body}`).digest('hex');
  const answer = await fetch(`${url}/slack/events`, {
    method: 'POST',
    headers: {
      'content-type': type,
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': `v0=${signature}`,
    },
    body,
  });
  await answer.body?.cancel();
  return answer.status;
}

const EVENT = { type: 'event_callback', event_id: 'Ev1' };

it('responds with 503 under overload, so that Slack retries', async () => {
  take = () => Promise.reject(overloaded('taking a request of Slack'));
  expect(await send(JSON.stringify(EVENT))).toBe(503);
  take = () => Promise.reject(new Error('a bug'));
  expect(await send(JSON.stringify(EVENT))).toBe(500);
  take = (event) => event.ack();
  expect(await send(JSON.stringify(EVENT))).toBe(200);
});

it('rejects bodies over a megabyte, signed or not', async () => {
  expect(await send(JSON.stringify({ ...EVENT, text: 'x'.repeat(1_100_000) }))).toBe(413);
});

it.each(['null', '"text"', '7', '[]', ' null', ''])(
  'rejects the signed body %j, which is not an object, before Bolt parses it',
  async (body) => {
    expect(await send(body)).toBe(400);
  },
);

it.each(['payload=null', 'payload=7', 'payload=%5B%5D'])('rejects the signed form %s', async (body) => {
  expect(await send(body, 'application/x-www-form-urlencoded')).toBe(400);
});

it('accepts forms with and without a payload, and rejects one that Bolt parses as JSON', async () => {
  const form = 'application/x-www-form-urlencoded';
  expect(await send('command=%2Fvideo&text=a+fox', form)).toBe(200);
  expect(await send(`payload=${encodeURIComponent(JSON.stringify({ type: 'block_actions' }))}`, form)).toBe(200);
  expect(await send('ssl_check=1&payload=%7B%7D', form)).toBe(200);
  // Bolt parses this as JSON.
  expect(await send('null', `${form}; charset=utf-8`)).toBe(400);
});
