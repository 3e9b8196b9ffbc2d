import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { DailiesError } from '#src/errors.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import { recount } from '#src/tasks/recount.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import { DEFAULT_SETTINGS, type SettingsPatch } from '#src/teams/settings-schema.ts';
import { TeamSettingsRepository } from '#src/teams/team-settings.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { FlakyStore } from '#test/fakes/flaky-store.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { TaskHouse } from '#test/fakes/task-house.ts';
import { ADA, BOB, EVENTS, lived, NOON_MS, newTask, orderOf, originOf, PURCHASE } from '#test/fakes/tasks.ts';
import { errorOf, status } from '#test/fakes/videos.ts';

const scope = { platform: 'fake', team: 'T1', viewer: { user: 'ada', channel: 'clips' } };

/** An app with a task whose response was lost. */
async function uncertain(): Promise<{ house: TaskHouse; id: TaskId }> {
  const house = new TaskHouse().start();
  house.videos.willCreate(() => ({ kind: 'lost', error: errorOf('lost_answer') }));
  return { house, id: await house.order() };
}

describe('an order', () => {
  it('creates one task and one POST when submitted a hundred times at once', async () => {
    const house = new TaskHouse().start();
    const orders = Array.from({ length: 100 }, () => house.submit());
    const placed = await Promise.all(orders);
    await house.pass(120_000, 5_000);
    expect(placed.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(placed.map(({ task }) => task.id)).size).toBe(1);
    expect(house.videos.posts).toHaveLength(1);
    expect(await house.store.count('history:fake:T1')).toBe(1);
  });

  it('returns the current task when submitted again much later', async () => {
    const house = new TaskHouse().start();
    const id = await house.order();
    house.videos.willRetrieve(() => status('completed'));
    await house.pass(10_000);
    const again = await house.submit();
    expect(again).toMatchObject({ isNew: false, task: { id, state: 'completed' } });
    await house.pass(120_000, 5_000);
    expect(house.videos.posts).toHaveLength(1);
  });

  it('is rejected while clips cannot be stored, unless it was claimed before', async () => {
    let isGone = false;
    const gone = errorOf('store_unavailable');
    const house = new TaskHouse({ assertWritable: () => (isGone ? Promise.reject(gone) : Promise.resolve()) }).start();
    const id = await house.order();
    isGone = true;
    await expect(house.submit({ key: 'fake:i2' })).rejects.toBe(gone);
    expect(await house.submit()).toMatchObject({ isNew: false, task: { id } });
    expect(await house.store.count('history:fake:T1')).toBe(1);
  });

  it('is rejected while the spend of its budgets cannot be restored, unless it was claimed before; so is Send again', async () => {
    let isOld = false;
    const old = new DailiesError('restoring', { code: 'store_unavailable', retryable: true });
    const house = new TaskHouse({ restoreSpend: () => (isOld ? Promise.reject(old) : Promise.resolve()) }).start();
    house.videos.willCreate(() => ({ kind: 'lost', error: errorOf('lost_answer') }));
    const id = await house.order();
    isOld = true;
    await expect(house.submit({ key: 'fake:i2' })).rejects.toBe(old);
    expect(await house.submit()).toMatchObject({ isNew: false, task: { id } });
    const again = { afterSends: 1, price: { amount: '0.3', currency: 'USD' } };
    await expect(house.service.resubmit(id, BOB, again)).rejects.toBe(old);
    expect(await house.store.count('history:fake:T1')).toBe(1);
    expect((await house.task(id)).state).toBe('uncertain');
  });

  it('restores the spend of its budgets, unless they were read with the settings that it was judged by', async () => {
    const restoreSpend = vi.fn(async () => undefined);
    const house = new TaskHouse({ restoreSpend }).start();
    const settings = new TeamSettingsRepository(house.store, new AuditTrail(house.store, house.clock));
    const judgedBy = await settings.get({ platform: 'fake', team: 'T1' });
    expect(await house.service.submit(orderOf(), judgedBy)).toMatchObject({ ok: true });
    expect(restoreSpend).not.toHaveBeenCalled();
    await house.submit({ key: 'fake:i2' });
    expect(restoreSpend).toHaveBeenCalledOnce();
  });

  it('creates another task for another key', async () => {
    const house = new TaskHouse().start();
    const ids = [
      await house.order({ key: 'fake:i1' }),
      await house.order({ key: 'fake:i2' }),
      await house.order({ key: 'retry:x' }),
    ];
    expect(new Set(ids).size).toBe(3);
    expect(house.videos.posts).toHaveLength(3);
  });

  it('stores the request', async () => {
    const house = new TaskHouse();
    const { task } = await house.submit({ retryOf: 'other' as TaskId });
    const version = { root: 'other' as TaskId, number: 2 };
    expect(task).toEqual(recount({ ...newTask({ retryOf: 'other' as TaskId }), version }));
    expect(await house.service.get(task.id)).toEqual(task);
    expect((await house.submit({ key: 'k' })).task).not.toHaveProperty('retryOf');
  });

  it('is sent when submitted again after its claim was stored despite an error of the commit', async () => {
    const store = new FlakyStore(new MemoryStore());
    const house = new TaskHouse({ store }).start();
    store.failNext('answer_lost');
    await expect(house.submit()).rejects.toMatchObject({ code: 'store_unavailable' });
    await house.pass(10_000);
    expect(house.videos.posts).toEqual([]);
    expect(await house.submit()).toMatchObject({ isNew: false });
    await house.pass(0);
    expect(house.videos.posts).toHaveLength(1);
  });

  it('is not sent sooner when submitted again during a pause of the service', async () => {
    const house = new TaskHouse().start();
    house.videos.willCreate(() => ({ kind: 'unsent', error: errorOf('rate_limited', { retryAfterMs: 60_000 }) }));
    await house.order();
    await house.order();
    await house.pass(59_000, 1_000);
    expect(house.videos.posts).toHaveLength(1);
  });
});

