import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '#src/errors.ts';
import { ledgerOf } from '#src/tasks/indexes.ts';
import { lastLedgerState } from '#src/tasks/state-machine.ts';
import type { TaskId } from '#src/tasks/task.ts';
import type { Clip, CreateOutcome, UpstreamId } from '#src/videos/service.ts';
import { FlakyStore, writesTask } from '#test/fakes/flaky-store.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { type Deferred, deferred } from '#test/fakes/settle.ts';
import { TaskHouse, type TaskHouseOptions } from '#test/fakes/task-house.ts';
import { ADA, CLIP } from '#test/fakes/tasks.ts';
import { accepted, errorOf, type ScriptedVideos, status, untilAborted } from '#test/fakes/videos.ts';

const HOUR_MS = 3_600_000;

/** An app with one task that is being polled. */
async function following(options: TaskHouseOptions = {}): Promise<{ house: TaskHouse; id: TaskId }> {
  const house = new TaskHouse(options).start();
  return { house, id: await house.order() };
}

/** Times of polls, in seconds since the order. */
async function pollSeconds(house: TaskHouse, forMs: number, stepMs: number): Promise<number[]> {
  const seconds: number[] = [];
  let seen = house.videos.polls.length;
  for (let atMs = stepMs; atMs <= forMs; atMs += stepMs) {
    await house.pass(stepMs, stepMs);
    for (; seen < house.videos.polls.length; seen += 1) seconds.push(atMs / 1_000);
  }
  return seconds;
}

describe('a poll', () => {
  it.each(['queued', 'in_progress', 'unknown'] as const)('is repeated while the service reports %s', async (name) => {
    const { house, id } = await following();
    house.videos.willRetrieve(() => status(name, 40));
    await house.pass(60_000, 1_000);
    expect((await house.task(id)).state).toBe('polling');
    expect(house.videos.polls.length).toBeGreaterThan(5);
    expect(house.progressed.at(-1)).toMatchObject({ task: { id }, upstream: { status: name, progress: 40 } });
    expect(new Set(house.polled)).toEqual(new Set(['ok']));
  });

  it('ends with the clip, which is fetched at once', async () => {
    const { house, id } = await following();
    house.videos.willRetrieve(
      () => status('in_progress', 10),
      () => status('completed', 100),
    );
    await house.pass(10_000);
    expect(await house.task(id)).toMatchObject({
      state: 'completed',
      clip: { path: `/clips/${id}.mp4` },
      presented: false,
    });
    expect(house.videos.downloads).toEqual([{ id: 'up-1', path: `/clips/${id}.mp4` }]);
    const polls = house.videos.polls.length;
    await house.pass(120_000, 5_000);
    expect(house.videos.polls).toHaveLength(polls);
  });

  it('notes until when the service reported it as queued', async () => {
    const { house, id } = await following();
    house.videos.willRetrieve(() => status('queued'));
    await house.pass(20_000);
    const queuedAtMs = house.clock.now();
    house.videos.willRetrieve(() => status('in_progress', 10));
    await house.pass(10_000);
    house.videos.willRetrieve(() => status('completed', 100));
    await house.pass(10_000);
    const { turnAtMs = 0, accepted, endedAtMs = 0 } = await house.task(id);
    expect(turnAtMs - (accepted?.atMs ?? 0)).toBeGreaterThan(5_000);
    expect(turnAtMs).toBeLessThanOrEqual(queuedAtMs);
    expect(endedAtMs).toBeGreaterThan(queuedAtMs);
  });

  it('ends with the failure that the service reports', async () => {
    const { house, id } = await following();
    house.videos.willRetrieve(() => status('failed', null, { code: 'moderated', words: 'no' }));
    await house.pass(5_000);
    expect(await house.task(id)).toMatchObject({ state: 'failed', failure: { code: 'moderated', words: 'no' } });
    expect(house.videos.downloads).toEqual([]);
  });

  it.each([
    ['charges', 'yes', true, 'settled'],
    ['does not charge', 'no', false, 'refunded'],
  ] as const)(
    '%s for what its rules stop, where the catalog says so',
    async (_what, chargesOnRejection, isBilled, state) => {
      const billingOf = () => ({ currency: 'USD', chargesOnRejection });
      const { house, id } = await following({ billingOf });
      house.videos.willRetrieve(() => status('failed', null, { code: 'moderated', words: 'no' }));
      await house.pass(5_000);
      const task = await house.task(id);
      expect(task.failure).toEqual({ code: 'moderated', words: 'no', isBilled });
      expect(lastLedgerState(task)).toBe(state);
      const other = await following({ billingOf });
      other.house.videos.willRetrieve(() => status('failed', null, { code: 'generation_failed', words: 'no' }));
      await other.house.pass(5_000);
      expect((await other.house.task(other.id)).failure).toEqual({ code: 'generation_failed', words: 'no' });
    },
  );

  it.each([
    ['settles by the units that the service reports', '108900', '0.0000024', '0.26136', '0.30'],
    ['rounds up what is less than a millionth', '1', '0.0000024', '0.000003', '0.30'],
    ['stays at its price where the units have none', '108900', undefined, '0.30', undefined],
    ['stays at its price for what is no number of units', 'many', '0.0000024', '0.30', undefined],
    ['stays at its price for none', '0', '0.0000024', '0.30', undefined],
  ])('%s', async (_what, units, unitPrice, amount, listed) => {
    const billing = { currency: 'USD', ...(unitPrice === undefined ? {} : { unitPrice }) };
    const { house, id } = await following({ billingOf: () => billing });
    house.videos.willRetrieve(() => ({ ...status('completed'), units }));
    await house.pass(5_000);
    const send = (await house.task(id)).money?.sends.at(-1);
    expect([send?.amount, send?.listed]).toEqual([amount, listed]);
  });

  it('ends with a generic failure where the service reports none', async () => {
    const { house, id } = await following();
    house.videos.willRetrieve(() => status('failed'));
    await house.pass(5_000);
    expect(await house.task(id)).toMatchObject({ failure: { code: 'generation_failed', words: null } });
  });
});

