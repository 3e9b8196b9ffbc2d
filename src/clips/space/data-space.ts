import { resolve } from 'node:path';
import { type Clock, within } from '../../clock.ts';
import type { Config } from '../../config/index.ts';
import { type Job, type Store, sqlitePath } from '../../engine/index.ts';
import { DailiesError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { TaskObserver } from '../../pipeline/index.ts';
import { SingleFlight } from '../../single-flight.ts';
import { DATA_KINDS, type DataBytes, type DataPlace, measure, totalOf } from './data-files.ts';
import { dataLimit } from './data-limit.ts';
import { type Eviction, evict } from './eviction.ts';

/** Age at which a measurement is repeated. */
const MEASURE_EVERY_MS = 600_000;
/** The same above {@link NEARLY_FULL} of the limit. */
const MEASURE_NEARLY_FULL_MS = 60_000;
const NEARLY_FULL = 0.8;
/** Age at which it is repeated before an order is refused. */
const BEFORE_REFUSAL_MS = 5_000;
/** Longest time for which an order waits for a measurement: Slack and Discord wait for 3 seconds. */
const ORDER_TIMEOUT_MS = 1_000;
/** Longest time for which the start waits for the first measurement: one of a million files takes longer. */
const START_TIMEOUT_MS = 3_000;
/** Share of the limit down to which files are evicted, so that not every order has to. */
const EVICTED_TO = 0.95;
interface Measurement {
  /** Time, in ms since the epoch. */
  readonly atMs: number;
  readonly bytes: DataBytes;
}

/** Options of {@link DataSpace}. */
interface DataSpaceOptions {
  readonly config: Pick<Config, 'dataDir' | 'storeUrl' | 'maxDataBytes'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** As in `OpenStorage`. */
  readonly freeCopies: Eviction['freeCopies'];
}

/**
 * The space that the data folder takes. Each process measures it; what it adds in between is counted. At the limit,
 * files that can be rebuilt are evicted, then orders are refused.
 */
export class DataSpace {
  /** Limit of the data folder in bytes; `null`: none. */
  readonly maxBytes: number | null;
  readonly #options: DataSpaceOptions;
  readonly #place: DataPlace;
  readonly #measuring = new SingleFlight<'folder', void>();
  #measured: Measurement | null = null;
  /** Bytes of the clips that this process stored since the last measurement. */
  #added = 0;
  #isFull = false;

  constructor(options: DataSpaceOptions) {
    const { dataDir, storeUrl } = options.config;
    const database = sqlitePath(storeUrl);
    this.#options = options;
    this.#place = { dataDir: resolve(dataDir), database: database === null ? null : resolve(database) };
    this.maxBytes = dataLimit(options.config);
  }

  /** Measures the folder whenever the last measurement is old enough. */
  readonly job: Job = {
    name: 'data_folder',
    everyMs: 60_000,
    leaseMs: null,
    run: () => this.#look(),
  };

  /** Counts the clips that this process stores and removes. */
  readonly observer: TaskObserver = {
    changed: (task, _event, before) => {
      const [was, is] = [before?.clip, task.clip];
      if ((was === undefined) !== (is === undefined)) this.#added += (is?.bytes ?? 0) - (was?.bytes ?? 0);
    },
  };

  /** Returns the bytes by kind as last measured, with what this process added since; `null` before the first time. */
  usage(): DataBytes | null {
    if (this.#measured === null) return null;
    const { bytes } = this.#measured;
    return { ...bytes, clips: Math.max(0, bytes.clips + this.#added) };
  }

  /** Begins the first measurement, and waits for it, but for seconds at most. */
  start(): Promise<void> {
    return within(this.#options.clock, START_TIMEOUT_MS, this.#look(), undefined);
  }

  /** Waits for a measurement in flight. */
  stop(): Promise<void> {
    return this.#measuring.settled();
  }

  /**
   * Asserts that the data folder is below its limit, evicting what can be rebuilt. What cannot be measured is not full.
   * @throws `data_full`
   */
  async assertRoom(): Promise<void> {
    if (this.maxBytes === null || this.#hasRoom(this.maxBytes)) return;
    await within(this.#options.clock, ORDER_TIMEOUT_MS, this.#refresh(BEFORE_REFUSAL_MS), undefined);
    if (this.#measured === null || this.#hasRoom(this.maxBytes)) return;
    throw new DailiesError(`the data folder is at its limit of ${this.maxBytes} bytes`, {
      code: 'data_full',
      retryable: true,
    });
  }

  #hasRoom(maxBytes: number): boolean {
    const usage = this.usage();
    return usage !== null && totalOf(usage) < maxBytes;
  }

  #look(): Promise<void> {
    const usage = this.usage();
    const isNearlyFull = this.maxBytes !== null && usage !== null && totalOf(usage) > NEARLY_FULL * this.maxBytes;
    return this.#refresh(isNearlyFull ? MEASURE_NEARLY_FULL_MS : MEASURE_EVERY_MS);
  }

  /** Measures the folder unless the last measurement is young enough. Never rejects. */
  #refresh(maxAgeMs: number): Promise<void> {
    const { clock, logger } = this.#options;
    return this.#measuring.run('folder', async () => {
      // One from the future is from before this clock was corrected.
      if (this.#measured !== null && Math.abs(clock.now() - this.#measured.atMs) < maxAgeMs) return;
      try {
        await this.#measureNow();
      } catch (thrown) {
        logger.warn({ event: 'data_not_measured', err: thrown }, 'failed to measure the data folder, retrying');
      }
    });
  }

  async #measureNow(): Promise<void> {
    const { store, clock, logger, freeCopies } = this.#options;
    const added = this.#added;
    const atMs = clock.now();
    let bytes = await measure(this.#place);
    const total = totalOf(bytes);
    const { maxBytes } = this;
    if (maxBytes !== null && total >= maxBytes) {
      const toFree = total - Math.floor(EVICTED_TO * maxBytes);
      const freed = await evict({ place: this.#place, store, nowMs: atMs, bytes: toFree, freeCopies });
      bytes = Object.fromEntries(DATA_KINDS.map((kind) => [kind, bytes[kind] - (freed.get(kind) ?? 0)])) as DataBytes;
      if (freed.size > 0)
        logger.info({ event: 'data_evicted', freed: Object.fromEntries(freed) }, 'deleted files that can be rebuilt');
    }
    // What was added while the folder was read may be missing in the measurement.
    this.#added -= added;
    this.#measured = { atMs, bytes };
    this.#report(maxBytes !== null && totalOf(bytes) >= maxBytes);
  }

  /** Logs the beginning and the end of the time at the limit. */
  #report(isFull: boolean): void {
    const { logger } = this.#options;
    const { maxBytes } = this;
    if (isFull && !this.#isFull)
      logger.error({ event: 'data_full', maxBytes }, 'the data folder is at MAX_DATA_BYTES: no orders are taken');
    if (!isFull && this.#isFull) logger.info({ event: 'data_has_room', maxBytes }, 'the data folder has room again');
    this.#isFull = isFull;
  }
}
