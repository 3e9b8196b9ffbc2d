import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { slackManifest } from '#adapters/slack/installation/manifest.ts';
import { createForm } from '#commands/input/forms.ts';
import { type Clock, systemClock } from '#src/clock.ts';
import { openRedisStore } from '#src/engine/store/redis/store.ts';
import type { Store } from '#src/engine/store/store.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { writeClip } from '#test/fakes/clip.ts';
import { RedisServer } from '#test/fakes/redis-server.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import { type FakeSlack, startSlack, type View } from '#test/fakes/slack/index.ts';
import { plainOf, SlackHouse, type SlackHouseOptions } from '#test/fakes/slack-house.ts';
import { doneView, endNotice, setView, taskView } from '#test/fakes/views.ts';

const FORM = createForm(parseCatalog(sandboxCatalog));
const TASK = 'task-1' as TaskId;
const WAITING = { timeout: 300_000, interval: 20 };
const MUCH = { perMinute: { 1: 10, 2: 10_000, 3: 10_000, 4: 10_000 }, messageBurst: 10_000 };

let redis: RedisServer;
let slack: FakeSlack;
/** Expected violation of a test. */
let tolerated: RegExp | null = null;
const houses: SlackHouse[] = [];
const stores: Store[] = [];

beforeAll(async () => {
  redis = await RedisServer.start();
});

afterAll(() => redis.remove());

beforeEach(async () => {
  await redis.command('FLUSHALL');
});

afterEach(async () => {
  for (const house of houses.splice(0)) await house.remove();
  for (const store of stores.splice(0)) await store.close();
  await slack.close();
  expect(slack.violations.filter((one) => tolerated?.test(one) !== true)).toEqual([]);
  tolerated = null;
});

/** A clock that simulates a paused process. */
class StoppedClock implements Clock {
  #stoppedMs = 0;

  now(): number {
    return systemClock.now();
  }

  after(delayMs: number, run: () => void) {
    return systemClock.after(delayMs, run);
  }

  monotonic(): number {
    return systemClock.monotonic() + this.#stoppedMs;
  }

  stop(ms: number): void {
    this.#stoppedMs += ms;
  }
}

async function begin(mode: 'socket' | 'http' | 'oauth', limits: SlackHouseOptions['limits'] = MUCH): Promise<void> {
  slack = await startSlack({
    manifest: slackManifest('https://dailies.example', mode === 'http' ? 'http' : 'socket'),
    limits,
  });
}

async function replica(options: SlackHouseOptions = {}): Promise<SlackHouse> {
  const { clock = systemClock } = options;
  const store = await openRedisStore(redis.url, { clock, logger: pino({ level: 'silent' }) });
  stores.push(store);
  const house = await SlackHouse.start({ slack, store, ...options });
  houses.push(house);
  return house;
}

async function two(mode: 'socket' | 'http' = 'socket'): Promise<readonly [SlackHouse, SlackHouse]> {
  await begin(mode);
  const pair = [await replica({ mode }), await replica({ mode })] as const;
  if (mode === 'http') await slack.useHttp(...pair.map(({ url }) => `${url}/slack/events`));
  return pair;
}

const heard = () => houses.flatMap(({ bot }) => bot.heard);
const originOf = (): Origin => ({
  platform: 'slack',
  team: slack.team.id,
  channel: slack.channels.general,
  user: { id: slack.users.alice, name: 'alice' },
  interaction: 'i1',
  address: {},
});
const everything = () => slack.messages(slack.channels.general).filter(({ visibleTo }) => visibleTo === null);
const open = (house: SlackHouse, task = TASK) => house.platform.open(task, originOf(), taskView({ task }));

