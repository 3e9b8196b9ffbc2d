import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { SignedLinks } from '#src/media/clip-links.ts';
import { ledgerOf, toChange } from '#src/tasks/indexes.ts';
import type { Task, TaskId } from '#src/tasks/task.ts';
import type { CreateOutcome } from '#src/videos/service.ts';
import { FlakyStore, writesTask } from '#test/fakes/flaky-store.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { deferred } from '#test/fakes/settle.ts';
import { TaskHouse, type TaskHouseOptions } from '#test/fakes/task-house.ts';
import { ADA, BOB, EVENTS, NOON_MS, newTask, orderOf, PURCHASE, UPSTREAM } from '#test/fakes/tasks.ts';
import { accepted, errorOf } from '#test/fakes/videos.ts';

const lost = (): CreateOutcome => ({
  kind: 'lost',
  error: errorOf('lost_answer', { retryable: false, words: 'HTTP 502' }),
});
const refused = (): CreateOutcome => ({
  kind: 'refused',
  error: errorOf('no_balance', { retryable: false, words: 'pay' }),
});
const unsent =
  (retryAfterMs?: number, retryable = true) =>
  (): CreateOutcome => ({
    kind: 'unsent',
    error: errorOf('rate_limited', { retryable, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }),
  });
const unreached = (): CreateOutcome => ({ kind: 'unsent', error: errorOf('unavailable') });

describe('a service that asks for a pause', () => {
  it('receives no other task until then', async () => {
    const house = new TaskHouse().start();
    house.videos.willCreate(unsent(20_000));
    await house.order();
    expect(house.retrying).toMatchObject([
      { retry: { step: 'send', code: 'rate_limited', nextAtMs: NOON_MS + 20_000 }, failures: 1, isForAll: true },
    ]);
    await house.order({ key: 'fake:i2' });
    expect(house.videos.posts).toHaveLength(1);
    await house.pass(19_999, 1_000);
    expect(house.videos.posts).toHaveLength(1);
    await house.pass(1);
    expect(new Set(house.videos.posts.map(({ key }) => key)).size).toBe(2);
  });

  it('receives no other task either where the one that it answered was cancelled meanwhile', async () => {
    const house = new TaskHouse().start();
    const answer = deferred<CreateOutcome>();
    house.videos.willCreate(() => answer.promise);
    const id = await house.order();
    await house.service.cancel(id, ADA);
    answer.resolve(unsent(20_000)());
    await house.pass(0);
    expect((await house.task(id)).state).toBe('cancelled');
    await house.order({ key: 'fake:i2' });
    await house.pass(19_999, 1_000);
    expect(house.videos.posts).toHaveLength(1);
    await house.pass(1);
    expect(house.videos.posts).toHaveLength(2);
  });

  it('receives none of those either that were about to leave, which wait without a failed attempt', async () => {
    const house = new TaskHouse().start();
    house.videos.willCreate(unsent(20_000));
    const onItsWay = deferred();
    house.videos.onItsWay = onItsWay.promise;
    const id = await house.order();
    house.videos.onItsWay = Promise.resolve();
    await house.order({ key: 'fake:i2' });
    onItsWay.resolve();
    await house.pass(0);
    expect(await house.task(id)).toMatchObject({ state: 'claimed', sends: 0, unsentTries: 1, busyTries: 1 });
    await house.pass(19_999, 1_000);
    expect(house.videos.posts).toHaveLength(1);
    await house.pass(1);
    expect(house.videos.posts).toHaveLength(3);
  });

  it('receives none while its answer cannot be stored', async () => {
    const store = new FlakyStore(new MemoryStore());
    const house = new TaskHouse({ store }).start();
    house.videos.willCreate(() => {
      const isBack = writesTask(({ unsentTries }) => unsentTries === 1);
      store.failNext('unwritten', isBack);
      return unsent(20_000)();
    });
    await house.order();
    await house.order({ key: 'fake:i2' });
    expect(house.videos.posts).toHaveLength(1);
  });

  it('receives other tasks if it names no duration', async () => {
    const house = new TaskHouse().start();
    house.videos.willCreate(unsent());
    await house.order();
    await house.order({ key: 'fake:i2' });
    expect(house.videos.posts).toHaveLength(2);
  });
});