describe('the id of a task', () => {
  it('is deterministic, short, and consists of lower case letters and digits', () => {
    expect(taskIdOf('discord:1')).toBe(taskIdOf('discord:1'));
    const ids = Array.from({ length: 1_000 }, (_, at) => taskIdOf(`discord:${at}`));
    expect(new Set(ids).size).toBe(1_000);
    for (const id of ids) expect(id).toMatch(/^[0-9a-v]{16}$/);
  });
});

describe('finding a task', () => {
  async function withTasks(count: number) {
    const house = new TaskHouse();
    const ids: TaskId[] = [];
    for (let at = 0; at < count; at += 1) {
      house.clock.advance(1_000);
      ids.push((await house.submit({ key: `k${at}` })).task.id);
    }
    return { house, ids };
  }

  it('accepts the whole id or a prefix, within the team', async () => {
    const { house, ids } = await withTasks(30);
    for (const id of ids) {
      expect((await house.service.find(scope, id))?.id).toBe(id);
      const isOnly = ids.filter((other) => other.startsWith(id.slice(0, 4))).length === 1;
      expect((await house.service.find(scope, id.slice(0, 4)))?.id).toBe(isOnly ? id : undefined);
      expect(await house.service.find({ ...scope, team: 'T2' }, id)).toBeUndefined();
      expect(await house.service.find({ ...scope, platform: 'other' }, id.slice(0, 8))).toBeUndefined();
    }
  });

  it('returns nothing for less than four characters or several matches', async () => {
    const { house, ids } = await withTasks(3);
    expect(await house.service.find(scope, ids[0]?.slice(0, 3) ?? '')).toBeUndefined();
    expect(await house.service.find(scope, '')).toBeUndefined();
    expect(await house.service.find(scope, 'nothing')).toBeUndefined();
    for (const [place, id] of (['aaaa1', 'aaaa2'] as const).entries()) {
      await house.repository.claim([newTask({ id: id as TaskId, createdAtMs: NOON_MS + place })]);
    }
    expect(await house.service.find(scope, 'aaaa')).toBeUndefined();
    expect((await house.service.find(scope, 'aaaa1'))?.id).toBe('aaaa1');
  });
});