describe('connections', () => {
  it('are two per replica and ten in total; a replica without one takes the next free slot', async () => {
    await begin('socket', { ...MUCH, perMinute: { ...MUCH.perMinute, 1: 100 } });
    for (let n = 0; n < 5; n += 1) await replica();
    expect(slack.socket.open).toBe(10);
    const sixth = await replica();
    expect(slack.socket.opened).toBe(10);
    expect(sixth.platform.notReady()).toBeNull();
    await houses[0]?.platform.stop();
    await expect.poll(() => slack.socket.open, WAITING).toBe(10);
    expect(slack.socket.opened).toBeGreaterThan(10);
    expect(houses.every((house, at) => at === 0 || house.platform.notReady() === null)).toBe(true);
  });

  it('are replaced one by one without a gap', async () => {
    await begin('socket');
    const house = await replica();
    const states: unknown[] = [];
    const looking = setInterval(() => states.push(house.platform.notReady()), 5);
    for (let n = 1; n <= 3; n += 1) {
      slack.disconnect(n === 2 ? 'warning' : 'refresh_requested', 1);
      await slack.until(() => slack.socket.open === 1, 'the end of one');
      slack.people.slash(`/video number ${n}`);
      await house.heard(({ what }) => what === `number ${n}`);
      await slack.until(() => slack.socket.open === 2, 'another one');
    }
    clearInterval(looking);
    expect(new Set(states)).toEqual(new Set([null]));
  });

  it('are closed after the acknowledgements, and release their slots', async () => {
    const [one] = await two();
    const gate = Promise.withResolvers<void>();
    one.bot.gate = gate.promise;
    const sent = Array.from({ length: 20 }, (_, n) => slack.people.slash(`/video fox ${n}`));
    await vi.waitFor(() => expect(one.bot.heard.length).toBeGreaterThan(0), 300_000);
    const stopping = one.platform.stop();
    gate.resolve();
    await stopping;
    expect(slack.socket.open).toBe(2);
    await expect.poll(() => heard().length, WAITING).toBe(sent.length);
    for (const envelope of sent) await slack.acknowledged(envelope);
    const held = (await redis.command('KEYS', 'dailies:lease:slack:socket:*')) as readonly string[];
    expect(held).toHaveLength(2);
  });
});

describe.each(['socket', 'http'] as const)('a request delivered several times (%s)', (mode) => {
  it('is handled under one key, once by each replica', async () => {
    await two(mode);
    const count = 200;
    for (let n = 0; n < count; n += 1) {
      const envelope = slack.people.slash(`/video fox ${n}`);
      // Three deliveries, so that each replica sometimes gets the first one.
      slack.redeliver(envelope);
      slack.redeliver(envelope);
    }
    await expect
      .poll(() => slack.envelopes.every(({ attempts }) => attempts.every(({ ackedMs }) => ackedMs !== null)), WAITING)
      .toBe(true);
    expect(new Set(heard().map(({ what }) => what)).size).toBe(count);
    expect(new Set(heard().map(({ caller }) => caller.interaction)).size).toBe(count);
    for (const { bot } of houses) {
      expect(bot.heard.length).toBeGreaterThan(0);
      expect(new Set(bot.heard.map(({ what }) => what)).size).toBe(bot.heard.length);
    }
  });

  it('gets the same response: a modal shows its errors, whichever replica responds first', async () => {
    const [one, other] = await two(mode);
    for (const { bot } of houses) bot.reply = FORM;
    slack.people.slash('/video');
    await slack.until(() => slack.forms.shown(slack.users.alice) !== null, 'a form');
    const view = slack.forms.shown(slack.users.alice) as View;
    const before = heard().length;
    const gate = Promise.withResolvers<void>();
    for (const { bot } of [one, other]) {
      bot.reply = { kind: 'refused', sentence: 'prompt: has to be kinder' };
      bot.gate = gate.promise;
    }
    const sent = slack.forms.submit(view, { prompt: 'a red fox' });
    slack.redeliver(sent);
    await expect.poll(() => heard().length, WAITING).toBeGreaterThan(before);
    gate.resolve();
    await expect.poll(() => sent.attempts.every(({ ackedMs }) => ackedMs !== null), WAITING).toBe(true);
    expect(slack.forms.shown(slack.users.alice)?.errors['prompt']).toContain('has to be kinder');
    for (const { bot } of houses) bot.reply = privately('Taken.');
    const count = heard().length;
    const again = slack.forms.submit(view, { prompt: 'a kind fox' });
    slack.redeliver(again);
    await expect.poll(() => slack.forms.shown(slack.users.alice), WAITING).toBeNull();
    await expect.poll(() => again.attempts.every(({ ackedMs }) => ackedMs !== null), WAITING).toBe(true);
    expect(heard().length).toBeGreaterThan(count);
    const last = houses
      .flatMap(({ bot }) => bot.heard.slice(-1))
      .filter(({ what }) => JSON.stringify(what).includes('kind fox'));
    expect(new Set(last.map(({ caller }) => caller.interaction)).size).toBe(1);
  });
});