describe('a claimed task', () => {
  it('is sent once, with its id as idempotency key, and polled after the first delay', async () => {
    const house = new TaskHouse().start();
    const id = await house.order();
    expect(house.videos.posts.map(({ key }) => key)).toEqual([id]);
    expect(await house.task(id)).toMatchObject({ state: 'polling', upstreamId: 'up-1', sends: 1 });
    await house.pass(4_999);
    expect(house.videos.polls).toEqual([]);
    await house.pass(1);
    expect(house.videos.polls).toEqual(['up-1']);
    await house.pass(600_000, 5_000);
    expect(house.videos.posts).toHaveLength(1);
  });

  it('is not read again before it is sent', async () => {
    const house = new TaskHouse();
    let reads = 0;
    const get = house.repository.get.bind(house.repository);
    house.repository.get = (id) => {
      reads += 1;
      return get(id);
    };
    await house.start().order();
    expect(house.videos.posts).toHaveLength(1);
    expect(reads).toBe(0);
  });

  it.each([
    ['cancelled', { kind: 'cancel', by: ADA, atMs: 0 }],
    ['uncertain', { kind: 'send', owner: 'another', atMs: 0 }],
  ] as const)('that another replica has changed meanwhile is judged by its record: %s', async (state, event) => {
    const store = new MemoryStore();
    const flaky = new FlakyStore(store);
    const house = new TaskHouse({ store: flaky, exclusive: false }).start();
    const other = house.another({ store });
    house.membership.gone.add('another');
    const commit = flaky.commit.bind(flaky);
    flaky.commit = async (change) => {
      if (writesTask((task) => task.lease?.owner === 'me')(change)) await other.repository.record(newTask().id, event);
      return commit(change);
    };
    const id = await house.order();
    expect((await house.task(id)).state).toBe(state);
    expect(house.videos.posts).toEqual([]);
  });

  it('that waited for an approval is read where another replica claimed it', async () => {
    const house = new TaskHouse({ exclusive: false }).start();
    const other = house.another({ exclusive: false });
    const id = await house.order({ approval: { above: null, askedOf: [], isPromptShown: false } });
    expect((await house.task(id)).state).toBe('requested');
    await other.repository.record(id, EVENTS.approve);
    house.queue.schedule('send', id, NOON_MS);
    await house.pass(0);
    expect(house.videos.posts).toHaveLength(1);
  });

  it('is stored as `sending` before the POST leaves', async () => {
    const house = new TaskHouse();
    const states: string[] = [];
    house.videos.willCreate(async () => {
      for (const { member } of await house.store.scan('state:sending')) states.push(member);
      return accepted('up-1');
    });
    const id = await house.start().order();
    expect(states).toEqual([id]);
  });

  it('is not sent when `sending` cannot be stored', async () => {
    const store = new FlakyStore(new MemoryStore());
    const house = new TaskHouse({ store }).start();
    store.failNext(
      'unwritten',
      writesTask(({ state }) => state === 'sending'),
    );
    const id = await house.order();
    expect(house.videos.posts).toEqual([]);
    expect((await house.task(id)).state).toBe('claimed');
    await house.pass(30_000, 1_000);
    expect(house.videos.posts).toHaveLength(1);
    expect((await house.task(id)).state).toBe('polling');
  });

  it('is rejected with the service’s message when the service refuses it, and its price is released', async () => {
    const house = new TaskHouse().start();
    house.videos.willCreate(refused);
    const task = await house.task(await house.order());
    expect(task).toMatchObject({ state: 'rejected', failure: { code: 'no_balance', words: 'pay' }, presented: false });
    expect(ledgerOf(task).map(({ state }) => state)).toEqual(['released']);
    await house.pass(600_000, 10_000);
    expect(house.videos.posts).toHaveLength(1);
    expect(house.videos.polls).toEqual([]);
  });

  it('is uncertain when the response is lost, and never resubmitted automatically', async () => {
    const house = new TaskHouse().start();
    house.videos.willCreate(lost);
    const id = await house.order();
    await house.pass(3_600_000, 60_000);
    await house.service.resume();
    await house.pass(60_000);
    expect(house.videos.posts).toHaveLength(1);
    expect(await house.task(id)).toMatchObject({
      state: 'uncertain',
      failure: { code: 'lost_answer', words: 'HTTP 502' },
    });
  });
});