describe('the pace of polling', () => {
  it('slows down with the age of the task', async () => {
    const { house } = await following();
    const at = await pollSeconds(house, 30 * 60_000, 5_000);
    const gaps = (from: number, to: number): number[] => {
      const within = at.filter((second) => second >= from && second <= to);
      return [...new Set(within.slice(1).map((second, place) => second - (within[place] ?? 0)))];
    };
    expect(at[0]).toBe(5);
    expect(gaps(5, 120)).toEqual([5]);
    expect(gaps(130, 290)).toEqual([10]);
    expect(gaps(310, 590)).toEqual([15]);
    expect(gaps(620, 1_190)).toEqual([20]);
    expect(gaps(1_230, 1_800)).toEqual([30]);
  });

  it('stays at its slowest while the task is overdue', async () => {
    const { house, id } = await following({ pace: { deadlineMs: 60_000 } });
    const at = await pollSeconds(house, 10 * 60_000, 5_000);
    const late = at.filter((second) => second > 95);
    expect(late.length).toBeGreaterThan(10);
    expect(new Set(late.slice(1).map((second, place) => second - (late[place] ?? 0)))).toEqual(new Set([30]));
    expect((await house.task(id)).state).toBe('polling');
  });
});

describe('a poll that fails', () => {
  const codes: readonly ErrorCode[] = ['unavailable', 'timed_out', 'bad_answer', 'unauthorised', 'rate_limited'];

  it.each(codes)('with %s never ends the task', async (code) => {
    const { house, id } = await following();
    house.videos.willRetrieve(() => {
      throw errorOf(code, { retryable: false });
    });
    await house.pass(2 * HOUR_MS, 30_000);
    expect((await house.task(id)).state).toBe('polling');
    expect(house.polled.at(-1)).toBe(code);
    house.videos.willRetrieve(() => status('completed'));
    await house.pass(30_000);
    expect((await house.task(id)).state).toBe('completed');
  });

  it('asks a person after a day of answers that cannot be read', async () => {
    const { house, id } = await following();
    house.videos.willRetrieve(() => {
      throw errorOf('bad_answer');
    });
    await house.pass(23.9 * HOUR_MS, 60_000);
    expect((await house.task(id)).state).toBe('polling');
    await house.pass(0.2 * HOUR_MS, 60_000);
    expect(await house.task(id)).toMatchObject({ state: 'uncertain', failure: { code: 'bad_answer' } });
  });

  it('is retried with backoff, within the shortest and the longest interval', async () => {
    const { house } = await following();
    house.videos.willRetrieve(() => {
      throw errorOf('unavailable');
    });
    const at = await pollSeconds(house, 5 * 60_000, 500);
    const gaps = at.slice(1).map((second, place) => second - (at[place] ?? 0));
    expect(gaps.slice(0, 5)).toEqual([5, 5, 10, 15, 15]);
    expect(Math.max(...gaps)).toBe(15);
  });

  it('is reported with its reason and the time of the next attempt', async () => {
    const { house } = await following();
    house.videos.willRetrieve(() => {
      throw errorOf('unavailable', { words: 'HTTP 503' });
    });
    await house.pass(10_000);
    expect(house.retrying.map(({ retry: { step, code, words }, failures }) => [step, code, words, failures])).toEqual([
      ['poll', 'unavailable', 'HTTP 503', 1],
      ['poll', 'unavailable', 'HTTP 503', 2],
    ]);
    expect(house.retrying.at(-1)?.retry.nextAtMs).toBe(house.clock.now() + 5_000);
  });

  it('is delayed for as long as the service asks', async () => {
    const { house } = await following();
    house.videos.willRetrieve(
      () => {
        throw errorOf('rate_limited', { retryAfterMs: 90_000 });
      },
      () => status('queued'),
    );
    await house.pass(5_000);
    await house.pass(89_999, 1_000);
    expect(house.videos.polls).toHaveLength(1);
    await house.pass(1);
    expect(house.videos.polls).toHaveLength(2);
  });
});