describe('a message', () => {
  it('is posted once by concurrent replicas', async () => {
    const [one, other] = await two();
    const tasks = Array.from({ length: 8 }, (_, n) => `task-${n}` as TaskId);
    const refs = await Promise.all(tasks.map((task) => Promise.all([open(one, task), open(other, task)])));
    for (const [first, second] of refs) expect(second).toEqual(first);
    expect(everything()).toHaveLength(tasks.length);
  });

  it('is throttled across all replicas, so that Slack never rate-limits', async () => {
    // Allows for network jitter; two replicas that each throttle alone exceed this limit within two seconds.
    await begin('socket', { ...MUCH, messageBurst: 2 });
    const pair = [await replica(), await replica()];
    const tasks = Array.from({ length: 6 }, (_, n) => `task-${n}` as TaskId);
    await Promise.all(tasks.map((task, n) => open(pair[n % 2] as SlackHouse, task)));
    expect(everything()).toHaveLength(6);
    expect(slack.rateLimited).toBe(0);
  });

  it('that arrives after another replica posted it is deleted', async () => {
    const [one, other] = await two();
    const letGo = slack.hold('chat.postMessage');
    const late = open(one);
    await vi.waitFor(
      async () => expect(await one.store.keyv('slack_posts').get('task:task-1')).toMatchObject({ message: null }),
      300_000,
    );
    // The first replica's lease expires.
    await redis.command('DEL', 'dailies:lease:slack:task:task-1');
    const message = await open(other);
    letGo();
    expect(await late).toEqual(message);
    expect(everything().map(({ ts }) => ts)).toEqual([message.message]);
  });

  it('is not posted by a replica that was paused while it waited for its turn', async () => {
    await begin('socket');
    const clock = new StoppedClock();
    const [one, other] = [await replica({ clock }), await replica()];
    await open(one, 'task-0' as TaskId);
    const late = open(one);
    await vi.waitFor(async () => expect(await one.store.leases.holder('slack:task:task-1')).not.toBeNull(), 300_000);
    clock.stop(60_000);
    await expect(late).rejects.toMatchObject({ code: 'platform_unavailable', retryable: true });
    const message = await open(other);
    expect(await open(one)).toEqual(message);
    expect(everything()).toHaveLength(2);
  });

  it('mentions once', async () => {
    const pair = await two();
    const [one] = pair;
    const replyTo = await open(one);
    const place = { team: slack.team.id, channel: slack.channels.general, address: {} };
    const notice = { key: 'end:1', place, replyTo, mention: originOf().user, view: endNotice(originOf()) };
    await Promise.all(pair.flatMap(({ platform }) => [platform.notify(notice), platform.notify(notice)]));
    expect(slack.pings).toHaveLength(1);
  });
});

describe('a clip', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dailies-slack-clip-'));
  });

  afterEach(() => rm(directory, { recursive: true }));

  const attach = async (house: SlackHouse, message: Awaited<ReturnType<typeof open>>) => {
    return house.platform.attach(message, originOf(), doneView({ task: TASK }), await writeClip(directory));
  };
  const clips = () => everything().filter(({ fileIds }) => fileIds.length > 0);

  it('is shared once by concurrent replicas', async () => {
    const [one, other] = await two();
    const message = await open(one);
    const tries = await Promise.allSettled([attach(one, message), attach(other, message)]);
    expect(tries.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    await attach(other, message);
    expect(clips()).toHaveLength(1);
  });

  it.each(['files.getUploadURLExternal', 'upload', 'files.completeUploadExternal', 'files.info'] as const)(
    'is shared once, even if the first replica loses its lease at %s and resumes',
    async (method) => {
      // Slack completes an upload once, and rejects the second call.
      tolerated = /completed twice/;
      const [one, other] = await two();
      const message = await open(one);
      const letGo = slack.hold(method);
      const late = attach(one, message).catch((thrown: unknown) => thrown);
      const lease = `dailies:lease:slack:file:${message.channel}:${message.message}`;
      await expect.poll(() => slack.held, WAITING).toBe(1);
      expect(await redis.command('DEL', lease)).toBe(1);
      await attach(other, message);
      letGo();
      await late;
      await attach(one, message);
      expect(clips()).toHaveLength(1);
    },
  );

  describe('of a set', () => {
    const SET = { id: TASK, kind: 'takes', of: 2 } as const;
    const name = (at: number): string => `red-fox-${at}.mp4`;
    const takes = setView(
      SET,
      [1, 2].map((at) => ({
        view: doneView({ task: `task-${at}` as TaskId, set: { ...SET, at } }),
        message: null,
        file: { name: name(at), description: '' },
      })),
    );
    const openCard = (house: SlackHouse) => house.platform.open(TASK, originOf(), takes);
    const deliver = async (house: SlackHouse, message: Awaited<ReturnType<typeof open>>, at: number) => {
      const folder = await mkdtemp(join(directory, `${at}-`));
      const file = await writeClip(folder, { name: name(at), bytes: 5_000 + at });
      return house.platform.attach(message, originOf(), takes, file);
    };
    const shared = () => clips().map(plainOf).toSorted();

    it('is shared once beside the others of its card, which other replicas deliver at the same time', async () => {
      const [one, other] = await two();
      const message = await openCard(one);
      const letGo = slack.hold('upload');
      const first = deliver(one, message, 1);
      await expect.poll(() => slack.held, WAITING).toBe(1);
      const second = await deliver(other, message, 2);
      letGo();
      const own = await first;
      expect(await deliver(other, message, 1)).toEqual(own);
      expect(await deliver(one, message, 2)).toEqual(second);
      expect(shared()).toEqual(['Take 1', 'Take 2']);
      expect(second.message?.message).toBe(clips().find((clip) => plainOf(clip) === 'Take 2')?.ts);
    });

    it('is shared once, even if the first replica loses its lease and resumes', async () => {
      const [one, other] = await two();
      const message = await openCard(one);
      await deliver(one, message, 1);
      const letGo = slack.hold('upload');
      const late = deliver(one, message, 2).catch((thrown: unknown) => thrown);
      await expect.poll(() => slack.held, WAITING).toBe(1);
      const lease = `dailies:lease:slack:file:${message.channel}:${message.message}:task-2`;
      expect(await redis.command('DEL', lease)).toBe(1);
      await deliver(other, message, 2);
      letGo();
      expect(await late).toMatchObject({ code: 'platform_unavailable', retryable: true });
      await deliver(one, message, 2);
      expect(shared()).toEqual(['Take 1', 'Take 2']);
    });
  });
});

