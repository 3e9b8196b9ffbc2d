import type { Keyv } from 'keyv';
import { type Clock, within } from '../clock.ts';
import { asDailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { changeRecord } from '../store/change-record.ts';
import { pagesOf } from '../store/pages.ts';
import type { Store, Versioned } from '../store/store.ts';
import { isChannelHistory, sharedIndex } from '../tasks/indexes.ts';
import { readTasks } from '../tasks/record-shape.ts';
import type { Audience, Origin, Task } from '../tasks/task.ts';
import type { Place, Platform } from './platform.ts';

/** Options of {@link Audiences}. */
export interface AudiencesOptions {
  readonly store: Store;
  readonly platforms: ReadonlyMap<string, Platform>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Stored record of a channel, for tasks without an audience of their own. */
interface ChannelRecord extends Versioned {
  /** Absent until such a task is found. */
  readonly audience?: Audience;
  /** Tasks created up to this time (ms since the epoch) are indexed. */
  readonly indexedUntilMs: number;
}

type Channel = Pick<Origin, 'platform' | 'team' | 'channel'>;

/** Timeout of the platform's look-up for an order, which must be acknowledged within 3 s. */
const WAIT_MS = 1_500;
/** Upper bound on the clock skew between replicas; indexing a task twice is harmless. */
const CLOCK_MARGIN_MS = 3_600_000;

/** Resolves the audience of channels and tasks. */
export class Audiences {
  readonly #options: AudiencesOptions;
  readonly #records: Keyv;

  constructor(options: AudiencesOptions) {
    this.#options = options;
    this.#records = options.store.keyv('audiences');
  }

  /** Looks up the audience of a new order. Never rejects: `channel` where the platform cannot determine it. */
  async at(platform: string, place: Place): Promise<Audience> {
    return (await within(this.#options.clock, WAIT_MS, this.#lookUp(platform, place), null)) ?? 'channel';
  }

  /**
   * Returns the audience of a task. For a record of an earlier version, looks up its channel once and stores the
   * result; `channel` where the platform cannot determine it.
   */
  async of(origin: Origin): Promise<Audience> {
    return origin.audience ?? (await this.#remembered(origin)) ?? 'channel';
  }

  /**
   * Indexes the tasks of earlier versions (or of an older replica that still runs) that the whole team may see. Can be
   * interrupted and repeated at any point.
   * @returns the number of tasks added.
   * @throws `store_unavailable`
   */
  async backfill(signal: AbortSignal): Promise<number> {
    let added = 0;
    for (const index of await this.#options.store.contents.indexes()) {
      if (signal.aborted) break;
      if (isChannelHistory(index)) added += await this.#backfillChannel(index, signal);
    }
    return added;
  }

  /** Returns `null` where the platform cannot determine the audience, temporarily or permanently. */
  async #lookUp(platform: string, place: Place): Promise<Audience | null> {
    try {
      return (await this.#options.platforms.get(platform)?.audience(place)) ?? null;
    } catch (thrown) {
      const err = asDailiesError(thrown, `looking up who may see channel ${place.channel}`);
      this.#options.logger.warn(
        { event: 'audience_unknown', platform, channel: place.channel, err },
        'failed to look up the audience of a channel',
      );
      return null;
    }
  }

  /** Updates the record of a channel; values written concurrently by another replica take precedence. */
  #remember(of: Channel, change: Partial<Omit<ChannelRecord, 'revision'>>): Promise<Omit<ChannelRecord, 'revision'>> {
    const record = { namespace: 'audiences', key: keyOf(of) } as const;
    return changeRecord<ChannelRecord, Omit<ChannelRecord, 'revision'>>(this.#options.store, record, (before) => {
      const known = { indexedUntilMs: 0, ...change, ...before };
      const value = { ...known, indexedUntilMs: Math.max(known.indexedUntilMs, change.indexedUntilMs ?? 0) };
      return { value, result: value };
    });
  }

  async #remembered(origin: Origin): Promise<Audience | null> {
    const known = await this.#records.get<ChannelRecord>(keyOf(origin));
    if (known?.audience !== undefined) return known.audience;
    const { platform, team, channel, address } = origin;
    const audience = await this.#lookUp(platform, { team, channel, address });
    return audience === null ? null : ((await this.#remember(origin, { audience })).audience ?? audience);
  }

  /** Returns the tasks among `ids` that have no audience of their own. */
  async #unmarked(ids: readonly string[]): Promise<readonly Task[]> {
    const found = await readTasks(this.#options.store.keyv('tasks'), ids);
    return found.filter((task) => task.origin.audience === undefined);
  }

  /**
   * @returns the number of tasks added; `null` where the platform cannot determine the audience, which is retried at
   *   the next start.
   */
  async #backfillPage(ids: readonly string[]): Promise<number | null> {
    const some = await this.#unmarked(ids);
    const [first] = some;
    if (first === undefined) return 0;
    const audience = await this.#remembered(first.origin);
    if (audience !== 'team') return audience === null ? null : 0;
    const index = sharedIndex(first.origin.platform, first.origin.team);
    await this.#options.store.commit({
      records: [],
      index: some.map(({ id: member, createdAtMs: score }) => ({ index, member, score })),
    });
    return some.length;
  }

  async #backfillChannel(index: string, signal: AbortSignal): Promise<number> {
    const [newest] = await this.#options.store.scan(index, { limit: 1 });
    const [task] = newest === undefined ? [] : await readTasks(this.#options.store.keyv('tasks'), [newest.member]);
    if (newest === undefined || task === undefined || !this.#options.platforms.has(task.origin.platform)) return 0;
    const known = await this.#records.get<ChannelRecord>(keyOf(task.origin));
    let added = 0;
    for await (const page of pagesOf(this.#options.store, index, {
      min: (known?.indexedUntilMs ?? 0) - CLOCK_MARGIN_MS,
    })) {
      const some = signal.aborted ? null : await this.#backfillPage(page.map(({ member }) => member));
      if (some === null) return added;
      added += some;
    }
    if (known?.indexedUntilMs !== newest.score) await this.#remember(task.origin, { indexedUntilMs: newest.score });
    return added;
  }
}

function keyOf({ platform, team, channel }: Channel): string {
  return JSON.stringify([platform, team, channel]);
}

/** Adds tasks of earlier versions, in the background, to the lists of the users who may see them. */
export class AudienceBackfill {
  readonly #audiences: Audiences;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(audiences: Audiences, logger: Logger) {
    this.#audiences = audiences;
    this.#logger = logger;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Never rejects: a failure is retried at the next start. */
  async #run(): Promise<void> {
    try {
      const added = await this.#audiences.backfill(this.#stopping.signal);
      if (added > 0) this.#logger.info({ event: 'audiences_backfilled', added }, 'listed tasks of an earlier version');
    } catch (thrown) {
      const event = 'audience_backfill_failed';
      this.#logger.warn({ event, err: thrown }, 'failed to list tasks of an earlier version');
    }
  }
}