describe('history and open tasks', () => {
  it('are the team’s or one user’s, newest first, in pages', async () => {
    const house = new TaskHouse().start();
    const ids: TaskId[] = [];
    for (let at = 0; at < 6; at += 1) {
      house.clock.advance(1_000);
      const user = at % 2 === 0 ? ADA : BOB;
      ids.push(await house.order({ key: `k${at}`, origin: originOf({ user }) }));
    }
    house.clock.advance(1_000);
    await house.order({ key: 'elsewhere', origin: originOf({ team: 'T2' }) });
    const newest = ids.toReversed();
    const idsOf = (tasks: readonly { readonly id: TaskId }[]): TaskId[] => tasks.map(({ id }) => id);
    const { service } = house;
    expect(idsOf(await service.history(scope, { offset: 0, limit: 100 }))).toEqual(newest);
    expect(idsOf(await service.history(scope, { offset: 2, limit: 2 }))).toEqual(newest.slice(2, 4));
    expect(idsOf(await service.history({ ...scope, user: 'bob' }, { offset: 0, limit: 2 }))).toEqual([
      newest[0],
      newest[2],
    ]);
    expect(await service.history(scope, { offset: 6, limit: 2 })).toEqual([]);

    await service.cancel(ids[0] as TaskId, ADA);
    house.videos.willRetrieve(() => status('failed'));
    await house.pass(12_000);
    expect(await service.open(scope, 10)).toEqual([]);
    expect(idsOf(await service.history(scope, { offset: 0, limit: 100 }))).toEqual(newest);
  });

  it('count an uncertain task as open until a user dismisses it', async () => {
    const { house, id } = await uncertain();
    expect((await house.service.open({ ...scope, user: 'ada' }, 5)).map((task) => task.id)).toEqual([id]);
    expect(await house.service.open({ ...scope, user: 'bob' }, 5)).toEqual([]);
    await house.service.leave(id, BOB);
    expect(await house.service.open(scope, 5)).toEqual([]);
  });
});

describe('decisions', () => {
  it('resubmit an uncertain task once, even if pressed repeatedly', async () => {
    const { house, id } = await uncertain();
    const presses = await Promise.all(
      Array.from({ length: 10 }, () => house.service.resubmit(id, ADA, { afterSends: 1, price: PURCHASE })),
    );
    await house.pass(0);
    expect(presses.filter(({ done }) => done)).toHaveLength(1);
    expect(house.videos.posts).toHaveLength(2);
    expect(await house.task(id)).toMatchObject({ state: 'polling', sends: 2 });
    expect(await house.service.resubmit(id, ADA, { afterSends: 1, price: PURCHASE })).toMatchObject({
      done: false,
      task: { state: 'polling' },
    });
  });

  it('assign an uncertain task its id and poll it', async () => {
    const { house, id } = await uncertain();
    expect(await house.service.identify(id, BOB, 'found' as UpstreamId)).toMatchObject({ done: true });
    await house.pass(0);
    expect(house.videos.polls).toEqual(['found', 'found']);
    expect(house.videos.posts).toHaveLength(1);
    expect(await house.service.identify(id, BOB, 'other' as UpstreamId)).toMatchObject({ done: false });
    expect(house.videos.polls).not.toContain('other');
  });

  it.each([true, false])('reject an id that the service does not know (retryable: %s)', async (retryable) => {
    const { house, id } = await uncertain();
    const before = await house.task(id);
    house.videos.willRetrieve(() => {
      throw errorOf('task_unknown', { retryable });
    });
    await expect(house.service.identify(id, BOB, 'fuond' as UpstreamId)).rejects.toMatchObject({
      code: 'task_unknown',
    });
    expect(await house.task(id)).toEqual(before);
  });

  it.each(['unavailable', 'unauthorised', 'rate_limited', 'bad_answer'] as const)(
    'accept an id when the service is inconclusive: %s',
    async (code) => {
      const { house, id } = await uncertain();
      house.videos.willRetrieve(() => {
        throw errorOf(code);
      });
      expect(await house.service.identify(id, BOB, 'found' as UpstreamId)).toMatchObject({ done: true });
    },
  );

  it('assign the id of the first submission to a task whose resubmission was refused', async () => {
    const { house, id } = await uncertain();
    house.videos.willCreate(() => ({ kind: 'refused', error: errorOf('no_balance', { retryable: false }) }));
    await house.service.resubmit(id, ADA, { afterSends: 1, price: PURCHASE });
    await house.pass(0);
    expect(await house.task(id)).toMatchObject({ state: 'rejected', sends: 1 });
    house.videos.willRetrieve(() => {
      throw errorOf('task_unknown');
    });
    await expect(house.service.identify(id, BOB, 'fuond' as UpstreamId)).rejects.toMatchObject({
      code: 'task_unknown',
    });
    house.videos.willRetrieve();
    expect(await house.service.identify(id, BOB, 'found' as UpstreamId)).toMatchObject({ done: true });
    await house.pass(0);
    expect(await house.task(id)).toMatchObject({ state: 'polling', upstreamId: 'found' });
  });

  it('accept an id when the lookup times out, since a user is waiting', async () => {
    const { house, id } = await uncertain();
    house.videos.willRetrieve(() => new Promise(() => undefined));
    const decision = house.service.identify(id, BOB, 'found' as UpstreamId);
    await house.pass(2_000, 500);
    expect(await decision).toMatchObject({ done: true, task: { state: 'polling' } });
  });

  it('dismiss an uncertain task until a user decides otherwise', async () => {
    const { house, id } = await uncertain();
    expect(await house.service.leave(id, BOB)).toMatchObject({ done: true, task: { leftBy: BOB } });
    expect(await house.service.leave(id, ADA)).toMatchObject({ done: false });
    await house.pass(3_600_000, 60_000);
    expect(house.videos.posts).toHaveLength(1);
    expect(await house.service.resubmit(id, ADA, { afterSends: 1, price: PURCHASE })).toMatchObject({ done: true });
  });

  it('are logged once each, without their user', async () => {
    const lines: string[] = [];
    const logger = pino({ base: null }, { write: (line) => lines.push(line) });
    const house = new TaskHouse({ logger }).start();
    const id = await house.order();
    await house.service.cancel(id, BOB);
    await house.service.cancel(id, ADA);
    const decided = lines.map((line) => JSON.parse(line)).filter(({ decision }) => decision !== undefined);
    expect(decided).toMatchObject([{ task: id, decision: 'cancel' }]);
    expect(lines.join('')).not.toContain(`"${BOB.id}"`);
  });

  it('change nothing in a state in which they do not count', async () => {
    const house = new TaskHouse().start();
    const id = await house.order();
    const { service } = house;
    const decisions = [
      service.resubmit(id, ADA, { afterSends: 1, price: PURCHASE }),
      service.leave(id, ADA),
      service.identify(id, ADA, 'x' as UpstreamId),
      service.want(id, ADA),
      service.refetch(id, ADA),
    ];
    for (const decision of await Promise.all(decisions))
      expect(decision).toMatchObject({ done: false, task: { state: 'polling' } });
  });

  it('reject a missing task', async () => {
    await expect(new TaskHouse().service.cancel('none' as TaskId, ADA)).rejects.toThrow('there is no such task');
  });

  it('take effect when stored despite an error of the commit', async () => {
    const store = new FlakyStore(new MemoryStore());
    const house = new TaskHouse({ store }).start();
    house.videos.willCreate(() => ({ kind: 'lost', error: errorOf('lost_answer') }));
    const id = await house.order();
    store.failNext('answer_lost');
    await expect(house.service.resubmit(id, ADA, { afterSends: 1, price: PURCHASE })).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    await house.pass(5_000);
    expect(house.videos.posts).toHaveLength(2);
  });
});