describe('a task that the service does not know', () => {
  const unknown = (retryable: boolean) => (): never => {
    throw errorOf('task_unknown', { retryable });
  };

  it.each([
    ['named', false, HOUR_MS / 2],
    ['possibly a proxy’s error page', true, 24 * HOUR_MS],
  ] as const)('for long enough needs a decision by a user: %s', async (_name, retryable, patienceMs) => {
    const { house, id } = await following();
    house.videos.willRetrieve(unknown(retryable));
    await house.pass(patienceMs - 60_000, 10_000);
    expect((await house.task(id)).state).toBe('polling');
    await house.pass(120_000, 10_000);
    expect(await house.task(id)).toMatchObject({ state: 'uncertain', upstreamId: 'up-1', sends: 1, presented: false });
    expect(ledgerOf(await house.task(id)).map(({ state }) => state)).toEqual(['in_doubt']);
    expect(house.delivered).toContain(id);
    const polls = house.videos.polls.length;
    await house.pass(HOUR_MS, 60_000);
    expect(house.videos.polls).toHaveLength(polls);
    expect(house.videos.posts).toHaveLength(1);
  });

  it.each([
    ['is known in between', () => status('in_progress')],
    [
      'cannot be polled in between',
      () => {
        throw errorOf('unavailable');
      },
    ],
  ] as const)('but %s is polled on', async (_name, answer) => {
    const { house, id } = await following();
    for (let round = 0; round < 4; round += 1) {
      house.videos.willRetrieve(unknown(false));
      await house.pass(HOUR_MS / 3, 10_000);
      house.videos.willRetrieve(answer);
      await house.pass(60_000, 10_000);
    }
    expect((await house.task(id)).state).toBe('polling');
  });

  it('and is assigned another id is polled under that one, with the full timeout', async () => {
    const { house, id } = await following();
    house.videos.willRetrieve(unknown(false));
    await house.pass(HOUR_MS, 10_000);
    house.videos.willRetrieve(() => status('queued'));
    await house.service.identify(id, ADA, 'found' as UpstreamId);
    house.videos.willRetrieve(unknown(false));
    await house.pass(HOUR_MS / 3, 10_000);
    expect(await house.task(id)).toMatchObject({ state: 'polling', upstreamId: 'found' });
  });
});

describe('a service that asks for a pause', () => {
  it('is not polled for other tasks either until then', async () => {
    const { house } = await following();
    await house.order({ key: 'fake:i2' });
    await house.pass(4_000);
    await house.order({ key: 'fake:i3' });
    house.videos.willRetrieve(
      () => status('queued'),
      () => {
        throw errorOf('rate_limited', { retryAfterMs: 60_000 });
      },
      () => status('queued'),
    );
    await house.pass(1_000);
    expect(house.videos.polls).toEqual(['up-1', 'up-2']);
    await house.pass(59_999, 1_000);
    expect(house.videos.polls).toHaveLength(2);
    await house.pass(1);
    expect(house.videos.polls.slice(2).toSorted()).toEqual(['up-1', 'up-2', 'up-3']);
  });

  it.each([errorOf('rate_limited'), errorOf('unavailable', { retryAfterMs: 60_000 })])(
    'is polled for other tasks if it names no duration, or reports no rate limit',
    async (error) => {
      const { house } = await following();
      await house.pass(1_000);
      await house.order({ key: 'fake:i2' });
      house.videos.willRetrieve(
        () => {
          throw error;
        },
        () => status('queued'),
      );
      await house.pass(5_000);
      expect(house.videos.polls).toContain('up-2');
    },
  );
});

