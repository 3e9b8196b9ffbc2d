import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import type { PlannedDeed } from './deeds.ts';
import { taskOf, tasksOfOrder } from './due.ts';
import type { PlannedOrder } from './plan.ts';
import { drawPlan } from './plan.ts';
import type { Message } from './playground.ts';
import { Presses } from './presses.ts';
import type { Replica } from './replica.ts';

const [DRAWN] = drawPlan({ seed: 1, store: 'sqlite', replicas: 1, interactions: 1, faults: [] }).orders;
const ORDER = { ...DRAWN, ordered: 'takes', takes: 3, deeds: [] } as unknown as PlannedOrder;
const SET = taskOf(ORDER);
const [FIRST = '', SECOND = ''] = tasksOfOrder(ORDER);

const SAID = { channel: 'general', replyTo: null, text: '', asked: null, state: null, task: null, mentions: [] };

function message(id: string, buttons: readonly string[], visibleTo: string | null = ORDER.user): Message {
  return { ...SAID, id, visibleTo, attachments: [], buttons: buttons.map((button) => ({ id: button })) };
}

/** Card of the set, whose second take needs a decision, and the private replies to presses on it. */
function cardWith(...buttons: readonly string[]): Message {
  const tasks = [FIRST, SECOND].map((task, at) => ({ task, state: at === 1 ? 'uncertain' : 'polling' }));
  return { ...message('card', [...buttons, `details:set-${SET}`], null), tasks };
}

const REPLIES = new Map([
  [`details:set-${SET}`, message('whole', [`details:${FIRST}`, `details:${SECOND}`])],
  [`details:${SECOND}`, message('one', [`again:${SECOND}:1:0.20USD`, `leave:${SECOND}`])],
]);

/** Performs a deed on a replica that answers presses with {@link REPLIES}. @returns what was pressed, on which message */
async function pressesOf(planned: PlannedDeed, card: Message) {
  const posted: string[] = [];
  const shown = [card];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { message: on, button } = (await json(request)) as { message: string; button: string };
    posted.push(`${on} ${button}`);
    const reply = REPLIES.get(button);
    if (reply !== undefined) shown.push(reply);
    response.writeHead(202).end(JSON.stringify({ message: reply?.id ?? null }));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => void server.close());
  const replica = { isUp: true, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, index: 0 };
  const presses = new Presses({
    replicas: [replica as Replica],
    nowMs: () => 0,
    upstreamIdOf: () => undefined,
    messages: () => shown,
    ask: async () => undefined,
  });
  await presses.do(planned, card, ORDER);
  return { posted, pressed: presses.pressed };
}

const AGAIN: PlannedDeed = { when: 'uncertain', action: 'again', copies: 1, times: 1 };

test('decides on a take by the button of its card, and in its details', async () => {
  const { posted, pressed } = await pressesOf(AGAIN, cardWith(`details:${SECOND}`));
  expect(posted).toEqual([`card details:${SECOND}`, `one again:${SECOND}:1:0.20USD`]);
  expect(pressed).toMatchObject([
    { action: 'details', task: SECOND, message: 'one' },
    { action: 'again', task: SECOND, afterSends: 1 },
  ]);
});

test('reaches the details of a take by those of its set', async () => {
  const { posted } = await pressesOf({ ...AGAIN, action: 'leave' }, cardWith());
  expect(posted).toEqual([`card details:set-${SET}`, `whole details:${SECOND}`, `one leave:${SECOND}`]);
});

test('retries a take in its details instead of by a reaction, which is one to the whole card', async () => {
  REPLIES.set(`details:${FIRST}`, message('first', [`retry:${FIRST}:0.20USD`]));
  const states = [FIRST, SECOND].map((task, at) => ({ task, state: at === 0 ? 'completed' : 'polling' }));
  const { posted, pressed } = await pressesOf(
    { ...AGAIN, when: 'ended', action: '🔁' },
    { ...cardWith(), tasks: states },
  );
  expect(posted.at(-1)).toBe(`first retry:${FIRST}:0.20USD`);
  expect(pressed.at(-1)).toMatchObject({ action: 'retry', task: FIRST });
});

test('presses the button of the card itself once all of its takes have ended', async () => {
  const tasks = [FIRST, SECOND].map((task) => ({ task, state: 'completed' }));
  const card = { ...cardWith(`retry:set-${SET}:0.40USD`), tasks };
  const { posted } = await pressesOf({ ...AGAIN, when: 'ended', action: 'retry' }, card);
  expect(posted).toEqual([`card retry:set-${SET}:0.40USD`]);
});