describe('resuming', () => {
  it('schedules every open task in the queue of its next job', async () => {
    const house = new TaskHouse();
    const { send, accepted, completed, lost, leave, cancel, unfetchable, fetched, failed, refused } = EVENTS;
    const lives = {
      claimed: [],
      sending: [send],
      polling: [send, accepted],
      quiet: [send, accepted, cancel],
      fetching: [send, accepted, completed],
      uncertain: [send, lost],
      left: [send, lost, leave],
      lost: [send, accepted, completed, unfetchable],
      done: [send, accepted, completed, fetched],
      failed: [send, accepted, failed],
      rejected: [send, refused],
      cancelled: [cancel],
      late: [send, accepted, cancel, completed],
      lateDone: [send, accepted, cancel, completed, fetched],
      lateLost: [send, accepted, cancel, completed, unfetchable],
      lateFailed: [send, accepted, cancel, failed],
    } as const;
    for (const [name, given] of Object.entries(lives)) {
      const events = given.map((event) =>
        event.kind === 'accepted' ? { ...event, upstreamId: `up-${name}` as UpstreamId } : event,
      );
      const task = lived(newTask({ id: name as TaskId }), ...events);
      const claimed = newTask({ id: name as TaskId });
      await house.repository.claim([claimed]);
      for (const event of events) await house.repository.record(claimed.id, event);
      expect(await house.task(claimed.id)).toEqual(recount(task));
    }
    const planned: Record<string, string[]> = {};
    const note =
      (lane: string) =>
      async (id: string): Promise<null> => {
        planned[lane] = [...(planned[lane] ?? []), id].toSorted();
        return null;
      };
    house.queue.start({
      send: note('send'),
      poll: note('poll'),
      fetch: note('fetch'),
      deliver: note('deliver'),
      notify: note('notify'),
      join: note('join'),
      frame: note('frame'),
    });
    expect(await house.service.resume()).toBe(6);
    await house.pass(5_000);
    delete planned['deliver'];
    // The poll job of a late task finds nothing to poll and schedules a job in the fetch queue.
    expect(planned).toEqual({ send: ['claimed', 'sending'], poll: ['late', 'polling', 'quiet'], fetch: ['fetching'] });
  });

  it('spreads the first polls over one interval', async () => {
    const house = new TaskHouse({ concurrency: { poll: 1_000 } }).start();
    for (let at = 0; at < 100; at += 1) await house.order({ key: `k${at}` });
    await house.queue.drain();
    const next = house.another().start();
    expect(await next.service.resume()).toBe(100);
    for (const [ms, polls] of [
      [0, 1],
      [2_450, 50],
      [2_500, 100],
    ] as const) {
      await next.pass(ms);
      expect(next.videos.polls).toHaveLength(polls);
    }
    expect(next.videos.posts).toHaveLength(100);
  });

  it('is idempotent', async () => {
    const house = new TaskHouse();
    const id = await house.order();
    house.start();
    await house.service.resume();
    await house.service.resume();
    await house.pass(0);
    expect(house.videos.posts.map(({ key }) => key)).toEqual([id]);
  });
});
describe('where a policy does not allow the clip', () => {
  const refusal = { reason: 'forbidden_words', option: 'prompt', words: ['fox'] };
  const forbidding = { ...DEFAULT_SETTINGS, policy: { team: { words: ['fox'] }, channels: {} } };

  it('claims nothing, not even a set with one such clip, and sends no uncertain task again', async () => {
    const state = { settings: DEFAULT_SETTINGS };
    const house = new TaskHouse({ settingsOf: async () => state.settings }).start();
    house.videos.willCreate(() => ({ kind: 'lost', error: errorOf('lost_answer') }));
    const id = await house.order();
    state.settings = forbidding;
    expect(await house.submit()).toMatchObject({ isNew: false, task: { id } });
    const again = { afterSends: 1, price: { amount: '0.30', currency: 'USD' } };
    expect(await house.service.resubmit(id, ADA, again)).toMatchObject({ done: false, forbidden: [refusal] });
    const order = orderOf({ key: 'other' });
    const hen = { ...order, request: { ...order.request, prompt: 'a hen' } };
    const set = { kind: 'takes', more: [{ request: order.request, price: order.price }] } as const;
    expect(await house.service.submit({ ...hen, set })).toEqual({ ok: false, forbidden: [refusal] });
    expect(await house.service.submit(hen)).toMatchObject({ ok: true });
  });
});

