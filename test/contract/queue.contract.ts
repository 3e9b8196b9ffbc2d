import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DailiesError } from '#src/errors.ts';
import type { JobHandler, JobKind, QueueLimits, QueueName, WorkQueue } from '#src/queue/queue.ts';

/** How many steps of each kind run at once in a {@link Replica}. */
export const CONCURRENCY = { send: 2, poll: 2, fetch: 2, deliver: 1, notify: 1 } as const;

/** The platforms that are turned on in a {@link Replica}. */
export const PLATFORMS = ['fake'] as const;

/** A place for the queues of one test. */
export interface QueueBackend {
  /** One process's queue, with {@link CONCURRENCY} and {@link PLATFORMS}; two of one place share their plans. */
  open(limits?: QueueLimits): Promise<WorkQueue>;
  remove(): Promise<void>;
}

const HOUR_MS = 3_600_000;

type Steps = Partial<Readonly<Record<JobKind, JobHandler>>>;

/** A process's queue, and what it was asked to step. */
export class Replica {
  readonly queue: WorkQueue;
  /** What began, such as `poll a`, in its order; shared by the replicas of a test. */
  readonly begun: string[];
  readonly #open = new Map<string, PromiseWithResolvers<number | null>>();
  #looking: (() => void)[] = [];

  constructor(queue: WorkQueue, begun: string[] = []) {
    this.queue = queue;
    this.begun = begun;
  }

  /** Begins to step; what is not given is noted and has nothing more to do. */
  start(steps: Steps = {}): this {
    const noted = (kind: JobKind): JobHandler => {
      return async (id, signal) => {
        this.begun.push(`${kind} ${id}`);
        for (const look of this.#looking) look();
        return (await steps[kind]?.(id, signal)) ?? null;
      };
    };
    this.queue.start({
      send: noted('send'),
      poll: noted('poll'),
      fetch: noted('fetch'),
      deliver: noted('deliver'),
      notify: noted('notify'),
    });
    return this;
  }

  /** A step that waits to be ended, and then for how long. */
  readonly byHand: JobHandler = (id) => {
    const end = Promise.withResolvers<number | null>();
    this.#open.set(id, end);
    return end.promise;
  };

  /** Ends a step that is {@link byHand}. */
  end(id: string, delayMs: number | null = null): void {
    this.#open.get(id)?.resolve(delayMs);
  }

  /** Plans something to be stepped so many milliseconds from now. */
  plan(lane: QueueName, id: string, inMs = 0): this {
    this.queue.schedule(lane, id, Date.now() + inMs);
    return this;
  }

  /** Resolves once so many steps have begun, in all. */
  beginning(count: number): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.begun.length >= count) resolve();
      };
      this.#looking = [...this.#looking, look];
      look();
    });
  }

  /** Resolves once nothing is planned in a lane, and nothing runs. */
  async idle(lane: QueueName): Promise<void> {
    await expect.poll(() => this.queue.stats(lane), { timeout: 60_000 }).toMatchObject({ planned: 0, running: 0 });
  }
}