describe('a create that provably created nothing', () => {
  it('is retried with backoff', async () => {
    const house = new TaskHouse().start();
    house.videos.willCreate(unsent(), unsent());
    const id = await house.order();
    expect(await house.task(id)).toMatchObject({ state: 'claimed', sends: 0, unsentTries: 1 });
    await house.pass(499, 1);
    expect(house.videos.posts).toHaveLength(1);
    await house.pass(1);
    expect(house.videos.posts).toHaveLength(2);
    await house.pass(999, 1);
    expect(house.videos.posts).toHaveLength(2);
    await house.pass(1);
    expect(house.videos.posts).toHaveLength(3);
    expect(await house.task(id)).toMatchObject({ state: 'polling', sends: 1 });
  });

  it('is delayed for as long as the service asks', async () => {
    const house = new TaskHouse().start();
    house.videos.willCreate(unsent(40_000));
    await house.order();
    await house.pass(39_999, 500);
    expect(house.videos.posts).toHaveLength(1);
    await house.pass(1);
    expect(house.videos.posts).toHaveLength(2);
  });

  it.each([
    ['five attempts where the service is unreachable', unreached, 5, 'unavailable'],
    ['twenty-five where its concurrency limit is reached', unsent(), 25, 'rate_limited'],
  ] as const)('is rejected after %s', async (_name, answer, tries, code) => {
    const house = new TaskHouse().start();
    house.videos.willCreate(...Array.from({ length: 40 }, () => answer));
    const id = await house.order();
    await house.pass(1_200_000, 1_000);
    expect(house.videos.posts).toHaveLength(tries);
    const task = await house.task(id);
    expect(task).toMatchObject({ state: 'rejected', failure: { code }, sends: 0 });
    expect(ledgerOf(task).map(({ state }) => state)).toEqual(['released']);
  });

  it('is sent when the service has a free slot minutes later', async () => {
    const house = new TaskHouse().start();
    house.videos.willCreate(...Array.from({ length: 24 }, () => unsent()));
    const id = await house.order();
    await house.pass(1_200_000, 1_000);
    expect(house.videos.posts).toHaveLength(25);
    expect(await house.task(id)).toMatchObject({ upstreamId: 'up-25', sends: 1 });
  });

  it('is not rejected by one failure after having waited for a busy service', async () => {
    const house = new TaskHouse().start();
    house.videos.willCreate(...Array.from({ length: 10 }, () => unsent()), unreached);
    const id = await house.order();
    await house.pass(600_000, 1_000);
    expect(house.videos.posts).toHaveLength(12);
    expect(await house.task(id)).toMatchObject({ upstreamId: 'up-12', sends: 1 });
  });

  it('is rejected at once by an error that is not retryable', async () => {
    const house = new TaskHouse().start();
    house.videos.willCreate(unsent(undefined, false));
    const id = await house.order();
    expect(await house.task(id)).toMatchObject({ state: 'rejected' });
    expect(house.videos.posts).toHaveLength(1);
  });
});

describe('a replica whose membership expired', () => {
  it('sends nothing until it has joined again', async () => {
    const house = new TaskHouse({ exclusive: false }).start();
    house.membership.alive = false;
    const id = await house.order();
    await house.pass(60_000, 1_000);
    expect(house.videos.posts).toEqual([]);
    expect((await house.task(id)).state).toBe('claimed');
    house.membership.alive = true;
    await house.pass(2_000);
    expect(house.videos.posts).toHaveLength(1);
  });

  it('cancels a POST that it started before and records it, so that the task does not stay uncertain', async () => {
    const house = new TaskHouse({ exclusive: false }).start();
    const onItsWay = deferred();
    house.videos.onItsWay = onItsWay.promise;
    const id = await house.order();
    house.membership.alive = false;
    await house.repository.record(id, { kind: 'lost', failure: { code: 'lost_answer', words: null } });
    onItsWay.resolve();
    await house.pass(0);
    expect(house.videos.posts).toEqual([]);
    expect(await house.task(id)).toMatchObject({ state: 'claimed', sends: 0 });
    house.membership.alive = true;
    await house.pass(30_000, 500);
    expect(house.videos.posts).toHaveLength(1);
  });
});

