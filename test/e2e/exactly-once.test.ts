import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { acceptAndGatewayError, acceptAndHalfAnswer, acceptAndNeverAnswer, acceptAndReset } from '../fakes/faults.ts';
import { type FakeVideoService, type Handler, startVideoService } from '../fakes/video-service.ts';
import { answered, buttonOf, makeDir, type RunningDailies, startDailies } from './dailies.ts';

let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let dailies: RunningDailies;

beforeEach(async () => {
  upstream = await startVideoService();
  dir = await makeDir();
});

afterEach(async () => {
  await dailies.kill();
  await upstream.close();
  await dir.remove();
});

/** Expects two messages about a finished task: its own, and the one that mentions the requester. */
async function expectOneDelivery(message: string): Promise<void> {
  const shown = await dailies.reaches(message, 'completed');
  await expect
    .poll(async () => (await dailies.messages()).filter(({ replyTo }) => replyTo === message))
    .toHaveLength(1);
  expect((await dailies.message(message)).attachments).toHaveLength(1);
  expect(shown.task).not.toBeNull();
}

test('an interaction that is delivered 100 times at once leads to one create and one message', async () => {
  dailies = await startDailies({ dir: dir.path, upstream });
  const deliveries = Array.from({ length: 100 }, () => dailies.interact('/video create a red fox', { id: 'same' }));
  const answers = new Set((await Promise.all(deliveries)).map(answered));
  expect(answers.size).toBe(1);
  const [message = ''] = answers;
  await expectOneDelivery(message);
  expect(upstream.posts).toBe(1);
  expect((await dailies.messages()).filter(({ task }) => task !== null)).toHaveLength(1);
});

test('retry by two presses and a reaction creates one more task, and a press afterwards the next take', async () => {
  dailies = await startDailies({ dir: dir.path, upstream });
  const message = answered(await dailies.interact('/video create a red fox'));
  await expectOneDelivery(message);
  const retry = buttonOf(await dailies.message(message), 'retry');
  await Promise.all([dailies.press(message, retry), dailies.press(message, retry), dailies.react(message, '🔁')]);
  await expect
    .poll(() => dailies.messages().then((all) => all.filter(({ state }) => state === 'completed')))
    .toHaveLength(2);
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

  test.each(faults)('%s: reported as uncertain, and never resent automatically', async (_what, fault) => {
    upstream.handlers.create = fault;
    dailies = await startDailies({ dir: dir.path, upstream, env: { CREATE_TIMEOUT_MS: '500' } });
    const message = answered(await dailies.interact('/video create a red fox'));
    const uncertain = await dailies.reaches(message, 'uncertain');
    expect(uncertain.text).toContain('may charge $0.20');
    expect(uncertain.buttons.map(({ id }) => id.split(':')[0])).toEqual(
      expect.arrayContaining(['lookup', 'again', 'leave']),
    );
    await dailies.kill();
    dailies = await startDailies({ dir: dir.path, upstream });
    expect((await dailies.message(message)).state).toBe('uncertain');
    expect(upstream.posts).toBe(1);
  });

  test('resent by a user with a double press: one more POST, and the same message is reused', async () => {
    const right = upstream.handlers.create;
    upstream.handlers.create = acceptAndReset;
    dailies = await startDailies({ dir: dir.path, upstream });
    const message = answered(await dailies.interact('/video create a red fox'));
    const again = buttonOf(await dailies.reaches(message, 'uncertain'), 'again');
    upstream.handlers.create = right;
    await Promise.all([dailies.press(message, again), dailies.press(message, again)]);
    await dailies.reaches(message, 'completed');
    expect(upstream.posts).toBe(2);
    const usage = answered(await dailies.interact('/video usage'));
    expect((await dailies.message(usage)).text).toContain('$0.20');
  });

  test('found in the console by a user: polled from then on', async () => {
    upstream.handlers.create = acceptAndReset;
    dailies = await startDailies({ dir: dir.path, upstream });
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
    await expect.poll(async () => (await dailies.message(message)).attachments, { timeout: 60_000 }).toHaveLength(1);
    expect(upstream.posts).toBe(1);
  });
});
