import type { MessageRef } from '../../chat/index.ts';
import { type Attempt, type Change, commitWithRetries, type WorkQueue, withLease } from '../../engine/index.ts';
import { asDailiesError, DailiesError } from '../../errors.ts';
import { fileNameOf, type Joiner, ShotError } from '../../media/index.ts';
import { type Cut, type CutFailure, CutRepository, cutIdOf, isCutId } from '../../orders/index.ts';
import { backoffMs, FailureCounter } from '../../retry.ts';
import type { Origin, RemovalReason, TaskId } from '../../tasks/index.ts';
import type { Clip } from '../../videos/index.ts';
import { CutMaker, type CutMakerOptions } from './cut-maker.ts';
import { CutMessages, type CutMessagesOptions } from './cut-messages.ts';

export interface CutOrder {
  /** Tasks of the clips, in the order of the cut; at least two. */
  readonly tasks: readonly TaskId[];
  /** The request; the message of the cut is its response. */
  readonly origin: Origin;
}

export type CutRequested =
  /** Its message is the response to this request. */
  | { readonly kind: 'accepted'; readonly cut: TaskId }
  /** It is being made, or was made before. `message`: `undefined` while it is not posted. */
  | { readonly kind: 'joining' | 'there' | 'again'; readonly message: MessageRef | undefined }
  /** Too many cuts are waiting. */
  | { readonly kind: 'full' };

/** Observes joins. */
export interface CutObserver {
  /** Called at the end of each join. @param outcome `joined` or the code of a {@link CutFailure} */
  joined(outcome: 'joined' | CutFailure['code'], ms: number): void;
}

/** Options of {@link Cuts}. */
interface CutsOptions extends CutMakerOptions, Omit<CutMessagesOptions, 'cuts'> {
  readonly joiner: CutMakerOptions['joiner'] & Pick<Joiner, 'sweep'>;
  readonly queue: Pick<WorkQueue, 'schedule' | 'ensure'>;
  /** From 0 to below 1, such as `Math.random`. */
  readonly random: () => number;
  readonly observer: CutObserver;
  /** Called once the message of a cut is posted, and once its outcome is in it. */
  readonly shown: (cut: Pick<Cut, 'tasks'>) => void;
}

/** Cuts whose outcome may be missing in the chat at a time; those asked for at the same moment may be more. */
const MAX_OPEN = 20;
/** TTL of the lease on a cut: the time until another replica goes on with that of one that died. */
const LEASE_MS = 15_000;
const LOCKED_RETRY_MS = 1_000;
/** Longest wait of a removal for the join that it ends. */
const REMOVAL_TIMEOUT_MS = 10_000;
const FIRST_RETRY_MS = 2_000;
const MAX_RETRY_MS = 5 * 60_000;
/** Failed attempts to join, after which the requester is told. */
const MAX_FAILURES = 5;

/**
 * Joins clips into cuts and delivers them. A cut is a record from the request on, and a job until its outcome is in the
 * chat, so that a restart goes on with it. It buys nothing, and can be made again at any time.
 */
export class Cuts {
  readonly #options: CutsOptions;
  readonly #cuts: CutRepository;
  readonly #maker: CutMaker;
  readonly #messages: CutMessages;
  /** Ends the work on a cut that is removed. */
  readonly #running = new Map<TaskId, AbortController>();
  readonly #failures: FailureCounter;

  constructor(options: CutsOptions) {
    const { store, clock } = options;
    this.#options = options;
    this.#cuts = new CutRepository(store);
    this.#maker = new CutMaker(options);
    this.#messages = new CutMessages({ ...options, cuts: this.#cuts });
    this.#failures = new FailureCounter(clock);
  }