/** What every work queue has to do, whatever it stands on. */
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

    it('runs the lanes of the platforms that are on', async () => {
      const one = (await replica()).start().plan('deliver:fake', 'a').plan('notify:fake', 'b');
      await one.beginning(2);
      expect(one.begun.toSorted()).toEqual(['deliver a', 'notify b']);
      expect(one.queue.lanes.toSorted()).toEqual(['deliver:fake', 'fetch', 'notify:fake', 'poll', 'send']);
    });

    it('steps plans in the order of their times, each once, and keeps nothing of what has ended', async () => {
      const one = (await replica()).plan('poll', 'c', 900).plan('poll', 'a', 300).plan('poll', 'b', 600).start();
      await one.beginning(3);
      expect(one.begun).toEqual(['poll a', 'poll b', 'poll c']);
      await one.idle('poll');
      expect(one.begun).toHaveLength(3);
    });

    it('takes any id', async () => {
      const one = (await replica()).start().plan('send', '123').plan('send', 'a:b').plan('send', 'é %');
      await one.beginning(3);
      expect(one.begun.toSorted()).toEqual(['send 123', 'send a:b', 'send é %']);
    });

    it('replaces a plan by an earlier one', async () => {
      const one = (await replica()).start().plan('poll', 'a', HOUR_MS).plan('poll', 'a', 20);
      await one.beginning(1);
      await one.idle('poll');
      expect(one.begun).toEqual(['poll a']);
    });

    it('replaces a plan by a later one', async () => {
      const one = (await replica()).start().plan('poll', 'a', 800).plan('poll', 'a', HOUR_MS).plan('poll', 'b', 1_600);
      await one.beginning(1);
      await expect.poll(() => one.queue.stats('poll')).toMatchObject({ planned: 1, running: 0 });
      expect(one.begun).toEqual(['poll b']);
    });

    it('has what is planned too late stepped all the same', async () => {
      const one = (await replica())
        .start()
        .plan('poll', 'a', HOUR_MS)
        .plan('poll', 'b', HOUR_MS / 60);
      await expect.poll(() => one.queue.stats('poll')).toMatchObject({ planned: 2 });
      const atMs = Date.now();
      const lost = await one.queue.ensure({ lane: 'poll', ids: ['a', 'b'], atMs, latestMs: atMs + HOUR_MS / 6 });
      expect(lost).toBe(1);
      await one.beginning(1);
      await expect.poll(() => one.queue.stats('poll')).toMatchObject({ planned: 1, running: 0 });
      expect(one.begun).toEqual(['poll a']);
    });

    it('goes on with the same thing for as long as its step says so', async () => {
      const one = await replica();
      const answers = [0, 20, null];
      one.start({ poll: async () => answers.shift() ?? null }).plan('poll', 'a');
      await one.beginning(3);
      await one.idle('poll');
      expect(one.begun).toHaveLength(3);
    });

    it('runs no more steps of a lane at once than it may, and the others do not wait for it', async () => {
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
      ['now, with nothing more to do by itself,', 0, null],
    ])(
      'does not step a thing twice at once: a plan for %s waits, and the earlier one holds',
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

    it('tries again what threw, when it asked for', async () => {
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

    it('is told of what is to be planned, and plans only what is not', async () => {
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
      const wanted = { lane: 'poll', ids, atMs: Date.now(), orIn: ['fetch'] } as const;
      expect(await one.queue.ensure(wanted)).toBe(1);
      expect(await one.queue.ensure(wanted)).toBe(0);
      await one.beginning(2);
      expect(one.begun).toEqual(['poll running', 'poll lost']);
      expect(await one.queue.stats('poll')).toMatchObject({ planned: 1, running: 2 });
      for (const id of ['running', 'lost']) one.end(id);
    });

    it('spreads what it was told of, by its place', async () => {
      const one = (await replica()).start();
      const ids = ['now', 'soon', 'in an hour'];
      expect(await one.queue.ensure({ lane: 'send', ids, atMs: Date.now() - HOUR_MS, apartMs: HOUR_MS - 1_000 })).toBe(
        3,
      );
      await one.beginning(2);
      expect(one.begun).toEqual(['send now', 'send soon']);
      expect(await one.queue.stats('send')).toMatchObject({ planned: 1 });
    });

    it('holds a lane back, and no other', async () => {
      const one = (await replica()).start();
      one.queue.holdBack('poll', 2_000);
      one.queue.holdBack('poll', 1);
      one.plan('poll', 'held').plan('send', 'free', 50);
      await one.beginning(2);
      expect(one.begun).toEqual(['send free', 'poll held']);
    });

    it('begins no more steps in a stretch of time than is allowed', async () => {
      const one = (await replica({ poll: { max: 2, perMs: 600 } })).start();
      for (const id of ['a', 'b', 'c']) one.plan('poll', id);
      one.plan('send', 'free', 200);
      await one.beginning(4);
      expect(one.begun).toEqual(['poll a', 'poll b', 'send free', 'poll c']);
    });

    it('stops: nothing more begins, what runs is told and waited for', async () => {
      const one = await replica();
      const told = Promise.withResolvers<void>();
      const send: JobHandler = (id, signal) => {
        signal.addEventListener('abort', () => told.resolve());
        return one.byHand(id, signal);
      };
      one.start({ send }).plan('send', 'a').plan('send', 'b', 100);
      await one.beginning(1);
      expect(await one.queue.drain(1)).toBe(false);
      await told.promise;
      one.end('a');
      expect(await one.queue.drain()).toBe(true);
      expect(one.begun).toEqual(['send a']);
    });
  });
}