describe('a poll that succeeds again', () => {
  it('resets the backoff', async () => {
    const { house } = await following();
    const fail = (): never => {
      throw errorOf('unavailable');
    };
    house.videos.willRetrieve(
      fail,
      fail,
      fail,
      fail,
      () => status('queued'),
      fail,
      () => status('queued'),
    );
    const at = await pollSeconds(house, 80_000, 500);
    const gaps = at.slice(1).map((second, place) => second - (at[place] ?? 0));
    expect(gaps.slice(0, 6)).toEqual([5, 5, 10, 15, 5, 5]);
  });
});

describe('an outcome that was stored despite an error of the commit', () => {
  it.each([
    ['completed', () => status('completed'), 'completed'],
    ['failed', () => status('failed'), 'failed'],
  ] as const)('is continued: %s', async (_name, answer, state) => {
    const store = new FlakyStore(new MemoryStore());
    const { house, id } = await following({ store });
    house.videos.willRetrieve(answer);
    store.failNext(
      'answer_lost',
      writesTask((task) => task.state === state),
    );
    await house.pass(30_000, 1_000);
    const task = await house.task(id);
    expect(task.state).toBe(state);
    expect(task.clip !== undefined).toBe(state === 'completed');
    expect(house.delivered).toContain(id);
  });

  it('is delivered if it is a clip', async () => {
    const store = new FlakyStore(new MemoryStore());
    const { house, id } = await following({ store });
    house.videos.willRetrieve(() => status('completed'));
    store.failNext(
      'answer_lost',
      writesTask((task) => task.clip !== undefined),
    );
    await house.pass(30_000, 1_000);
    expect((await house.task(id)).clip).toBeDefined();
    expect(house.delivered).toContain(id);
  });
});

