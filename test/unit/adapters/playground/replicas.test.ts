import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { PlaygroundOptions } from '#adapters/playground/index.ts';
import { type Clock, systemClock } from '#src/clock.ts';
import { openRedisStore } from '#src/engine/store/redis/store.ts';
import type { Store } from '#src/engine/store/store.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { fakeClip } from '#test/fakes/clip.ts';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';
import { RedisServer } from '#test/fakes/redis-server.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import { doneView, taskView } from '#test/fakes/views.ts';

const ORIGIN = { platform: 'playground', team: 'playground', channel: 'general', address: {} };
const TASK = 'task-1' as TaskId;
const HOUR_MS = 3_600_000;

let redis: RedisServer;
let houses: PlaygroundHouse[];
const stores: Store[] = [];
const undo: (() => Promise<void>)[] = [];

beforeAll(async () => {
  redis = await RedisServer.start();
});

afterAll(() => redis.remove());

beforeEach(async () => {
  await redis.command('FLUSHALL');
  houses = [await replica(), await replica()];
});

afterEach(async () => {
  for (const one of undo.splice(0)) await one();
  for (const house of houses) await house.remove();
  for (const store of stores.splice(0)) await store.close();
});

async function replica(options: Partial<PlaygroundOptions> = {}): Promise<PlaygroundHouse> {
  const store = await openRedisStore(redis.url, { clock: systemClock, logger: pino({ level: 'silent' }) });
  stores.push(store);
  return PlaygroundHouse.start({ store, clock: systemClock, ...options });
}

const pair = (): readonly [PlaygroundHouse, PlaygroundHouse] => {
  const [one, other] = houses;
  if (one === undefined || other === undefined) throw new TypeError('there are no two replicas');
  return [one, other];
};
const entered = (id: string) => ({ id, user: 'ada', channel: 'general', text: '/video list' });
const originOf = (interaction: string) => ({ ...ORIGIN, user: { id: 'ada', name: 'ada' }, interaction });

/** Collects the events of a page of `user` until the test ends. */
async function watch(house: PlaygroundHouse, user = 'ada'): Promise<{ readonly text: string }> {
  const stop = new AbortController();
  const response = await fetch(`${house.url}/playground/events?user=${user}`, { signal: stop.signal });
  const seen = { text: '' };
  const decoder = new TextDecoder();
  const reading = (async () => {
    for await (const chunk of response.body ?? []) seen.text += decoder.decode(chunk);
  })().catch(() => undefined);
  undo.push(async () => {
    stop.abort();
    await reading;
  });
  await vi.waitFor(() => expect(seen.text).toContain('event: hello'), 300_000);
  return seen;
}

it('handles concurrent duplicates on both replicas once, with the same response', async () => {
  const [one, other] = pair();
  const times = 1_000;
  for (let at = 0; at < times; at += 50) {
    const round = Array.from({ length: 50 }, async (_, step) => {
      const body = entered(`i${at + step}`);
      const answers = await Promise.all([one.post('interactions', body), other.post('interactions', body)]);
      expect(answers[0]).toMatchObject({ status: 202, body: { message: expect.any(String) } });
      expect(answers[1]?.body).toEqual(answers[0]?.body);
    });
    await Promise.all(round);
  }
  expect(one.bot.heard.length + other.bot.heard.length).toBe(times);
  expect(await one.messages('general', '&limit=1000')).toHaveLength(times);
});

it('returns the first response for duplicate presses, reactions and forms', async () => {
  const [one, other] = pair();
  const { body } = await one.post('interactions', entered('i1'));
  const by = { user: 'ada', message: body.message };
  const interactions: readonly [string, object][] = [
    ['presses', { id: 'p1', ...by, button: 'cancel:1' }],
    ['reactions', { id: 'r1', ...by, emoji: '❌' }],
    ['forms', { id: 'f1', ...by, form: 'edit:1', values: {} }],
  ];
  for (const [what, body] of interactions) {
    const before = one.bot.heard.length + other.bot.heard.length;
    one.bot.reply = privately('Done.');
    // The bot would refuse the duplicate: the interaction is already handled.
    other.bot.reply = { kind: 'refused', sentence: 'That is done already.' };
    const answers = await Promise.all([one.post(what, body), other.post(what, body)]);
    expect(answers[1]).toMatchObject({ status: answers[0]?.status, body: answers[0]?.body });
    expect(one.bot.heard.length + other.bot.heard.length).toBe(before + 1);
  }
});

