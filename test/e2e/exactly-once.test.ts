import { describe, expect } from 'vitest';
import {
  acceptAndGatewayError,
  acceptAndHalfAnswer,
  acceptAndNeverAnswer,
  acceptAndReset,
} from '#test/fakes/faults.ts';
import type { Handler } from '#test/fakes/video-service.ts';
import { answered, buttonOf, type RunningDailies } from './dailies.ts';
import { test } from './fixtures.ts';

/** Expects two messages about a finished task: its own, and the one that mentions the requester. */
async function expectOneDelivery(dailies: RunningDailies, message: string): Promise<void> {
  const shown = await dailies.reaches(message, 'completed');
  await expect
    .poll(async () => (await dailies.messages()).filter(({ replyTo }) => replyTo === message))
    .toHaveLength(1);
  expect((await dailies.message(message)).attachments).toHaveLength(1);
  expect(shown.task).not.toBeNull();
}

test('an interaction that is delivered 100 times at once leads to one create and one message', async ({
  upstream,
  start,
}) => {
  const dailies = await start();
  const deliveries = Array.from({ length: 100 }, () => dailies.interact('/video create a red fox', { id: 'same' }));
  const answers = new Set((await Promise.all(deliveries)).map(answered));
  expect(answers.size).toBe(1);
  const [message = ''] = answers;
  await expectOneDelivery(dailies, message);
  expect(upstream.posts).toBe(1);
  expect((await dailies.messages()).filter(({ task }) => task !== null)).toHaveLength(1);
});

test('retry by two presses and a reaction creates one more task, and a press afterwards the next take', async ({
  upstream,
  start,
}) => {
  const dailies = await start();
  const message = answered(await dailies.interact('/video create a red fox'));
  await expectOneDelivery(dailies, message);
  const retry = buttonOf(await dailies.message(message), 'retry');
  await Promise.all([dailies.press(message, retry), dailies.press(message, retry), dailies.react(message, '🔁')]);
  const finished = () => dailies.messages().then((all) => all.filter(({ state }) => state === 'completed'));
  await expect.poll(finished).toHaveLength(2);
  // It has ended once its requester was mentioned.
  const other = (await finished()).find(({ id }) => id !== message);
  await expectOneDelivery(dailies, other?.id ?? '');
  // The same reaction again counts no more.
  await dailies.react(message, '🔁');
  expect(upstream.posts).toBe(2);
  await dailies.press(message, retry, { id: 'next' });
  await expect.poll(() => upstream.posts).toBe(3);
  await dailies.press(message, retry, { id: 'next' });
  expect(upstream.posts).toBe(3);
});

describe('a service that accepts the create without confirming it', () => {
  const faults: readonly (readonly [string, Handler])[] = [
    ['never answers', acceptAndNeverAnswer],
    ['resets the connection', acceptAndReset],
    ['answers 502', acceptAndGatewayError(502)],
    ['sends half an answer', acceptAndHalfAnswer],
  ];

  test.for(faults)(
    '%s: reported as uncertain, and never resent automatically',
    async ([, fault], { upstream, start }) => {
      upstream.handlers.create = fault;
      let dailies = await start({ CREATE_TIMEOUT_MS: '500' });
      const message = answered(await dailies.interact('/video create a red fox'));
      const uncertain = await dailies.reaches(message, 'uncertain');
      expect(uncertain.text).toContain('may charge $0.20');
      expect(uncertain.buttons.map(({ id }) => id.split(':')[0])).toEqual(
        expect.arrayContaining(['lookup', 'again', 'leave']),
      );
      await dailies.kill();
      dailies = await start();
      expect((await dailies.message(message)).state).toBe('uncertain');
      expect(upstream.posts).toBe(1);
    },
  );

  test('resent by a user with a double press: one more POST, and the same message is reused', async ({
    upstream,
    start,
  }) => {
    const right = upstream.handlers.create;
    upstream.handlers.create = acceptAndReset;
    const dailies = await start();
    const message = answered(await dailies.interact('/video create a red fox'));
    const again = buttonOf(await dailies.reaches(message, 'uncertain'), 'again');
    upstream.handlers.create = right;
    await Promise.all([dailies.press(message, again), dailies.press(message, again)]);
    await dailies.reaches(message, 'completed');
    expect(upstream.posts).toBe(2);
    const usage = answered(await dailies.interact('/video usage'));
    expect((await dailies.message(usage)).text).toContain('$0.20');
  });

  test('found in the console by a user: polled from then on', async ({ upstream, start }) => {
    upstream.handlers.create = acceptAndReset;
    const dailies = await start();
    const message = answered(await dailies.interact('/video create a red fox'));
    const lookup = buttonOf(await dailies.reaches(message, 'uncertain'), 'lookup');
    const [id = ''] = upstream.tasks.keys();
    const { body } = await dailies.press(message, lookup);
    const sent = { user: 'ana', message, form: body.form?.id };
    const mistyped = { ...sent, id: 'mistyped', values: { id: `${id}-` } };
    await dailies.post('/playground/forms', mistyped);
    expect((await dailies.message(message)).state).toBe('uncertain');
    const found = { ...sent, id: 'found', values: { id } };
    expect(await dailies.post('/playground/forms', found)).toMatchObject({ status: 202 });
    await dailies.reaches(message, 'completed');
    await expect.poll(async () => (await dailies.message(message)).attachments).toHaveLength(1);
    expect(upstream.posts).toBe(1);
  });
});
