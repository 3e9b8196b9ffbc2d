import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobHandler, JobKind, QueueLimits, QueueName, WorkQueue } from '#src/engine/queue/queue.ts';
import { DailiesError } from '#src/errors.ts';

/** Number of concurrent jobs of each kind in a {@link Replica}. */
export const CONCURRENCY = { send: 2, poll: 2, fetch: 2, deliver: 1, notify: 1, join: 1, frame: 1 } as const;

/** Enabled platforms in a {@link Replica}. */
export const PLATFORMS = ['fake'] as const;

/** Backend for the queues of one test. */
export interface QueueBackend {
  /** Opens a process's queue with {@link CONCURRENCY} and {@link PLATFORMS}; two of one backend share schedules. */
  open(limits?: QueueLimits): Promise<WorkQueue>;
  remove(): Promise<void>;
}

const HOUR_MS = 3_600_000;

type Handlers = Partial<Readonly<Record<JobKind, JobHandler>>>;

/** Process with a queue, and a record of the jobs that it started. */
export class Replica {
  readonly queue: WorkQueue;
  /** Started jobs such as `poll a`, in order; shared by the replicas of a test. */
  readonly begun: string[];
  readonly #open = new Map<string, PromiseWithResolvers<number | null>>();
  #looking: (() => void)[] = [];

  constructor(queue: WorkQueue, begun: string[] = []) {
    this.queue = queue;
    this.begun = begun;
  }

  /** Starts the queue; jobs without a handler are recorded and end at once. */
  start(handlers: Handlers = {}): this {
    const recorded = (kind: JobKind): JobHandler => {
      return async (id, signal) => {
        this.begun.push(`${kind} ${id}`);
        for (const look of this.#looking) look();
        return (await handlers[kind]?.(id, signal)) ?? null;
      };
    };
    this.queue.start({
      send: recorded('send'),
      poll: recorded('poll'),
      fetch: recorded('fetch'),
      deliver: recorded('deliver'),
      notify: recorded('notify'),
      join: recorded('join'),
      frame: recorded('frame'),
    });
    return this;
  }

  /** Handler that runs until {@link end}. */
  readonly byHand: JobHandler = (id) => {
    const end = Promise.withResolvers<number | null>();
    this.#open.set(id, end);
    return end.promise;
  };

  /** Ends a job of {@link byHand}; `delayMs` until its next run, `null` for none. */
  end(id: string, delayMs: number | null = null): void {
    this.#open.get(id)?.resolve(delayMs);
  }

  /** Schedules a job in `inMs` milliseconds. */
  plan(lane: QueueName, id: string, inMs = 0): this {
    this.queue.schedule(lane, id, Date.now() + inMs);
    return this;
  }

  /** Resolves once `count` jobs have started, in all. */
  beginning(count: number): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.begun.length >= count) resolve();
      };
      this.#looking = [...this.#looking, look];
      look();
    });
  }

  /** Resolves once no job of a queue is scheduled or running. */
  async idle(lane: QueueName): Promise<void> {
    await expect.poll(() => this.queue.stats(lane)).toMatchObject({ planned: 0, running: 0 });
  }
}