describe('a create whose bytes are delayed', () => {
  async function begun(house: TaskHouse): Promise<{ readonly id: TaskId; readonly goOn: () => Promise<void> }> {
    const onItsWay = deferred();
    house.videos.onItsWay = onItsWay.promise;
    const id = await house.order();
    const goOn = async (): Promise<void> => {
      onItsWay.resolve();
      await house.pass(0);
    };
    return { id, goOn };
  }

  it('is not sent where the membership expired meanwhile, even if it was renewed', async () => {
    const house = new TaskHouse({ exclusive: false }).start();
    const { id, goOn } = await begun(house);
    await house.pass(20_000);
    house.membership.aliveSinceMs = house.clock.monotonic();
    await goOn();
    expect(house.videos.posts).toEqual([]);
    expect(await house.task(id)).toMatchObject({ state: 'claimed', sends: 0 });
    await house.pass(30_000, 500);
    expect(house.videos.posts).toHaveLength(1);
  });

  it('is not sent where the machine was suspended meanwhile, which stops the monotonic clock', async () => {
    const house = new TaskHouse({ exclusive: false }).start();
    const { id, goOn } = await begun(house);
    house.clock.step(60_000);
    await goOn();
    expect(house.videos.posts).toEqual([]);
    expect(await house.task(id)).toMatchObject({ state: 'claimed', sends: 0 });
    await house.pass(30_000, 500);
    expect(house.videos.posts).toHaveLength(1);
  });

  it('is sent where the time of day was adjusted slightly, or set back', async () => {
    for (const ms of [900, -60_000]) {
      const house = new TaskHouse({ exclusive: false }).start();
      const { goOn } = await begun(house);
      house.clock.step(ms);
      await goOn();
      expect(house.videos.posts).toHaveLength(1);
    }
  });
});

describe('a resubmission that is waiting', () => {
  it('is not sent once the id of the first submission arrives, which is polled instead', async () => {
    const first = new TaskHouse({ exclusive: false }).start();
    const answer = deferred<CreateOutcome>();
    first.videos.willCreate(() => answer.promise);
    const id = await first.order();
    const second = first.another({ exclusive: false }).start();
    second.membership.gone.add('me');
    await second.service.resume();
    await second.pass(5_000, 1_000);
    expect((await second.task(id)).state).toBe('uncertain');
    second.queue.pause('send', 60_000);
    await second.service.resubmit(id, ADA, { afterSends: 1, price: PURCHASE });
    expect((await second.task(id)).state).toBe('claimed');
    answer.resolve(accepted('up-1'));
    await second.pass(120_000, 1_000);
    expect(first.videos.posts).toHaveLength(1);
    expect(await second.task(id)).toMatchObject({ state: 'polling', upstreamId: 'up-1', sends: 1 });
    expect(first.videos.polls).toContain('up-1');
  });
});

describe('a clip whose image is the last frame of another', () => {
  const clock = new ManualClock(NOON_MS);
  const links = new SignedLinks({ publicUrl: 'https://dailies.example', secret: 'secret', clock });
  const framed = { ...orderOf().request, media: { image: [links.sign('frame-gone').url], video: [], audio: [] } };

  it('is not bought once that one is removed', async () => {
    const house = new TaskHouse({ clock, links }).start();
    const id = await house.order({ request: framed });
    await house.pass(60_000, 1_000);
    expect(house.videos.posts).toEqual([]);
    const task = await house.task(id);
    expect(task).toMatchObject({ state: 'rejected', failure: { code: 'frame_gone' }, sends: 0, presented: false });
    expect(ledgerOf(task).map(({ state }) => state)).toEqual(['released']);
  });

  it('is not bought a second time either, and what was sent before stays in doubt', async () => {
    const house = new TaskHouse({ clock }).start();
    house.videos.willCreate(lost);
    const id = await house.order({ request: framed });
    const later = house.another({ links, owner: 'me' }).start();
    await later.service.resubmit(id, ADA, { afterSends: 1, price: PURCHASE });
    await later.pass(60_000, 1_000);
    expect(house.videos.posts).toHaveLength(1);
    expect(await house.task(id)).toMatchObject({ state: 'rejected', failure: { code: 'frame_gone' }, sends: 1 });
  });
});

