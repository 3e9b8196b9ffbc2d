import type { Membership } from '#src/cluster/membership.ts';
import { OnOneReplica } from '#src/cluster/on-one-replica.ts';
import type { Store, Versioned } from '#src/store/store.ts';
import type { DispatcherOptions, RequestState } from './dispatcher.ts';

/** Options of {@link OldInbox}. */
export interface OldInboxOptions extends Pick<DispatcherOptions, 'clock' | 'logger' | 'process'> {
  readonly store: Store;
  readonly membership: Pick<Membership, 'isGone'>;
}

/** A request that the previous release persisted before it acknowledged it. */
interface KeptRequest extends Versioned {
  readonly owner: string;
  /** The payload; `null` once handled. */
  readonly body: Readonly<Record<string, unknown>> | null;
  readonly isLate?: true;
}

/** Index of all persisted requests, by arrival. */
const INDEX = 'slack-inbox';
/** Index of unfinished requests, by arrival. */
const UNFINISHED = 'slack-inbox-undone';
/** Retention of the previous release, which deduplicates by these records. */
const RETENTION_MS = 2 * 3_600_000;
/** Age from which a response is no longer expected. */
const MAX_AGE_MS = 25 * 60_000;
const INTERVAL_MS = 60_000;
/** TTL of the lease of the replica that empties the inbox, also among replicas of the previous release. */
const LEASE_MS = 15_000;

/**
 * Handles the requests that a crashed replica of the previous release left in its inbox, and deletes its old records.
 * To be removed once no such replica can be running.
 */
export class OldInbox {
  readonly #options: OldInboxOptions;
  readonly #drain: OnOneReplica;

  constructor(options: OldInboxOptions) {
    this.#options = options;
    const { clock, logger, store } = options;
    this.#drain = new OnOneReplica({
      leases: store.leases,
      clock,
      name: 'slack:inbox',
      ttlMs: LEASE_MS,
      everyMs: INTERVAL_MS,
      run: () => this.#run(),
      failed: (thrown) =>
        logger.warn(
          { event: 'slack_old_inbox_failed', err: thrown },
          'failed to empty the inbox of an earlier version',
        ),
    });
  }

  /** Empties the inbox now and every minute, until closed. */
  async drain(): Promise<void> {
    await this.#drain.runNow();
    this.#drain.start();
  }

  close(): Promise<void> {
    return this.#drain.stop();
  }

  async #run(): Promise<void> {
    const { clock, store } = this.#options;
    for (const { member, score } of await store.scan(UNFINISHED, { order: 'oldest' }))
      await this.#handle(member, score);
    const old = await store.scan(INDEX, { order: 'oldest', max: clock.now() - RETENTION_MS });
    for (const { member } of old) await this.#forget(member, 'any');
  }

  async #handle(id: string, sinceMs: number): Promise<void> {
    const { store, clock, membership, process } = this.#options;
    const kept = await store.keyv('adapters').get<KeptRequest>(keyOf(id));
    if (kept === undefined || !(await membership.isGone(kept.owner))) return;
    const isFirst = await this.#forget(id, kept.revision);
    if (!isFirst || kept.body === null || clock.now() - sinceMs > MAX_AGE_MS) return;
    const state: RequestState = {
      acknowledge: nothing,
      isAcknowledged: () => true,
      accepted: async () => kept.isLate !== true,
    };
    await process({ body: kept.body, ack: nothing, customProperties: { ...state } });
  }

  /** Deletes a record. @returns `false` if another replica changed it. */
  #forget(id: string, expected: number | 'any'): Promise<boolean> {
    return this.#options.store.commit({
      records: [{ namespace: 'adapters', key: keyOf(id), value: null, expected }],
      index: [INDEX, UNFINISHED].map((index) => ({ index, member: id, score: null })),
    });
  }
}

async function nothing(): Promise<void> {}

function keyOf(id: string): string {
  return `slack:inbox:${id}`;
}