/** Contract of every work queue. */
export function describeQueue(name: string, begin: () => Promise<QueueBackend>): void {
  describe(name, () => {
    let backend: QueueBackend;
    const open: Replica[] = [];
    const replica = async (limits?: QueueLimits): Promise<Replica> => {
      const made = new Replica(await backend.open(limits));
      open.push(made);
      return made;
    };

    beforeEach(async () => {
      backend = await begin();
    });

    afterEach(async () => {
      for (const { queue } of open.splice(0)) {
        await queue.drain(1_000);
        await queue.close();
      }
      await backend.remove();
    });

    it('runs the queues of the enabled platforms', async () => {
      const one = (await replica()).start().plan('deliver:fake', 'a').plan('notify:fake', 'b');
      await one.beginning(2);
      expect(one.begun.toSorted()).toEqual(['deliver a', 'notify b']);
      expect(one.queue.names.toSorted()).toEqual([
        'deliver:fake',
        'fetch',
        'frame',
        'join',
        'notify:fake',
        'poll',
        'send',
      ]);
    });

    it('runs jobs in the order of their times, each once, and keeps no finished job', async () => {
      const one = (await replica()).plan('poll', 'c', 2_000).plan('poll', 'a', 1_000).plan('poll', 'b', 1_500).start();
      await one.beginning(3);
      expect(one.begun).toEqual(['poll a', 'poll b', 'poll c']);
      await one.idle('poll');
      expect(one.begun).toHaveLength(3);
    });

    it('accepts any id', async () => {
      const one = (await replica()).start().plan('send', '123').plan('send', 'a:b').plan('send', 'é %');
      await one.beginning(3);
      expect(one.begun.toSorted()).toEqual(['send 123', 'send a:b', 'send é %']);
    });

    it('replaces a schedule by an earlier one', async () => {
      const one = (await replica()).start().plan('poll', 'a', HOUR_MS).plan('poll', 'a', 20);
      await one.beginning(1);
      await one.idle('poll');
      expect(one.begun).toEqual(['poll a']);
    });

    it('replaces a schedule by a later one', async () => {
      const one = (await replica()).plan('poll', 'a', 1).plan('poll', 'a', HOUR_MS);
      const atMs = Date.now() + HOUR_MS;
      const isLate = () => one.queue.ensure({ queue: 'poll', ids: ['a'], atMs, latestMs: atMs - HOUR_MS / 2 });
      await expect.poll(isLate).toBe(1);
      one.plan('poll', 'b').start();
      await one.beginning(1);
      await expect.poll(() => one.queue.stats('poll')).toMatchObject({ planned: 1, running: 0 });
      expect(one.begun).toEqual(['poll b']);
    });

    it('runs a job that is scheduled too late', async () => {
      const one = (await replica())
        .start()
        .plan('poll', 'a', HOUR_MS)
        .plan('poll', 'b', HOUR_MS / 60);
      await expect.poll(() => one.queue.stats('poll')).toMatchObject({ planned: 2 });
      const atMs = Date.now();
      const lost = await one.queue.ensure({ queue: 'poll', ids: ['a', 'b'], atMs, latestMs: atMs + HOUR_MS / 6 });
      expect(lost).toBe(1);
      await one.beginning(1);
      await expect.poll(() => one.queue.stats('poll')).toMatchObject({ planned: 1, running: 0 });
      expect(one.begun).toEqual(['poll a']);
    });

    it('repeats a job for as long as its handler returns a delay', async () => {
      const one = await replica();
      const answers = [0, 20, null];
      one.start({ poll: async () => answers.shift() ?? null }).plan('poll', 'a');
      await one.beginning(3);
      await one.idle('poll');
      expect(one.begun).toHaveLength(3);
    });

    it('limits the concurrency of a queue without delaying the others', async () => {
      const one = await replica();
      one.start({ poll: one.byHand });
      for (const id of ['a', 'b', 'c']) one.plan('poll', id);
      await one.beginning(2);
      one.plan('send', 'd');
      await one.beginning(3);
      expect(one.begun).toEqual(['poll a', 'poll b', 'send d']);
      await expect.poll(() => one.queue.stats('poll')).toMatchObject({ planned: 1, running: 2 });
      one.end('a');
      await one.beginning(4);
      expect(one.begun.at(-1)).toBe('poll c');
      for (const id of ['b', 'c']) one.end(id);
    });

    it.each([
      ['now', 0, HOUR_MS],
      ['in an hour', HOUR_MS, 0],
      ['now, without a follow-up of its own,', 0, null],
    ])(
      'does not run a job twice at once: a schedule for %s waits, and the earlier one wins',
      async (_, inMs, answer) => {
        const one = await replica();
        one.start({ poll: one.byHand }).plan('poll', 'a');
        await one.beginning(1);
        one.plan('poll', 'a', inMs).plan('poll', 'b');
        await one.beginning(2);
        expect(one.begun).toEqual(['poll a', 'poll b']);
        one.end('a', answer);
        await one.beginning(3);
        expect(one.begun).toEqual(['poll a', 'poll b', 'poll a']);
        for (const id of ['a', 'b']) one.end(id);
        await one.idle('poll');
      },
    );

    it('retries a failed job after the delay that its error asks for', async () => {
      const one = await replica();
      let tries = 0;
      const poll: JobHandler = async () => {
        tries += 1;
        if (tries > 2) return null;
        throw new DailiesError('reading', { code: 'store_unavailable', retryable: true, retryAfterMs: 20 });
      };
      one.start({ poll }).plan('poll', 'a');
      await one.beginning(3);
      await one.idle('poll');
      expect(tries).toBe(3);
    });

    it('schedules only the missing jobs of those it is given', async () => {
      const one = await replica();
      one
        .start({ poll: one.byHand })
        .plan('poll', 'planned', HOUR_MS)
        .plan('poll', 'running')
        .plan('fetch', 'later', HOUR_MS);
      await one.beginning(1);
      await expect.poll(() => one.queue.stats('fetch')).toMatchObject({ planned: 1 });
      await expect.poll(() => one.queue.stats('poll')).toMatchObject({ planned: 1, running: 1 });
      const ids = ['planned', 'running', 'later', 'lost'];
      const wanted = { queue: 'poll', ids, atMs: Date.now(), orIn: ['fetch'] } as const;
      expect(await one.queue.ensure(wanted)).toBe(1);
      expect(await one.queue.ensure(wanted)).toBe(0);
      await one.beginning(2);
      expect(one.begun).toEqual(['poll running', 'poll lost']);
      expect(await one.queue.stats('poll')).toMatchObject({ planned: 1, running: 2 });
      for (const id of ['running', 'lost']) one.end(id);
    });

    it('staggers the jobs it is given, by position', async () => {
      const one = (await replica()).start();
      const ids = ['now', 'soon', 'in an hour'];
      expect(await one.queue.ensure({ queue: 'send', ids, atMs: Date.now() - HOUR_MS, apartMs: HOUR_MS - 1_000 })).toBe(
        3,
      );
      await one.beginning(2);
      expect(one.begun).toEqual(['send now', 'send soon']);
      expect(await one.queue.stats('send')).toMatchObject({ planned: 1 });
    });

    it('pauses one queue, and no other', async () => {
      const one = (await replica()).start();
      one.queue.pause('poll', HOUR_MS);
      one.queue.pause('poll', 1);
      expect(one.queue.pausedMs('poll')).toBeGreaterThan(HOUR_MS / 2);
      expect(one.queue.pausedMs('send')).toBe(0);
      one.plan('poll', 'held').plan('send', 'free', 50);
      await one.beginning(1);
      await expect.poll(() => one.queue.stats('poll')).toMatchObject({ planned: 1, running: 0 });
      expect(one.begun).toEqual(['send free']);
    });

    it('continues a queue after its pause', async () => {
      const one = (await replica()).start();
      one.queue.pause('poll', 100);
      one.plan('poll', 'held');
      await one.beginning(1);
      expect(one.queue.pausedMs('poll')).toBe(0);
    });

    it('keeps to a rate limit', async () => {
      const one = (await replica({ poll: { max: 2, perMs: HOUR_MS } })).start();
      for (const id of ['a', 'b', 'c']) one.plan('poll', id);
      // The other queue goes on meanwhile.
      for (const [at, id] of ['free', 'free too', 'free still'].entries()) {
        one.plan('send', id, at * 200);
        await one.beginning(3 + at);
      }
      expect(one.begun.filter((step) => step.startsWith('poll'))).toEqual(['poll a', 'poll b']);
    });

    it('runs what is beyond a rate limit once its time is over', async () => {
      const one = (await replica({ poll: { max: 2, perMs: 200 } })).start();
      for (const id of ['a', 'b', 'c', 'd', 'e']) one.plan('poll', id);
      await one.beginning(5);
      expect(one.begun.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'].map((id) => `poll ${id}`));
    });

    it('drains: starts no more jobs, aborts running ones and waits for them', async () => {
      const one = await replica();
      const aborted = Promise.withResolvers<void>();
      const send: JobHandler = (id, signal) => {
        signal.addEventListener('abort', () => aborted.resolve());
        return one.byHand(id, signal);
      };
      one.start({ send }).plan('send', 'a').plan('send', 'b', 100);
      await one.beginning(1);
      expect(await one.queue.drain(1)).toBe(false);
      await aborted.promise;
      one.end('a');
      expect(await one.queue.drain()).toBe(true);
      expect(one.begun).toEqual(['send a']);
    });
  });
}