  /** Schedules the cuts that an earlier process left, and deletes its partial files. */
  async resume(): Promise<void> {
    const { queue, clock, logger } = this.#options;
    try {
      await this.#sweepFiles();
      await queue.ensure({ queue: 'join', ids: await this.#cuts.open(), atMs: clock.now() });
    } catch (thrown) {
      // The reconciliation schedules them, and the next start deletes the files.
      logger.warn({ event: 'cuts_not_resumed', err: thrown }, 'failed to resume the cuts of an earlier process');
    }
  }

  /** Returns the record of a cut; `undefined` where there is none. @throws `store_unavailable` */
  async get(id: string): Promise<Cut | undefined> {
    return isCutId(id) ? this.#cuts.get(id) : undefined;
  }

  /** Returns the cuts with a file that are made of these clips alone, newest first. @throws `store_unavailable` */
  async madeOf(tasks: readonly TaskId[]): Promise<readonly Cut[]> {
    const cuts = await this.#cuts.among(tasks.map((id) => ({ id })));
    return cuts.filter(({ state, file }) => state === 'joined' && file !== undefined);
  }

  async tasksOf(id: TaskId): Promise<readonly TaskId[]> {
    return (await this.#cuts.get(id))?.tasks ?? [];
  }

  /**
   * Has clips joined. The same clips in the same order are the same cut: it is made once, and one that was made before
   * is posted again only where its message is gone, or in another channel.
   */
  async request({ tasks, origin }: CutOrder): Promise<CutRequested> {
    const id = cutIdOf(tasks);
    return commitWithRetries(this.#options.store, async (): Promise<Attempt<CutRequested>> => {
      const known = await this.#cuts.get(id);
      const accepted = { kind: 'accepted', cut: id } as const;
      if (known === undefined) {
        if ((await this.#cuts.countOpen()) >= MAX_OPEN) return { result: { kind: 'full' } };
        const requestedAtMs = this.#options.clock.now();
        const cut: Cut = { revision: 1, id, tasks, origin, requestedAtMs, state: 'joining', presented: false };
        return { change: this.#cuts.claimOf(cut), result: accepted, committed: () => this.#schedule(id) };
      }
      if (known.origin.interaction === origin.interaction) return { result: accepted };
      if (!known.presented) return { result: { kind: 'joining', message: await this.#messages.of(id) } };
      return this.#requestAgain(known, origin);
    });
  }

  async show(id: TaskId): Promise<MessageRef> {
    const cut = await this.#cuts.get(id);
    if (cut !== undefined) return this.#messages.open(cut);
    throw new DailiesError(`showing cut ${id}: it was removed`, { code: 'message_gone', retryable: false });
  }

  /**
   * Returns the file of a cut, to serve it; `undefined` where there is no such cut.
   * @throws `timed_out`, retryable, where it has to be made again first, which is scheduled
   */
  async find(id: TaskId): Promise<(Clip & { readonly name: string }) | undefined> {
    const cut = isCutId(id) ? await this.#cuts.get(id) : undefined;
    if (cut?.state !== 'joined') return undefined;
    const [clip, first] = await Promise.all([this.#maker.find(cut), this.#options.repository.get(cut.tasks[0] ?? id)]);
    if (clip !== null && first !== undefined) return { ...clip, name: fileNameOf({ id, request: first.request }) };
    this.#schedule(id);
    throw new DailiesError(`finding cut ${id}: it is made again`, { code: 'timed_out', retryable: true });
  }

  /** Handles jobs of the `join` queue: makes the file, and delivers it. */
  async run(id: string, signal: AbortSignal): Promise<number | null> {
    const { store, clock } = this.#options;
    const cut = id as TaskId;
    const ran = await withLease({ leases: store.leases, clock, name: `join:${id}`, ttlMs: LEASE_MS }, async (lease) => {
      const removal = new AbortController();
      this.#running.set(cut, removal);
      try {
        return await this.#attempt(cut, AbortSignal.any([signal, lease.signal, removal.signal]), signal);
      } finally {
        this.#running.delete(cut);
      }
    });
    return ran === null ? LOCKED_RETRY_MS : ran.dueInMs;
  }

  /**
   * Deletes every cut that a removed clip is in, with files and messages; the messages of an expired clip stay in the chat.
   * May be repeated. @throws DailiesError retryable
   */
  async removeWith(task: TaskId, reason: RemovalReason): Promise<void> {
    for (const id of await this.#cuts.ofTask(task)) await this.#remove(id, reason);
  }

  /** Deletes every cut that a person asked for. May be repeated. @throws DailiesError retryable */
  async forget(person: { readonly platform: string; readonly team: string; readonly user: string }): Promise<void> {
    for (const id of await this.#cuts.of(person)) await this.#remove(id, 'forgotten');
  }

  async #requestAgain(known: Cut, origin: Origin): Promise<Attempt<CutRequested>> {
    const { id } = known;
    const isHere = known.origin.channel === origin.channel && (await this.#messages.isThere(known));
    if (isHere && known.state === 'joined') return { result: { kind: 'there', message: await this.#messages.of(id) } };
    const { failure: _, ...rest } = known;
    const state = known.state === 'failed' ? 'joining' : known.state;
    const moved = isHere ? {} : { origin };
    const requestedAtMs = this.#options.clock.now();
    const delivery = await this.#messages.undelivered(known, isHere ? 0 : 1);
    return {
      change: this.#cuts.changeOf({ ...rest, ...moved, state, requestedAtMs, presented: false }, [delivery]),
      result: isHere ? { kind: 'again', message: await this.#messages.of(id) } : { kind: 'accepted', cut: id },
      committed: () => this.#schedule(id),
    };
  }

  #schedule(id: TaskId): void {
    this.#options.queue.schedule('join', id, this.#options.clock.now());
  }

  /** Runs a job once; a failure that may pass is retried with backoff. @param ending aborted when the process stops. */
  async #attempt(id: TaskId, signal: AbortSignal, ending: AbortSignal): Promise<{ readonly dueInMs: number | null }> {
    try {
      const dueInMs = await this.#step(id, signal);
      this.#failures.forget(id);
      return { dueInMs };
    } catch (thrown) {
      if (ending.aborted) throw thrown;
      if (signal.aborted) return { dueInMs: LOCKED_RETRY_MS };
      const error = asDailiesError(thrown, `making cut ${id}`);
      const { count } = this.#failures.failedAgain(id);
      const { logger, random } = this.#options;
      logger.warn({ event: 'cut_failed', cut: id, failures: count, err: error }, 'failed to make a cut, retrying');
      const cut = await this.#cuts.get(id);
      if (cut?.state === 'joining' && count >= MAX_FAILURES) return { dueInMs: await this.#giveUp(cut, error) };
      const backoff = { firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random: random() };
      return { dueInMs: backoffMs(count, { ...backoff, askedMs: error.retryAfterMs }) };
    }
  }

  async #giveUp(cut: Cut, err: DailiesError): Promise<number> {
    const { clock, logger, observer } = this.#options;
    logger.error({ event: 'cut_given_up', cut: cut.id, err }, 'gave up a cut after several attempts');
    const failure: CutFailure = err instanceof ShotError ? { code: err.failure, shot: err.shot } : { code: 'failed' };
    observer.joined(failure.code, 0);
    this.#failures.forget(cut.id);
    await this.#cuts.write({ ...cut, state: 'failed', failure, endedAtMs: clock.now() });
    return 0;
  }

  /** Makes the file of a cut unless it is there, and delivers it unless it is delivered. */
  async #step(id: TaskId, signal: AbortSignal): Promise<number | null> {
    const cut = await this.#cuts.get(id);
    if (cut === undefined) return null;
    if (cut.state === 'joining') await this.#showJoining(cut);
    const isMade = cut.state === 'failed' || (cut.state === 'joined' && (await this.#maker.find(cut)) !== null);
    if (!isMade && !(await this.#make(cut, signal))) return 0;
    if (cut.presented) return null;
    const dueInMs = await this.#messages.deliver(id, (current) => this.#maker.find(current));
    if (dueInMs === null) this.#options.shown(cut);
    return dueInMs;
  }

  /** Shows that a cut is being made. It is made in any case. */
  async #showJoining(cut: Cut): Promise<void> {
    try {
      await this.#messages.open(cut);
      this.#options.shown(cut);
    } catch (thrown) {
      const about = { event: 'cut_not_shown', cut: cut.id, err: thrown };
      this.#options.logger.warn(about, 'failed to post the message of a cut, which is made meanwhile');
    }
  }

  /** Makes the file, and records the outcome. @returns `false` where the cut was removed or changed meanwhile. */
  async #make(cut: Cut, signal: AbortSignal): Promise<boolean> {
    const { clock, logger, observer } = this.#options;
    const startedAtMs = clock.monotonic();
    const made = await this.#maker.make(cut, signal);
    const outcome = made.kind === 'made' ? 'joined' : made.failure.code;
    observer.joined(outcome, clock.monotonic() - startedAtMs);
    if (made.kind === 'failed') {
      logger.warn({ event: 'cut_impossible', cut: cut.id, failure: made.failure.code }, 'clips cannot be joined');
      // Only a link to it fails: what was delivered is in the chat.
      if (cut.presented) return true;
      return (
        (await this.#cuts.write({ ...cut, state: 'failed', failure: made.failure, endedAtMs: clock.now() })) !== null
      );
    }
    const file = { bytes: made.clip.bytes, seconds: made.seconds };
    const endedAtMs = cut.endedAtMs ?? clock.now();
    if ((await this.#cuts.write({ ...cut, state: 'joined', file, endedAtMs })) !== null) return true;
    if ((await this.#cuts.get(cut.id)) === undefined) await this.#maker.remove(cut);
    return false;
  }

  async #remove(id: TaskId, reason: RemovalReason): Promise<void> {
    const { store, clock } = this.#options;
    this.#running.get(id)?.abort(new DailiesError(`joining cut ${id}: it is removed`, REMOVED));
    const waiting = { retryMs: LOCKED_RETRY_MS / 4, timeoutMs: REMOVAL_TIMEOUT_MS };
    const lease = { leases: store.leases, clock, name: `join:${id}`, ttlMs: LEASE_MS, ...waiting };
    const attempt = async (): Promise<Attempt<true>> => {
      const cut = await this.#cuts.get(id);
      if (cut === undefined || (reason === 'expired' && cut.isExpired === true)) return { result: true };
      await this.#maker.remove(cut);
      await this.#messages.retract(cut, reason);
      return { change: await this.#removalOf(cut, reason), result: true };
    };
    if ((await withLease(lease, () => commitWithRetries(store, attempt))) !== null) return;
    throw new DailiesError(`removing cut ${id}: it is being made`, { code: 'timed_out', retryable: true });
  }

  /**
   * Returns the change that deletes the record of a cut; of an expired one, whose messages are still in the chat, only
   * what leads to its file.
   */
  async #removalOf(cut: Cut, reason: RemovalReason): Promise<Change> {
    if (reason !== 'expired') return this.#cuts.removalOf(cut, await this.#messages.deletions(cut));
    const { file: _, failure: _failure, ...rest } = cut;
    const expired: Cut = { ...rest, state: 'failed', presented: true, isExpired: true };
    return this.#cuts.changeOf(expired, [await this.#messages.undelivered(cut)]);
  }

  /** Deletes files of cuts that were removed while a process was killed, and partial files. */
  async #sweepFiles(): Promise<void> {
    const { joiner, storage } = this.#options;
    await joiner.sweep();
    for (const id of (await storage.list()).keys())
      if (isCutId(id) && (await this.#cuts.get(id)) === undefined) await this.#maker.remove({ id });
  }
}

const REMOVED = { code: 'gone', retryable: false } as const;