it('handles the request on the other replica after the first one failed', async () => {
  const [one, other] = pair();
  one.bot.reply = new Error('the disk is gone');
  other.bot.reply = privately('Yes.');
  const gate = Promise.withResolvers<void>();
  one.bot.gate = gate.promise;
  const first = one.post('interactions', entered('i1'));
  await vi.waitFor(() => expect(one.bot.heard).toHaveLength(1), 300_000);
  const second = other.post('interactions', entered('i1'));
  gate.resolve();
  expect((await first).status).toBe(500);
  expect((await second).status).toBe(202);
});

it('streams the events of the other replica to the users who may see them', async () => {
  const [one, other] = pair();
  const seen = await watch(other);
  const stranger = await watch(other, 'sam');
  const message = await one.platform.open(TASK, originOf('i1'), taskView({ task: TASK, progress: 10 }));
  await vi.waitFor(() => expect(seen.text).toContain('"progress":10'), 300_000);
  await one.platform.edit(message, originOf('i1'), taskView({ task: TASK, progress: 55 }), 'progress');
  await vi.waitFor(() => expect(seen.text).toContain('"progress":55'), 300_000);
  const { body } = await one.post('interactions', entered('i2'));
  await vi.waitFor(() => expect(seen.text).toContain(body.message), 300_000);
  await one.post('dismissals', { user: 'ada', message: body.message });
  await vi.waitFor(() => expect(seen.text).toContain('event: gone'), 300_000);
  await one.platform.edit(message, originOf('i1'), doneView({ task: TASK }), 'final');
  await vi.waitFor(() => expect(stranger.text).toContain('"state":"completed"'), 300_000);
  expect(stranger.text).not.toContain(body.message);
});

it('makes pages reload after an outage of Redis', async () => {
  const [, other] = pair();
  const seen = await watch(other);
  const hellos = () => seen.text.match(/event: hello/g)?.length ?? 0;
  await redis.kill();
  await redis.restart();
  await vi.waitFor(() => expect(hellos()).toBeGreaterThan(1), 300_000);
});

it('keeps messages in order despite clock skew between replicas', async () => {
  const ahead: Clock = { ...systemClock, now: () => systemClock.now() + HOUR_MS };
  houses.push(await replica({ clock: ahead }));
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  for (const [at, name] of names.entries()) {
    const house = houses[at % houses.length] as PlaygroundHouse;
    house.bot.reply = privately(name);
    await house.post('interactions', entered(name));
  }
  for (const house of houses) expect((await house.messages()).map(({ text }) => text).join('')).toBe(names.join(''));
});

it('ignores a late progress edit after the final one', async () => {
  const [one, other] = pair();
  const message = await one.platform.open(TASK, originOf('i1'), taskView({ task: TASK }));
  await one.platform.edit(message, originOf('i1'), doneView({ task: TASK }), 'final');
  await other.platform.edit(message, originOf('i1'), taskView({ task: TASK, progress: 80 }), 'progress');
  expect((await other.messages())[0]?.state).toBe('completed');
});

it('serves a clip that another replica attached, fetched once', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'dailies-clip-'));
  undo.push(() => rm(directory, { recursive: true }));
  const path = join(directory, 'clip.mp4');
  await writeFile(path, fakeClip(9_000));
  const clip = { path, bytes: 9_000, contentType: 'video/mp4' };
  const clipOf = vi.fn(async (task: TaskId) => (task === TASK ? clip : null));
  const third = await replica({ clipOf });
  houses.push(third);
  const [one, other] = pair();
  const message = await one.platform.open(TASK, originOf('i1'), taskView({ task: TASK }));
  const upload = { ...clip, name: 'fox.mp4', description: 'a fox' };
  await one.platform.attach(message, originOf('i1'), doneView({ task: TASK }), upload);
  const [shown] = await other.messages();
  const url = shown?.attachments[0]?.url ?? '';
  const fetched = await Promise.all(
    Array.from({ length: 5 }, async () => Buffer.from(await (await fetch(third.url + url)).arrayBuffer())),
  );
  for (const bytes of fetched) expect(bytes).toEqual(fakeClip(9_000));
  expect(clipOf.mock.calls).toEqual([[TASK]]);
  // 404 if no replica has it.
  expect((await other.get(url)).status).toBe(404);
});