describe('a cancelled task', () => {
  it('is polled quietly to its outcome', async () => {
    const { house, id } = await following();
    house.videos.willRetrieve(() => status('in_progress', 50));
    await house.pass(10_000);
    await house.service.cancel(id, ADA);
    const polls = house.videos.polls.length;
    await house.pass(60_000, 1_000);
    expect(house.videos.polls.length).toBeGreaterThan(polls);
    house.videos.willRetrieve(() => status('completed'));
    await house.pass(10_000);
    expect(await house.task(id)).toMatchObject({ state: 'cancelled', lateOutcome: 'completed' });
  });

  /** A cancelled task of a service that can cancel, with the state of its looks. */
  async function cancelled(
    onCancel: ScriptedVideos['onCancel'],
    ...looks: readonly (() => ReturnType<typeof status>)[]
  ) {
    const { house, id } = await following();
    house.videos.onCancel = onCancel;
    house.videos.willRetrieve(...looks);
    await house.service.cancel(id, ADA);
    return { house, id };
  }
  const unknown = (retryable: boolean) => (): never => {
    throw errorOf('task_unknown', { retryable });
  };

  it('is cancelled at the service while it is queued there, and its end is the service’s', async () => {
    const isCancelled = status('failed', null, { code: 'cancelled', words: null });
    const { house, id } = await cancelled(
      'agreed',
      () => status('queued'),
      () => isCancelled,
    );
    await house.pass(10_000);
    expect(house.videos.cancels).toEqual(['up-1']);
    const failure = { code: 'cancelled' };
    expect(await house.task(id)).toMatchObject({ state: 'cancelled', lateOutcome: 'failed', failure });
    expect(ledgerOf(await house.task(id)).map(({ state }) => state)).toEqual(['refunded']);
  });

  it.each(['in_progress', 'unknown', 'completed'] as const)('is not cancelled there in the state %s', async (state) => {
    const { house } = await cancelled('agreed', () => status(state));
    await house.pass(60_000, 1_000);
    expect(house.videos.cancels).toEqual([]);
  });

  it('is not cancelled there before a user cancels it', async () => {
    const { house } = await following();
    await house.pass(60_000, 1_000);
    expect(house.videos.polls.length).toBeGreaterThan(1);
    expect(house.videos.cancels).toEqual([]);
  });

  it('is not cancelled there where its id was entered by a user: it may be that of another task', async () => {
    const house = new TaskHouse().start();
    house.videos.willCreate(() => ({ kind: 'lost', error: errorOf('lost_answer', { retryable: false }) }));
    const id = await house.order();
    await house.service.identify(id, ADA, 'up-entered' as UpstreamId);
    await house.service.cancel(id, ADA);
    await house.pass(60_000, 1_000);
    expect(house.videos.polls).toContain('up-entered');
    expect(house.videos.cancels).toEqual([]);
  });

  it('is not cancelled there by a look that is not fresh any more: the call may delete a clip', async () => {
    const { house, id } = await following();
    house.videos.willRetrieve(
      () => {
        house.clock.advance(6_000);
        return status('queued');
      },
      () => status('completed'),
    );
    await house.service.cancel(id, ADA);
    await house.pass(20_000, 1_000);
    expect(house.videos.cancels).toEqual([]);
    expect(await house.task(id)).toMatchObject({ lateOutcome: 'completed' });
  });

  it('is polled to its outcome where the service refuses to cancel it', async () => {
    const { house, id } = await cancelled(
      'refused',
      () => status('queued'),
      () => status('in_progress'),
      () => status('completed'),
    );
    await house.pass(60_000, 1_000);
    expect(await house.task(id)).toMatchObject({ state: 'cancelled', lateOutcome: 'completed' });
  });

  it('is cancelled where its service agreed to forget it, and says for a minute that it did', async () => {
    const { house, id } = await cancelled('forgets', () => status('queued'), unknown(false));
    await house.pass(30_000, 1_000);
    expect((await house.task(id)).lateOutcome).toBeUndefined();
    await house.pass(180_000, 1_000);
    expect(await house.task(id)).toMatchObject({ lateOutcome: 'failed', failure: { code: 'cancelled', words: null } });
  });

  it.each<[string, ScriptedVideos['onCancel'], readonly (() => ReturnType<typeof status>)[]]>([
    ['was not agreed to be forgotten', 'agreed', [() => status('queued'), unknown(false)]],
    ['was never queued', 'forgets', [unknown(false)]],
    ['a proxy says is unknown', 'forgets', [() => status('queued'), unknown(true)]],
    ['began all the same', 'forgets', [() => status('queued'), () => status('in_progress'), unknown(false)]],
    [
      'is unknown now and then',
      'forgets',
      [
        () => status('queued'),
        ...Array.from({ length: 60 }, () => [
          unknown(false),
          () => {
            throw errorOf('timed_out');
          },
        ]).flat(),
      ],
    ],
  ])('is in doubt after a day where it %s', async (_what, onCancel, looks) => {
    const { house, id } = await cancelled(onCancel, ...looks);
    await house.pass(600_000, 1_000);
    expect((await house.task(id)).lateOutcome).toBeUndefined();
    house.videos.willRetrieve(unknown(true));
    await house.pass(25 * HOUR_MS, 60_000);
    expect(await house.task(id)).toMatchObject({ lateOutcome: 'unknown' });
    expect(ledgerOf(await house.task(id)).map(({ state }) => state)).toEqual(['in_doubt']);
  });

  /** A cancelled task that the service finished anyway. */
  async function late(
    options: TaskHouseOptions,
    ...downloads: readonly ((signal?: AbortSignal) => Clip | Promise<Clip>)[]
  ) {
    const { house, id } = await following(options);
    await house.service.cancel(id, ADA);
    house.videos.willRetrieve(() => status('completed'));
    house.videos.willDownload(...downloads);
    await house.pass(5_000);
    return { house, id };
  }
  const gone = (): never => {
    throw errorOf('gone', { retryable: false });
  };

  it('that finishes late is fetched at once: an hour later the service may have dropped it', async () => {
    const { house, id } = await late({}, () => CLIP);
    expect(await house.task(id)).toMatchObject({ state: 'cancelled', lateOutcome: 'completed', clip: CLIP });
    expect(house.delivered).toContain(id);
    expect(await house.service.open({ platform: 'fake', team: 'T1' }, 5)).toEqual([]);
    expect(await house.service.want(id, ADA)).toMatchObject({ done: true, task: { state: 'completed', clip: CLIP } });
    await house.pass(60_000, 1_000);
    expect(house.videos.downloads).toHaveLength(1);
  });

  it('is fetched by the next process where this one died during the fetch', async () => {
    const { house, id } = await late({}, untilAborted);
    await house.queue.drain();
    expect(await house.task(id)).toMatchObject({ state: 'cancelled', lateOutcome: 'completed', presented: true });
    expect((await house.service.open({ platform: 'fake', team: 'T1' }, 5)).map((task) => task.id)).toEqual([id]);
    const next = house.another().start();
    next.videos.willDownload(() => CLIP);
    const polls = next.videos.polls.length;
    expect(await next.service.resume()).toBe(1);
    await next.pass(1_000);
    expect(await next.task(id)).toMatchObject({ state: 'cancelled', clip: CLIP });
    expect(next.videos.polls).toHaveLength(polls);
    expect(next.delivered).toContain(id);
  });

  it('whose outcome was stored despite an error of the commit is fetched', async () => {
    const store = new FlakyStore(new MemoryStore());
    store.failNext(
      'answer_lost',
      writesTask((task) => task.lateOutcome === 'completed'),
    );
    const { house, id } = await late({ store }, () => CLIP);
    await house.pass(30_000, 1_000);
    expect(await house.task(id)).toMatchObject({ state: 'cancelled', clip: CLIP });
    expect(house.delivered).toContain(id);
  });

  it('whose clip cannot be fetched ends with the reason, and is retried when a user reclaims it', async () => {
    const { house, id } = await late({}, gone, () => CLIP);
    expect(await house.task(id)).toMatchObject({ state: 'cancelled', failure: { code: 'gone' }, presented: false });
    expect(await house.service.open({ platform: 'fake', team: 'T1' }, 5)).toEqual([]);
    await house.pass(HOUR_MS, 60_000);
    expect(house.videos.downloads).toHaveLength(1);
    expect(await house.service.want(id, ADA)).toMatchObject({ done: true, task: { state: 'completed' } });
    await house.pass(0);
    expect(await house.task(id)).toMatchObject({ state: 'completed', clip: CLIP });
    expect(await house.task(id)).not.toHaveProperty('failure');
  });

  it('whose fetch never succeeds is open for a day at most', async () => {
    const { house, id } = await late({}, () => {
      throw errorOf('unavailable');
    });
    await house.pass(23.9 * HOUR_MS, 300_000);
    expect(await house.service.open({ platform: 'fake', team: 'T1' }, 5)).toHaveLength(1);
    await house.pass(0.2 * HOUR_MS, 60_000);
    expect(await house.service.open({ platform: 'fake', team: 'T1' }, 5)).toEqual([]);
    expect(await house.task(id)).toMatchObject({ state: 'cancelled', failure: { code: 'unavailable' } });
  });

  it.each([
    ['arrives', (clip: Deferred<Clip>) => clip.resolve(CLIP)],
    ['cannot be fetched', (clip: Deferred<Clip>) => clip.reject(errorOf('gone', { retryable: false }))],
  ] as const)('may be reclaimed while its clip is being fetched, which then %s', async (_name, end) => {
    const clip = deferred<Clip>();
    const { house, id } = await late({}, () => clip.promise);
    expect(await house.service.want(id, ADA)).toMatchObject({ done: true, task: { state: 'completed' } });
    await house.pass(1_000);
    end(clip);
    await house.pass(10_000);
    const task = await house.task(id);
    expect(task).toMatchObject({ state: 'completed', presented: false });
    expect((task.clip === undefined) !== (task.failure === undefined)).toBe(true);
    expect(house.videos.downloads).toHaveLength(1);
    expect(house.delivered).toContain(id);
  });

  it.each([
    ['completed', () => status('completed')],
    ['failed', () => status('failed')],
  ] as const)('that was not polled for a day is polled once more: %s', async (lateOutcome, answer) => {
    const { house, id } = await following();
    await house.service.cancel(id, ADA);
    await house.queue.drain();
    house.clock.step(60 * HOUR_MS);
    const next = house.another().start();
    next.videos.willRetrieve(answer);
    await next.service.resume();
    await next.pass(10_000, 1_000);
    expect(await next.task(id)).toMatchObject({ state: 'cancelled', lateOutcome });
  });

  it.each(['rate_limited', 'unavailable', 'timed_out', 'unauthorised'] as const)(
    'is not given up while the service is inconclusive: %s',
    async (code) => {
      const { house, id } = await following();
      await house.service.cancel(id, ADA);
      house.videos.willRetrieve(() => {
        throw errorOf(code);
      });
      await house.pass(60 * HOUR_MS, 60_000);
      expect(await house.task(id)).not.toHaveProperty('lateOutcome');
      house.videos.willRetrieve(() => status('completed'));
      await house.pass(60_000, 10_000);
      expect(await house.task(id)).toMatchObject({ state: 'cancelled', lateOutcome: 'completed' });
    },
  );

  it('whose outcome could not be stored is not given up either', async () => {
    const store = new FlakyStore(new MemoryStore());
    const { house, id } = await following({ store });
    await house.service.cancel(id, ADA);
    house.videos.willRetrieve(() => status('in_progress'));
    await house.pass(23.9 * HOUR_MS, 60_000);
    house.videos.willRetrieve(() => status('completed'));
    store.failNext(
      'unwritten',
      writesTask((task) => task.lateOutcome !== undefined),
    );
    house.clock.step(HOUR_MS);
    await house.pass(60_000, 10_000);
    expect(await house.task(id)).toMatchObject({ state: 'cancelled', lateOutcome: 'completed' });
  });

  it.each(['task_unknown', 'bad_answer'] as const)('is given up after a day of %s', async (code) => {
    const { house, id } = await following();
    await house.service.cancel(id, ADA);
    house.videos.willRetrieve(() => {
      throw errorOf(code);
    });
    await house.pass(23.9 * HOUR_MS, 60_000);
    expect(await house.task(id)).not.toHaveProperty('lateOutcome');
    await house.pass(0.2 * HOUR_MS, 60_000);
    expect(await house.task(id)).toMatchObject({ state: 'cancelled', lateOutcome: 'unknown' });
  });

  it('is given up after a day', async () => {
    const { house, id } = await following();
    await house.service.cancel(id, ADA);
    await house.pass(23.9 * HOUR_MS, 60_000);
    expect(await house.task(id)).not.toHaveProperty('lateOutcome');
    await house.pass(0.2 * HOUR_MS, 60_000);
    expect(await house.task(id)).toMatchObject({ state: 'cancelled', lateOutcome: 'unknown' });
    const polls = house.videos.polls.length;
    await house.pass(HOUR_MS, 60_000);
    expect(house.videos.polls).toHaveLength(polls);
  });
});