describe('a task found in `sending`', () => {
  async function crashed(house: TaskHouse): Promise<void> {
    await house.repository.claim([newTask()]);
    await house.repository.record(newTask().id, { kind: 'send', owner: 'the dead', atMs: 0 });
  }

  it('becomes uncertain at once where no other process can be running', async () => {
    const house = new TaskHouse({ exclusive: true }).start();
    await crashed(house);
    expect(await house.service.resume()).toBe(1);
    await house.pass(0);
    expect(await house.task(newTask().id)).toMatchObject({ state: 'uncertain', failure: { code: 'lost_answer' } });
    await house.pass(3_600_000, 60_000);
    expect(house.videos.posts).toEqual([]);
  });

  it('is left unchanged as long as its sender may be alive', async () => {
    const house = new TaskHouse({ exclusive: false }).start();
    await crashed(house);
    await house.service.resume();
    await house.pass(3_600_000, 1_000);
    expect((await house.task(newTask().id)).state).toBe('sending');
    house.membership.gone.add('the dead');
    await house.pass(2_000, 1_000);
    expect((await house.task(newTask().id)).state).toBe('uncertain');
    expect(house.videos.posts).toEqual([]);
  });

  const isSending = writesTask(({ state }) => state === 'sending');

  it.each([true, false])(
    'is sent and not uncertain under a lease of this process whose POST never left (exclusive: %s)',
    async (exclusive) => {
      const store = new FlakyStore(new MemoryStore());
      store.failNext('answer_lost', isSending);
      const house = new TaskHouse({ store, exclusive }).start();
      const id = await house.order();
      expect((await house.task(id)).state).toBe('sending');
      expect(house.videos.posts).toEqual([]);
      await house.pass(30_000, 1_000);
      expect(await house.task(id)).toMatchObject({ state: 'polling', sends: 1, unsentTries: 1 });
      expect(house.videos.posts).toHaveLength(1);
    },
  );

  it('is sent as well when the store took the lease only after the job had ended', async () => {
    const store = new FlakyStore(new MemoryStore());
    const commit = store.commit.bind(store);
    const written: Parameters<typeof commit>[0][] = [];
    store.commit = async (change) => {
      if (!isSending(change)) return commit(change);
      written.push(change);
      if (written.length === 1) throw errorOf('store_unavailable');
      const [first] = written;
      if (written.length === 2 && first !== undefined) await commit(first);
      return commit(change);
    };
    const house = new TaskHouse({ store }).start();
    const id = await house.order();
    expect((await house.task(id)).state).toBe('claimed');
    await house.pass(30_000, 1_000);
    expect(await house.task(id)).toMatchObject({ state: 'polling', sends: 1 });
    expect(house.videos.posts).toHaveLength(1);
  });

  it('is cancelled at once where a user cancelled it meanwhile', async () => {
    const store = new FlakyStore(new MemoryStore());
    store.failNext('answer_lost', isSending);
    const house = new TaskHouse({ store }).start();
    const id = await house.order();
    await house.service.cancel(id, BOB);
    await house.pass(0);
    expect(await house.task(id)).toMatchObject({ state: 'cancelled', sends: 0 });
    await house.pass(60_000, 1_000);
    expect(house.videos.posts).toEqual([]);
  });

  it('is uncertain under a lease of this process whose POST may have left', async () => {
    const house = new TaskHouse().start();
    house.videos.willCreate(() => {
      throw new TypeError('a defect after the bytes left');
    });
    const id = await house.order();
    await house.pass(30_000, 1_000);
    expect((await house.task(id)).state).toBe('uncertain');
    expect(house.videos.posts).toHaveLength(1);
  });

  it('accepts the response of its sender if that one is alive after all', async () => {
    const house = new TaskHouse({ exclusive: false }).start();
    const other = house.another();
    const answer = deferred<CreateOutcome>();
    house.videos.willCreate(() => answer.promise);
    const id = await house.order();
    other.membership.gone.add('me');
    await other.start().service.resume();
    await house.pass(2_000, 1_000);
    expect((await house.task(id)).state).toBe('uncertain');
    answer.resolve(accepted('up-late'));
    await house.pass(0);
    expect(await house.task(id)).toMatchObject({ state: 'polling', upstreamId: 'up-late' });
    await house.pass(5_000);
    expect(house.videos.polls).toContain('up-late');
    expect(house.videos.posts).toHaveLength(1);
  });
});

