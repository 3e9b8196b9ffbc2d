import { afterEach, beforeEach, expect, test } from 'vitest';
import { sendBytes } from '../fakes/clip.ts';
import { type Call, type FakeVideoService, startVideoService } from '../fakes/video-service.ts';
import { answered, makeDir, type RunningDailies, startDailies } from './dailies.ts';

let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let dailies: RunningDailies;

beforeEach(async () => {
  upstream = await startVideoService();
  dir = await makeDir();
  dailies = await startDailies({ dir: dir.path, upstream });
});

afterEach(async () => {
  await dailies.kill();
  await upstream.close();
  await dir.remove();
});

/** Kills the program at the first request to an endpoint, `instead` of responding or `after` writing the response. */
function killAt(endpoint: 'create' | 'retrieve' | 'content', when: 'instead' | 'after'): Promise<void> {
  const right = upstream.handlers[endpoint];
  const { promise, resolve } = Promise.withResolvers<void>();
  upstream.handlers[endpoint] = (call: Call) => {
    upstream.handlers[endpoint] = right;
    if (when === 'after') {
      call.response.once('finish', () => void dailies.kill().then(resolve));
      right(call);
    } else {
      void dailies.kill().then(resolve);
    }
  };
  return promise;
}

/** Requests a clip while the program is killed, and restarts it. @returns the id of the clip's message. */
async function askAndBeKilled(killed: Promise<void>): Promise<string> {
  const ask = () => dailies.interact('/video create a red fox', { id: 'same' });
  // The kill may come before the response to the user; the client then retries.
  const first = ask().catch(() => null);
  await killed;
  await first;
  await restart();
  return answered(await ask());
}

async function restart(): Promise<void> {
  dailies = await startDailies({ dir: dir.path, upstream });
}

/** Expects one create at the service, one message with one clip, one mention; and no more after another restart. */
async function expectOneOfEach(message: string): Promise<void> {
  await dailies.reaches(message, 'completed');
  const replies = async () => (await dailies.messages()).filter(({ replyTo }) => replyTo === message);
  await expect.poll(replies).toHaveLength(1);
  await dailies.kill();
  await restart();
  expect(await replies()).toHaveLength(1);
  expect((await dailies.message(message)).attachments).toHaveLength(1);
  expect((await dailies.messages()).filter(({ task }) => task !== null)).toHaveLength(1);
  expect({ posts: upstream.posts, creates: upstream.creates }).toEqual({ posts: 1, creates: 1 });
}

test('killed while the POST is in flight: uncertain after the restart, never resent', async () => {
  const message = await askAndBeKilled(killAt('create', 'instead'));
  const shown = await dailies.reaches(message, 'uncertain');
  expect(shown.text).toContain('won’t send it again on my own');
  expect(upstream.posts).toBe(1);
});

test('killed when the response to the POST is written: polled or uncertain, never resent', async () => {
  const message = await askAndBeKilled(killAt('create', 'after'));
  await expect.poll(async () => (await dailies.message(message)).state).toMatch(/^(uncertain|completed)$/);
  expect(upstream.posts).toBe(1);
});

test.each([
  ['while it polls', 'retrieve', 'instead'],
  ['after the response to a poll', 'retrieve', 'after'],
  ['while the clip is requested', 'content', 'instead'],
  ['after the clip was sent', 'content', 'after'],
] as const)('killed %s: same task, same message, one clip', async (_when, endpoint, when) => {
  const message = await askAndBeKilled(killAt(endpoint, when));
  await expectOneOfEach(message);
});

test('killed in the middle of the download: fetches the rest', async () => {
  const right = upstream.handlers.content;
  const { promise: killed, resolve } = Promise.withResolvers<void>();
  upstream.handlers.content = (call) => {
    upstream.handlers.content = right;
    sendBytes(call, upstream.clip, { breakAfter: 100_000 });
    call.response.socket?.once('close', () => void dailies.kill().then(resolve));
  };
  await expectOneOfEach(await askAndBeKilled(killed));
});

test('killed repeatedly while clips are delivered: none lost, none duplicated', async () => {
  const wanted = 12;
  const messages: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    for (let count = 0; count < wanted / 4; count += 1) {
      messages.push(answered(await dailies.interact(`/video create fox ${round} ${count}`)));
    }
    // Kills at the first complete message: others are then anywhere between download and notification.
    await expect
      .poll(async () => (await dailies.message(messages.at(-1) ?? '')).state, { interval: 5 })
      .toBe('completed');
    await dailies.kill();
    await restart();
  }
  for (const message of messages) await dailies.reaches(message, 'completed');
  const replies = async () =>
    (await dailies.messages()).filter(({ replyTo }) => replyTo !== null).map(({ replyTo }) => replyTo);
  await expect.poll(async () => (await replies()).length).toBe(wanted);
  expect(new Set(await replies())).toEqual(new Set(messages));
  expect(upstream.posts).toBe(wanted);
});

test('SIGTERM while a POST is in flight: waits for the response and stores it', async () => {
  const right = upstream.handlers.create;
  const { promise: out, resolve } = Promise.withResolvers<() => void>();
  upstream.handlers.create = (call) => resolve(() => right(call));
  const message = answered(await dailies.interact('/video create a red fox'));
  const answer = await out;
  const stopped = dailies.stop();
  answer();
  expect(await stopped).toBe(0);
  upstream.handlers.create = right;
  await restart();
  await expectOneOfEach(message);
});