describe('where the settings change after an order was judged by them', () => {
  async function judged() {
    const store = new MemoryStore();
    const clock = new ManualClock(NOON_MS);
    const settings = new TeamSettingsRepository(store, new AuditTrail(store, clock));
    const house = new TaskHouse({ store, clock, settingsOf: (team) => settings.get(team) }).start();
    const { origin } = orderOf();
    const change = (patch: SettingsPatch) => settings.change(origin, { person: BOB, surface: 'command' }, patch);
    return { house, change, read: () => settings.get(origin) };
  }
  const pause = { reason: 'over the plan', by: BOB, atMs: NOON_MS };

  it.each([
    ['a pause', { pause }, { paused: { ...pause, timeZone: 'UTC' }, forbidden: [] }],
    [
      'a policy',
      { policy: { team: { words: ['fox'] }, channels: {} } },
      { paused: null, forbidden: [{ reason: 'forbidden_words', option: 'prompt', words: ['fox'] }] },
    ],
    ['another setting', { approveAbove: { amount: '0', currency: 'USD' } }, { paused: null, forbidden: [] }],
  ] as const)('%s refuses it, and nothing is claimed', async (_name, patch, refusal) => {
    const { house, change, read } = await judged();
    const before = await read();
    const outdated = await change(patch);
    expect(await house.service.submit(orderOf(), before)).toEqual({ ok: false, outdated, ...refusal });
    expect(await house.store.count('history:fake:T1')).toBe(0);
  });

  it('the claim itself compares them: a change right before its commit refuses it', async () => {
    const { house, change, read } = await judged();
    const commit = house.store.commit.bind(house.store);
    const spy = vi.spyOn(house.store, 'commit').mockImplementationOnce(async (claim) => {
      await change({ pause });
      return commit(claim);
    });
    expect(await house.service.submit(orderOf(), await read())).toMatchObject({ ok: false, paused: { by: BOB } });
    expect(await house.store.count('history:fake:T1')).toBe(0);
    spy.mockRestore();
    await change({ pause: null });
    expect(await house.service.submit(orderOf(), await read())).toMatchObject({ ok: true, isNew: true });
  });

  it('another send of an uncertain task is refused, also right before its commit', async () => {
    const { house, change, read } = await judged();
    house.videos.willCreate(() => ({ kind: 'lost', error: errorOf('lost_answer') }));
    const id = await house.order();
    expect(await house.task(id)).toMatchObject({ state: 'uncertain' });
    const commit = house.store.commit.bind(house.store);
    const changeMeanwhile = (patch: SettingsPatch) =>
      vi.spyOn(house.store, 'commit').mockImplementationOnce(async (resubmission) => {
        await change(patch);
        return commit(resubmission);
      });
    const again = { afterSends: 1, price: PURCHASE };
    changeMeanwhile({ pause });
    expect(await house.service.resubmit(id, ADA, again)).toMatchObject({ done: false, paused: { by: BOB } });
    expect(await house.task(id)).toMatchObject({ state: 'uncertain', sends: 1 });
    await change({ pause: null });
    changeMeanwhile({ approveAbove: { amount: '0', currency: 'USD' } });
    expect(await house.service.resubmit(id, ADA, again)).toMatchObject({ done: false, outdated: true });
    const before = await read();
    await change({ confirmAbove: { amount: '0', currency: 'USD' } });
    expect(await house.service.resubmit(id, ADA, again, before)).toMatchObject({ done: false, outdated: true });
    expect(await house.task(id)).toMatchObject({ state: 'uncertain', sends: 1 });
    expect(await house.service.resubmit(id, ADA, again, await read())).toMatchObject({ done: true });
  });

  it('an order that was claimed before returns its task', async () => {
    const { house, change, read } = await judged();
    const before = await read();
    const id = await house.order();
    await change({ pause });
    expect(await house.service.submit(orderOf(), before)).toMatchObject({ ok: true, isNew: false, task: { id } });
  });
});