describe('fetching a clip', () => {
  async function finished(...downloads: readonly (() => Clip)[]) {
    const made = await following();
    made.house.videos.willRetrieve(() => status('completed'));
    made.house.videos.willDownload(...downloads);
    await made.house.pass(5_000);
    return made;
  }

  it('is retried with backoff until it succeeds', async () => {
    const fail = (): never => {
      throw errorOf('unavailable');
    };
    const { house, id } = await finished(fail, fail, fail, () => CLIP);
    await house.pass(374, 1);
    expect(house.videos.downloads).toHaveLength(1);
    await house.pass(1);
    expect(house.videos.downloads).toHaveLength(2);
    await house.pass(10_000);
    expect(house.videos.downloads).toHaveLength(4);
    expect(await house.task(id)).toMatchObject({ clip: CLIP });
  });

  it.each(['gone', 'not_a_video', 'refused_address'] as const)('ends at once with %s', async (code) => {
    const { house, id } = await finished(() => {
      throw errorOf(code, { retryable: false, words: 'so it is' });
    });
    expect(await house.task(id)).toMatchObject({
      state: 'completed',
      failure: { code, words: 'so it is' },
      presented: false,
    });
    await house.pass(HOUR_MS, 60_000);
    expect(house.videos.downloads).toHaveLength(1);
  });

  it('is retried for half an hour if the clip is not ready', async () => {
    const { house, id } = await finished(() => {
      throw errorOf('not_ready');
    });
    await house.pass(HOUR_MS / 2 - 10_000, 10_000);
    expect(await house.task(id)).not.toHaveProperty('failure');
    await house.pass(6 * 60_000, 10_000);
    expect(await house.task(id)).toMatchObject({ failure: { code: 'not_ready' } });
  });

  it('is retried if the clip is not ready, even where the clock was stepped by an hour after the end', async () => {
    const { house, id } = await following();
    house.videos.willRetrieve(() => status('completed'));
    house.videos.willDownload(
      () => {
        house.clock.step(HOUR_MS);
        throw errorOf('not_ready');
      },
      () => CLIP,
    );
    await house.pass(5_000);
    expect(await house.task(id)).not.toHaveProperty('failure');
    await house.pass(60_000, 1_000);
    expect(await house.task(id)).toMatchObject({ clip: CLIP });
  });

  it.each(['unauthorised', 'forbidden', 'disk_full', 'internal'] as const)(
    'is retried for a day while an operator can fix %s',
    async (code) => {
      const { house, id } = await finished(() => {
        throw errorOf(code, { retryable: false });
      });
      await house.pass(23 * HOUR_MS, 300_000);
      expect(await house.task(id)).not.toHaveProperty('failure');
      house.videos.willDownload(() => CLIP);
      await house.pass(300_000, 10_000);
      expect(await house.task(id)).toMatchObject({ clip: CLIP });
    },
  );

  it('takes precedence over failed ones: bad downloads do not delay others', async () => {
    const house = new TaskHouse().start();
    const first = await Promise.all(['i1', 'i2', 'i3', 'i4', 'i5'].map((key) => house.order({ key: `fake:${key}` })));
    house.videos.willRetrieve(() => status('completed'));
    const begun = new Set<string>();
    house.videos.willDownloadBy((id, signal) => {
      if (id === 'up-6') return CLIP;
      if (begun.has(id)) return untilAborted(signal);
      begun.add(id);
      throw errorOf('unavailable');
    });
    await house.pass(60_000, 500);
    expect(begun.size).toBe(first.length);
    // Two of the five were started again and never end; the others wait, which leaves two of the four slots free.
    expect(house.videos.downloads).toHaveLength(7);
    const good = await house.order({ key: 'fake:i6' });
    await house.pass(5_000, 500);
    expect(await house.task(good)).toMatchObject({ clip: CLIP });
    await house.queue.drain();
  });

  it('is delayed for as long as the service asks', async () => {
    const { house } = await finished(
      () => {
        throw errorOf('rate_limited', { retryAfterMs: 77_000 });
      },
      () => CLIP,
    );
    await house.pass(76_999, 1_000);
    expect(house.videos.downloads).toHaveLength(1);
    await house.pass(1);
    expect(house.videos.downloads).toHaveLength(2);
  });

  it('that is waiting for its next attempt is retried at once when a user requests it', async () => {
    const fail = (): never => {
      throw errorOf('not_ready');
    };
    const { house, id } = await finished(fail, () => CLIP);
    expect(house.retrying.map(({ retry: { step, code } }) => [step, code])).toEqual([['fetch', 'not_ready']]);
    expect(await house.service.refetch(id, ADA)).toMatchObject({ done: true });
    await house.pass(0);
    expect(await house.task(id)).toMatchObject({ clip: CLIP });
  });

  it('is retried when a user requests it', async () => {
    const { house, id } = await finished(
      () => {
        throw errorOf('gone', { retryable: false });
      },
      () => CLIP,
    );
    expect(await house.service.refetch(id, ADA)).toMatchObject({ done: true });
    await house.pass(0);
    expect(await house.task(id)).toMatchObject({ clip: CLIP });
    expect(await house.service.refetch(id, ADA)).toMatchObject({ done: false });
  });
});