describe('a rate limit', () => {
  it('on one channel does not block the others', async () => {
    await begin('socket', { ...MUCH, messageBurst: 1 });
    const [one, other] = [await replica(), await replica()];
    const said = { channel: slack.channels.general, text: 'Somebody else speaks with the same token.' };
    const headers = { authorization: `Bearer ${slack.botToken}` };
    await fetch(`${slack.apiUrl}chat.postMessage`, { method: 'POST', headers, body: new URLSearchParams(said) });
    await expect(open(one)).rejects.toMatchObject({ code: 'rate_limited' });
    const elsewhere = { ...originOf(), channel: slack.channels.clips };
    for (const [at, { platform }] of [one, other].entries())
      await platform.open(`task-${at + 2}` as TaskId, elsewhere, taskView());
    expect(slack.messages(slack.channels.clips)).toHaveLength(2);
    // The channel accepts messages again after the delay.
    await open(one);
    expect(slack.rateLimited).toBe(1);
  });
});

describe('installations', () => {
  const SETTINGS = { mode: 'oauth', hasLinks: true } as const;

  it('can start on one replica and end on another; a newer one applies everywhere', async () => {
    await begin('oauth');
    const [one, other] = [await replica(SETTINGS), await replica(SETTINGS)];
    const install = async (): Promise<number> => {
      const page = await fetch(`${one.url}/slack/install`, { redirect: 'manual' });
      const cookie = (page.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
      const address = /href="([^"]+oauth\/v2\/authorize[^"]*)"/.exec(await page.text())?.[1]?.replaceAll('&amp;', '&');
      const back = new URL(slack.authorize(address ?? page.headers.get('location') ?? '', slack.team.id));
      return (await fetch(`${other.url}${back.pathname}${back.search}`, { headers: { cookie } })).status;
    };
    expect(await install()).toBe(200);
    await open(one);
    const before = slack.botToken;
    slack.revokeToken();
    await expect(one.platform.open('task-2' as TaskId, originOf(), taskView())).rejects.toMatchObject({
      code: 'unauthorised',
    });
    expect(await install()).toBe(200);
    expect(slack.botToken).not.toBe(before);
    await open(one, 'task-2' as TaskId);
    await open(other, 'task-3' as TaskId);
    expect(everything()).toHaveLength(3);
  });

  it('survive a late event about an earlier one', async () => {
    await begin('oauth');
    const house = await replica(SETTINGS);
    const page = await fetch(`${house.url}/slack/install`, { redirect: 'manual' });
    const cookie = (page.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const address = /href="([^"]+oauth\/v2\/authorize[^"]*)"/.exec(await page.text())?.[1]?.replaceAll('&amp;', '&');
    const back = new URL(slack.authorize(address ?? page.headers.get('location') ?? '', slack.team.id));
    await fetch(`${house.url}${back.pathname}${back.search}`, { headers: { cookie } });
    // A late removal event, after the app was installed again.
    const event = slack.tellUninstalled();
    if (event === null) throw new TypeError('Slack sent no event');
    await slack.acknowledged(event);
    await open(house);
  });
});
