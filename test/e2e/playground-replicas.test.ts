import { type TestContext, test } from 'vitest';
import { keepRunning } from '../fakes/discord-program.ts';
import { type Answer, answered, buttonOf, type RunningDailies, type ShownMessage } from './dailies.ts';
import { Replicas } from './replicas.ts';

/** The leases of a dead replica have to expire before the others take over its work. */
const WITHIN = { timeout: 300_000, interval: 100 };
/** Timeout of a test on a busy machine, including the start of all processes. */
const TIMEOUT = { timeout: 600_000 };
const INTERACTIONS = 30;

/** A test with its own replicas and Redis, so that the tests of this file can wait concurrently. */
const alongside = test.concurrent;

/** Starts two replicas on one Redis. */
async function begin({ onTestFinished }: TestContext) {
  const replicas = await Replicas.prepare();
  onTestFinished(() => replicas.remove());
  return { upstream: replicas.upstream, one: await replicas.start(), other: await replicas.start() };
}

function sameOf(answers: readonly Answer[]): string {
  const [first = '', ...others] = new Set(answers.map(answered));
  if (others.length > 0) throw new TypeError(`several messages answer: ${[first, ...others].join(', ')}`);
  return first;
}

const isDelivered = ({ state, attachments }: ShownMessage): boolean =>
  state === 'completed' && attachments.length === 1;

alongside(
  'every interaction reaches both replicas, every clip is created and shown once, and both serve all clips',
  TIMEOUT,
  async (context) => {
    const { expect } = context;
    const { upstream, one, other } = await begin(context);
    /** Sends the same interaction to both at once; both respond with the same message. */
    const enter = async (id: string): Promise<string> => {
      const both = [one, other].map((each) => each.interact(`/video create fox ${id}`, { id }));
      return sameOf(await Promise.all(both));
    };
    const ids = await Promise.all(Array.from({ length: INTERACTIONS }, (_, n) => enter(`i${n}`)));
    expect(new Set(ids).size).toBe(INTERACTIONS);
    for (const replica of [one, other]) {
      await expect.poll(async () => (await replica.messages()).filter(isDelivered).length, WITHIN).toBe(INTERACTIONS);
    }
    expect(upstream.posts).toBe(INTERACTIONS);
    const messages = await one.messages();
    // A clip's message, and one mention for each.
    await expect
      .poll(async () => (await one.messages()).filter(({ replyTo }) => replyTo !== null).length, WITHIN)
      .toBe(INTERACTIONS);
    expect((await other.messages()).map(({ id }) => id)).toEqual((await one.messages()).map(({ id }) => id));
    const urls = messages.flatMap(({ attachments }) => attachments.map(({ url }) => url));
    for (const replica of [one, other]) {
      for (const url of urls.slice(0, 10)) {
        const clip = await fetch(replica.url + url);
        expect(Buffer.from(await clip.arrayBuffer())).toEqual(upstream.clip);
      }
    }
    expect(upstream.posts).toBe(INTERACTIONS);
  },
);

alongside(
  'progress is visible live on both, and a button works on the replica that did not post it',
  TIMEOUT,
  async (context) => {
    const { expect } = context;
    const { upstream, one, other } = await begin(context);
    const letGo = keepRunning(upstream);
    const pages = await Promise.all([one, other].map(watch));
    const message = answered(await one.interact('/video create a red fox'));
    for (const page of pages) await expect.poll(() => page.text, WITHIN).toMatch(/"state":"polling".*"progress":33/);
    const cancel = buttonOf(await other.message(message), 'cancel');
    const presses = [one, other, other].map((each) => each.press(message, cancel, { id: 'p1' }));
    await Promise.all(presses);
    for (const page of pages) await expect.poll(() => page.text, WITHIN).toContain('"state":"cancelled"');
    letGo();
    const retry = buttonOf(await one.message(message), 'retry');
    const again = sameOf(await Promise.all([one, other].map((each) => each.press(message, retry, { id: 'p2' }))));
    await other.reaches(again, 'completed');
    expect(upstream.posts).toBe(2);
    await Promise.all(pages.map((page) => page.close()));
  },
);

alongside('one is killed midway: the other delivers everything, once', TIMEOUT, async (context) => {
  const { expect } = context;
  const { upstream, one, other } = await begin(context);
  const letGo = keepRunning(upstream);
  const ids = await Promise.all(
    Array.from({ length: 15 }, async (_, n) => answered(await one.interact(`/video create fox ${n}`))),
  );
  const running = async () => (await other.messages()).filter(({ state }) => state === 'polling').length;
  await expect.poll(running, WITHIN).toBe(ids.length);
  letGo();
  await expect.poll(async () => (await other.messages()).some(isDelivered), WITHIN).toBe(true);
  await one.kill();
  await expect.poll(async () => (await other.messages()).filter(isDelivered).length, WITHIN).toBe(ids.length);
  const mentions = async () => (await other.messages()).filter(({ replyTo }) => replyTo !== null);
  await expect.poll(async () => (await mentions()).length, WITHIN).toBe(ids.length);
  expect(new Set((await mentions()).map(({ replyTo }) => replyTo)).size).toBe(ids.length);
  expect(upstream.posts).toBe(ids.length);
  // The other replica serves the files that the dead one had on its disk.
  for (const { attachments } of (await other.messages()).filter(isDelivered)) {
    const clip = await fetch(`${other.url}${attachments[0]?.url ?? ''}`);
    expect(clip.status).toBe(200);
    await clip.arrayBuffer();
  }
});

/** Collects the live updates of an open page. */
async function watch({ url }: RunningDailies): Promise<{ text: string; close: () => Promise<void> }> {
  const stop = new AbortController();
  const response = await fetch(`${url}/playground/events?user=ana`, { signal: stop.signal });
  const page = { text: '', close: async () => {} };
  const decoder = new TextDecoder();
  const reading = (async () => {
    for await (const chunk of response.body ?? []) page.text += decoder.decode(chunk);
  })().catch(() => undefined);
  page.close = async () => {
    stop.abort();
    await reading;
  };
  return page;
}