describe('a store that comes back with an older state', () => {
  /** An app whose store can return to any revision of a task; `null` removes it. */
  function rollingBack(options: TaskHouseOptions = {}) {
    const store = new MemoryStore();
    const was = new Map<number, Task>();
    const observers = [{ changed: (task: Task) => void was.set(task.revision, task) }];
    const house = new TaskHouse({ store, observers, exclusive: false, ...options }).start();
    const { id } = newTask();
    const goBack = async (to: number | null): Promise<void> => {
      const now = await house.task(id);
      const then = to === null ? undefined : was.get(to);
      if (then !== undefined) await store.commit(toChange(now, then));
      else await store.commit({ records: [{ namespace: 'tasks', key: id, value: null, expected: 'any' }] });
    };
    const stepAgain = async (): Promise<void> => {
      house.queue.schedule('send', id, house.clock.now());
      await house.pass(60_000, 1_000);
    };
    return { house, id, goBack, stepAgain };
  }

  const [CLAIMED, SENDING] = [1, 2];

  it.each([
    ['sending', SENDING],
    ['claimed', CLAIMED],
  ])('with an accepted task as %s gets its outcome recorded again, and nothing is sent twice', async (_name, to) => {
    const { house, id, goBack, stepAgain } = rollingBack();
    await house.order();
    await goBack(to);
    await stepAgain();
    expect(house.videos.posts).toHaveLength(1);
    expect(await house.task(id)).toMatchObject({ state: 'polling', upstreamId: 'up-1', sends: 1 });
    expect(house.videos.polls).toContain('up-1');
  });

  it.each([
    ['sending', SENDING],
    ['claimed', CLAIMED],
  ])('with an uncertain task as %s gets its outcome recorded again', async (_name, to) => {
    const { house, id, goBack, stepAgain } = rollingBack();
    house.videos.willCreate(lost);
    await house.order();
    await goBack(to);
    await stepAgain();
    expect(house.videos.posts).toHaveLength(1);
    const task = await house.task(id);
    expect(task).toMatchObject({ state: 'uncertain', sends: 1, failure: { code: 'lost_answer' } });
    expect(task).not.toHaveProperty('lease');
    expect(house.delivered).toContain(id);
  });

  it('without the accepted task creates no second one for the same interaction', async () => {
    const { house, id, goBack } = rollingBack();
    await house.order();
    await goBack(null);
    await house.order();
    expect(house.videos.posts).toHaveLength(1);
    expect(await house.task(id)).toMatchObject({ state: 'polling', upstreamId: 'up-1', sends: 1 });
  });

  it('from before an attempt that was taken back and one that was accepted sends nothing', async () => {
    const { house, id, goBack, stepAgain } = rollingBack();
    house.videos.willCreate(unreached);
    await house.order();
    await house.pass(5_000, 500);
    expect(await house.task(id)).toMatchObject({ state: 'polling', sends: 1, unsentTries: 1 });
    for (const to of [SENDING, CLAIMED]) {
      await goBack(to);
      await stepAgain();
      expect(await house.task(id)).toMatchObject({ state: 'polling', upstreamId: 'up-2', sends: 1 });
    }
    expect(house.videos.posts).toHaveLength(2);
  });

  it.each([
    ['accepted', accepted('up-1'), { state: 'polling', upstreamId: 'up-1', sends: 1 }],
    ['lost', lost(), { state: 'uncertain', sends: 1 }],
  ] as const)('while a POST is in flight stores its response: %s', async (_name, outcome, expected) => {
    const { house, id, goBack, stepAgain } = rollingBack();
    const answer = deferred<CreateOutcome>();
    house.videos.willCreate(() => answer.promise);
    await house.order();
    await goBack(CLAIMED);
    answer.resolve(outcome);
    await stepAgain();
    expect(house.videos.posts).toHaveLength(1);
    expect(await house.task(id)).toMatchObject(expected);
  });

  it('records the outcome again where a job failed after its bytes left', async () => {
    const { house, id, goBack, stepAgain } = rollingBack();
    house.videos.willCreate(() => {
      throw new TypeError('a defect after the bytes left');
    });
    await house.order();
    await goBack(CLAIMED);
    await stepAgain();
    expect(house.videos.posts).toHaveLength(1);
    expect((await house.task(id)).state).toBe('uncertain');
  });

  it('does not prevent a user from resubmitting an uncertain task', async () => {
    const { house, id, goBack, stepAgain } = rollingBack();
    house.videos.willCreate(lost);
    await house.order();
    await goBack(CLAIMED);
    await stepAgain();
    await house.service.resubmit(id, BOB, { afterSends: 1, price: PURCHASE });
    await house.pass(1_000);
    expect(house.videos.posts).toHaveLength(2);
    expect(await house.task(id)).toMatchObject({ state: 'polling', upstreamId: 'up-2', sends: 2 });
  });

  it('without the task of a POST in flight logs the id that is billed', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'error' }, { write: (line) => void lines.push(line) });
    const { house, goBack } = rollingBack({ logger });
    const answer = deferred<CreateOutcome>();
    house.videos.willCreate(() => answer.promise);
    await house.order();
    await goBack(null);
    answer.resolve(accepted('up-orphan'));
    await house.pass(0);
    expect(lines.join('')).toContain('up-orphan');
  });
});

