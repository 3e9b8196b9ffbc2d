import { describe, expect } from 'vitest';
import { sendBytes } from '#test/fakes/clip.ts';
import { DIALECTS } from '#test/fakes/dialects.ts';
import type { Call, FakeVideoService } from '#test/fakes/video-service.ts';
import { answered, buttonOf } from './dailies.ts';
import { test } from './fixtures.ts';

/** Delays the responses of an endpoint until the returned function is called. */
function pause(upstream: FakeVideoService, endpoint: 'create' | 'retrieve'): () => void {
  const right = upstream.handlers[endpoint];
  const held: Call[] = [];
  upstream.handlers[endpoint] = (call) => held.push(call);
  return () => {
    upstream.handlers[endpoint] = right;
    for (const call of held.splice(0)) right(call);
  };
}

test('delivers a clip in the message of its command, and mentions its requester once', async ({ upstream, start }) => {
  const dailies = await start();
  const message = answered(await dailies.interact('/video create a red fox running through snow --seconds 6'));
  const done = await dailies.reaches(message, 'completed');
  await expect.poll(async () => (await dailies.message(message)).attachments.length).toBe(1);
  const [clip] = (await dailies.message(message)).attachments;
  expect(clip).toMatchObject({ contentType: 'video/mp4', bytes: upstream.clip.length });
  expect(clip?.name).toMatch(/^red-fox-running-snow-[0-9a-z]{4}\.mp4$/);
  const bytes = await fetch(new URL(clip?.url ?? '', dailies.url)).then((response) => response.arrayBuffer());
  expect(Buffer.from(bytes).equals(upstream.clip)).toBe(true);
  const notices = async () => (await dailies.messages()).filter(({ replyTo }) => replyTo === message);
  await expect.poll(notices).toHaveLength(1);
  expect((await notices())[0]?.text).toContain('@ana');
  expect(done.text.split('\n')[0]).toContain('$0.30');
});

describe.each(Object.entries(DIALECTS))('a service that speaks %s', (_, dialect) => {
  test.override('service', { dialect });

  test("a clip, and a failure with the service's message", async ({ upstream, start }) => {
    const dailies = await start();
    const good = answered(await dailies.interact('/video create a fox'));
    expect((await dailies.reaches(good, 'completed')).task).not.toBeNull();
    await expect.poll(async () => (await dailies.message(good)).attachments.length).toBe(1);
    const right = upstream.handlers.retrieve;
    upstream.handlers.retrieve = (call) => {
      if (call.task !== undefined) {
        Object.assign(call.task, {
          status: 'failed',
          failure: { code: 'generation_failed', message: 'The fox ran away.' },
        });
      }
      right(call);
    };
    const bad = answered(await dailies.interact('/video create a fox'));
    expect((await dailies.reaches(bad, 'failed')).text).toContain('The fox ran away.');
  });
});

test('cancelled before it is sent: never sent', async ({ upstream, start }) => {
  const letGo = pause(upstream, 'create');
  const dailies = await start({ MAX_CONCURRENT_CREATES: '1' });
  answered(await dailies.interact('/video create the first'));
  const second = answered(await dailies.interact('/video create the second'));
  await dailies.press(second, buttonOf(await dailies.message(second), 'cancel'));
  const shown = await dailies.reaches(second, 'cancelled');
  expect(shown.text).toContain('You were not charged');
  letGo();
  await expect
    .poll(async () => (await dailies.messages()).filter(({ state }) => state === 'completed'))
    .toHaveLength(1);
  expect(upstream.posts).toBe(1);
});

test('cancelled after it was sent: polled silently, and the clip is offered', async ({ upstream, start }) => {
  const letGo = pause(upstream, 'retrieve');
  const dailies = await start();
  const message = answered(await dailies.interact('/video create a fox'));
  await dailies.reaches(message, 'polling');
  expect(
    (await dailies.press(message, buttonOf(await dailies.message(message), 'cancel'), { user: 'ben' })).status,
  ).toBe(400);
  // Nor from another channel, where any name has every right.
  const { task } = await dailies.message(message);
  const elsewhere = await dailies.interact(`/video cancel ${task}`, { channel: 'clips', user: 'ben' });
  expect(elsewhere.status).toBe(400);
  await dailies.react(message, '❌');
  expect((await dailies.reaches(message, 'cancelled')).text).toContain('can’t cancel');
  letGo();
  await expect
    .poll(async () => (await dailies.message(message)).buttons.map(({ id }) => id.split(':')[0]))
    .toContain('show');
  expect((await dailies.message(message)).attachments).toEqual([]);
  await dailies.press(message, buttonOf(await dailies.message(message), 'show'));
  await expect.poll(async () => (await dailies.message(message)).attachments.length).toBe(1);
  expect(upstream.posts).toBe(1);
});

test('notifies a subscribed channel once, and only about the right user', async ({ start }) => {
  const dailies = await start();
  answered(await dailies.interact('/video notify on', { channel: 'clips', user: 'ben' }));
  const message = answered(await dailies.interact('/video create a fox'));
  await dailies.reaches(message, 'completed');
  const notifications = async () =>
    (await dailies.messages('clips')).filter(({ visibleTo, text }) => visibleTo === null && text.includes('is ready'));
  await expect.poll(notifications).toHaveLength(1);
});

test('a prompt pings no user and is shown as typed', async ({ start }) => {
  const dailies = await start();
  const prompt = '@ben <b>bold</b> <!channel> [link](http://evil.example) **stars**';
  const message = answered(await dailies.interact(`/video create ${prompt}`));
  const done = await dailies.reaches(message, 'completed');
  expect(done.text).toContain(prompt);
});

test('keeps the clip when its download is delayed or breaks off', async ({ upstream, start }) => {
  let asked = 0;
  upstream.handlers.content = (call) => {
    asked += 1;
    if (asked === 1) call.refuse(409, 'not_ready', 'Not yet.');
    else sendBytes(call, upstream.clip, asked === 2 ? { breakAfter: 70_000 } : {});
  };
  const dailies = await start();
  const message = answered(await dailies.interact('/video create a fox'));
  await dailies.reaches(message, 'completed');
  await expect.poll(async () => (await dailies.message(message)).attachments[0]?.bytes).toBe(upstream.clip.length);
  expect(upstream.requests.some(({ headers }) => /^bytes=[1-9]\d*-$/.test(headers.range ?? ''))).toBe(true);
});

test('the token appears nowhere: not in the log, the store, the metrics or the chat', async ({ upstream, start }) => {
  const dailies = await start({ LOG_LEVEL: 'trace' });
  upstream.handlers.create = ({ refuse, request }) =>
    refuse(401, 'invalid_api_key', `${request.headers.authorization} is wrong`);
  const message = answered(await dailies.interact('/video create a fox'));
  const rejected = await dailies.reaches(message, 'rejected');
  const metrics = await fetch(`${dailies.url}/metrics`).then((response) => response.text());
  expect([rejected.text, metrics, dailies.output()].join('\n')).not.toContain(upstream.token);
});