describe('while spending is paused', () => {
  const PAUSE = { reason: 'over the plan', by: BOB, atMs: NOON_MS };
  const paused = { ...PAUSE, timeZone: 'UTC' };

  async function pausable() {
    const state: { pause: typeof PAUSE | null; fails: boolean } = { pause: null, fails: false };
    const settingsOf = async () => {
      if (state.fails) throw errorOf('store_unavailable');
      return state.pause === null ? DEFAULT_SETTINGS : { ...DEFAULT_SETTINGS, pause: state.pause };
    };
    const house = new TaskHouse({ settingsOf }).start();
    return { house, state };
  }

  it('refuses a new order with the pause, and creates nothing', async () => {
    const { house, state } = await pausable();
    state.pause = PAUSE;
    expect(await house.service.submit(orderOf())).toEqual({ ok: false, paused });
    await house.pass(60_000, 5_000);
    expect(house.videos.posts).toEqual([]);
    expect(await house.store.count('history:fake:T1')).toBe(0);
  });

  it('goes on with what runs, and returns the task of a repeated order', async () => {
    const { house, state } = await pausable();
    const id = await house.order();
    state.pause = PAUSE;
    expect(await house.submit()).toMatchObject({ isNew: false, task: { id } });
    house.videos.willRetrieve(() => status('completed'));
    await house.pass(60_000, 5_000);
    expect(await house.service.get(id)).toMatchObject({ state: 'completed' });
  });

  it('sends no uncertain task again, until the pause ends', async () => {
    const { house, state } = await pausable();
    house.videos.willCreate(() => ({ kind: 'lost', error: errorOf('lost_answer') }));
    const id = await house.order();
    const again = { afterSends: 1, price: { amount: '0.30', currency: 'USD' } };
    state.pause = PAUSE;
    expect(await house.service.resubmit(id, ADA, again)).toMatchObject({ done: false, paused });
    await house.pass(60_000, 5_000);
    expect(house.videos.posts).toHaveLength(1);
    state.pause = null;
    expect(await house.service.resubmit(id, ADA, again)).toMatchObject({ done: true });
  });

  it('claims and sends nothing where the settings cannot be read', async () => {
    const { house, state } = await pausable();
    state.fails = true;
    await expect(house.service.submit(orderOf())).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await house.store.count('history:fake:T1')).toBe(0);
  });
});