describe('two processes on one store', () => {
  it('send a task only once', async () => {
    const house = new TaskHouse({ exclusive: false }).start();
    const other = house.another().start();
    for (let round = 0; round < 20; round += 1) {
      const key = `fake:${round}`;
      await Promise.all([house.order({ key }), other.order({ key })]);
      await Promise.all([house.service.resume(), other.service.resume()]);
      await house.pass(0);
    }
    const keys = house.videos.posts.map((post) => post.key);
    expect(keys).toHaveLength(20);
    expect(new Set(keys).size).toBe(20);
  });

  it('do not send when the timeout expired before the bytes could leave', async () => {
    const store = new FlakyStore(new MemoryStore());
    const clock = new ManualClock(NOON_MS);
    const commit = store.commit.bind(store);
    const isSending = writesTask(({ state }) => state === 'sending');
    let isSlow = true;
    store.commit = async (change) => {
      const done = await commit(change);
      if (isSlow && isSending(change)) {
        isSlow = false;
        clock.advance(60_000);
      }
      return done;
    };
    const house = new TaskHouse({ store, clock }).start();
    const id = await house.order();
    expect(house.videos.posts).toEqual([]);
    expect(await house.task(id)).toMatchObject({ state: 'claimed', unsentTries: 1, sends: 0 });
    await house.pass(1_000);
    expect(house.videos.posts).toHaveLength(1);
  });
});

describe('an outcome that was recorded twice', () => {
  const isTakenBack = writesTask(({ state, unsentTries }) => state === 'claimed' && unsentTries > 0);

  it('applies to its own attempt only: another process’s POST under the same number is not taken back', async () => {
    const store = new MemoryStore();
    const flaky = new FlakyStore(store);
    const house = new TaskHouse({ store: flaky, exclusive: false }).start();
    const other = house.another({ store }).start();
    const answer = deferred<CreateOutcome>();
    house.videos.willCreate(unreached, () => answer.promise);
    flaky.failNext('answer_lost', isTakenBack);
    const id = await house.order();
    await other.service.resume();
    await house.pass(30_000, 500);
    expect(await house.task(id)).toMatchObject({ state: 'sending', lease: { owner: 'another' }, sends: 1 });
    answer.resolve(accepted('up-2'));
    await house.pass(30_000, 500);
    expect(house.videos.posts).toHaveLength(2);
    expect(await house.task(id)).toMatchObject({ state: 'polling', upstreamId: 'up-2', sends: 1 });
  });

  it('does not reject a task that another process is sending by then', async () => {
    const store = new MemoryStore();
    const flaky = new FlakyStore(store);
    const house = new TaskHouse({ store: flaky, exclusive: false }).start();
    const other = house.another({ store });
    const commit = flaky.commit.bind(flaky);
    flaky.commit = async (change) => {
      if (writesTask(({ state }) => state === 'rejected')(change)) {
        await other.repository.record(newTask().id, { kind: 'send', owner: 'another', atMs: 0 });
      }
      return commit(change);
    };
    house.videos.willCreate(() => ({ kind: 'unsent', error: errorOf('unavailable', { retryable: false }) }));
    const id = await house.order();
    expect(id).toBe(newTask().id);
    expect(await house.task(id)).toMatchObject({ state: 'sending', lease: { owner: 'another' }, sends: 1 });
  });
});