describe('draining', () => {
  it('ends a poll and a download at once, and a new process continues', async () => {
    const { house, id } = await following();
    house.videos.willRetrieve(untilAborted);
    await house.pass(5_000);
    await house.queue.drain();
    expect((await house.task(id)).state).toBe('polling');
    expect(house.polled).toEqual([]);

    const next = house.another().start();
    next.videos.willRetrieve(() => status('completed'));
    next.videos.willDownload(untilAborted);
    expect(await next.service.resume()).toBe(1);
    await next.pass(1_000);
    expect(next.videos.downloads).toHaveLength(1);
    await next.queue.drain();
    expect(await next.task(id)).not.toHaveProperty('failure');

    const last = next.another().start();
    last.videos.willDownload(() => CLIP);
    await last.service.resume();
    await last.pass(1_000);
    expect(await last.task(id)).toMatchObject({ clip: CLIP });
    expect(last.videos.posts).toHaveLength(1);
  });

  it('does not record the error of an aborted download as the end of the clip', async () => {
    const { house, id } = await following();
    house.videos.willRetrieve(() => status('completed'));
    house.videos.willDownload((signal) =>
      untilAborted(signal).catch(() => {
        throw errorOf('not_a_video', { retryable: false });
      }),
    );
    await house.pass(5_000);
    await house.queue.drain();
    expect(await house.task(id)).toMatchObject({ state: 'completed' });
    expect(await house.task(id)).not.toHaveProperty('failure');
  });

  it('is not needed for a task whose response arrives after its fetch was scheduled', async () => {
    const house = new TaskHouse().start();
    const answer = deferred<CreateOutcome>();
    house.videos.willCreate(() => answer.promise);
    const id = await house.order();
    house.queue.schedule('poll', id, house.clock.now());
    house.queue.schedule('fetch', id, house.clock.now());
    await house.pass(1_000);
    answer.resolve(accepted('up-1'));
    await house.pass(10_000);
    expect(house.videos.posts).toHaveLength(1);
    expect(house.videos.downloads).toEqual([]);
    expect((await house.task(id)).state).toBe('polling');
  });
});