describe('cancelling', () => {
  it('a claimed task prevents its POST', async () => {
    const house = new TaskHouse();
    const id = await house.order();
    expect(await house.service.cancel(id, BOB)).toMatchObject({ done: true, task: { state: 'cancelled', sends: 0 } });
    house.start();
    await house.pass(60_000);
    expect(house.videos.posts).toEqual([]);
    expect(house.videos.polls).toEqual([]);
  });

  it('a task that is waiting for its next attempt prevents that', async () => {
    const house = new TaskHouse().start();
    house.videos.willCreate(unsent(10_000));
    const id = await house.order();
    await house.service.cancel(id, ADA);
    await house.pass(60_000);
    expect(house.videos.posts).toHaveLength(1);
    expect((await house.task(id)).state).toBe('cancelled');
  });

  it.each([
    ['accepted', accepted('up-1'), { state: 'cancelled', upstreamId: UPSTREAM, sends: 1 }],
    ['unsent', unsent()(), { state: 'cancelled', sends: 0 }],
    ['refused', refused(), { state: 'rejected' }],
    ['lost', lost(), { state: 'uncertain', cancelledBy: BOB }],
  ] as const)('a task while it is sent: %s', async (_name, outcome, expected) => {
    const house = new TaskHouse().start();
    const answer = deferred<CreateOutcome>();
    house.videos.willCreate(() => answer.promise);
    const id = await house.order();
    expect(await house.service.cancel(id, BOB)).toMatchObject({ done: true, task: { state: 'sending' } });
    answer.resolve(outcome);
    await house.pass(10_000);
    expect(await house.task(id)).toMatchObject(expected);
    expect(house.videos.posts).toHaveLength(1);
    expect(house.videos.polls.length > 0).toBe(outcome.kind === 'accepted');
  });
});

describe('a response that cannot be stored', () => {
  const isAnswer = writesTask(({ state, revision }) => state !== 'sending' && revision > 1);

  it('is stored as soon as the store is available, without another POST', async () => {
    const store = new FlakyStore(new MemoryStore());
    const house = new TaskHouse({ store }).start();
    const id = (await house.submit()).task.id;
    for (let at = 0; at < 5; at += 1) store.failNext('unwritten', isAnswer);
    await house.pass(4_000);
    expect((await house.task(id)).state).toBe('sending');
    await house.pass(2_000);
    expect(await house.task(id)).toMatchObject({ state: 'polling', upstreamId: 'up-1' });
    await house.pass(60_000);
    expect(house.videos.posts).toHaveLength(1);
    expect(house.videos.polls.length).toBeGreaterThan(0);
  });

  it.each([
    ['accepted', accepted('up-1'), 'polling'],
    ['lost', lost(), 'uncertain'],
    ['refused', refused(), 'rejected'],
    ['unsent', unsent(50_000)(), 'claimed'],
  ] as const)('or was stored despite an error of the commit, is continued: %s', async (_name, outcome, state) => {
    const store = new FlakyStore(new MemoryStore());
    const house = new TaskHouse({ store }).start();
    house.videos.willCreate(() => outcome);
    store.failNext('answer_lost', isAnswer);
    const id = await house.order();
    await house.pass(10_000);
    expect((await house.task(id)).state).toBe(state);
    expect(house.videos.posts).toHaveLength(1);
    expect(house.videos.polls.length > 0).toBe(outcome.kind === 'accepted');
    // Outcomes for users are being delivered, not only stored.
    expect(house.delivered.includes(id)).toBe(outcome.kind === 'lost' || outcome.kind === 'refused');
    await house.pass(50_000);
    expect(house.videos.posts).toHaveLength(outcome.kind === 'unsent' ? 2 : 1);
  });
});

describe('draining', () => {
  it('waits for the response to a POST and stores it', async () => {
    const house = new TaskHouse().start();
    const answer = deferred<CreateOutcome>();
    house.videos.willCreate(() => answer.promise);
    const id = await house.order();
    let isDrained = false;
    const drained = house.queue.drain().then(() => {
      isDrained = true;
    });
    await house.pass(1_000);
    expect(isDrained).toBe(false);
    answer.resolve(accepted('up-1'));
    await drained;
    expect(await house.task(id)).toMatchObject({ state: 'polling', upstreamId: 'up-1' });
  });
});

describe('the idempotency key of a resubmitted task', () => {
  it('is repeated once, so that a service which honours it bills once, and is then always new', async () => {
    const house = new TaskHouse().start();
    house.videos.willCreate(lost, lost, lost);
    const id = await house.order();
    for (const afterSends of [1, 2, 3]) {
      await house.service.resubmit(id, BOB, { afterSends, price: PURCHASE });
      await house.pass(1_000);
    }
    expect(house.videos.posts.map(({ key }) => key)).toEqual([id, id, `${id}:3`, `${id}:4`]);
  });
});
