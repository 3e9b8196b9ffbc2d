import { hash } from 'node:crypto';
import { isOnlyFile, type Notice, type Platform, type TeamNotice, type Upload } from '../chat/index.ts';
import { type Clock, within } from '../clock.ts';
import { type Change, collection, type DueJob, type Store, type Versioned } from '../engine/index.ts';
import { asDailiesError, type DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { backoffMs } from '../retry.ts';
import { type Person, type Refunds, withoutPerson } from '../tasks/index.ts';
import type { TeamKey, TeamSettings } from '../teams/index.ts';
import type { Catalog } from '../videos/index.ts';

export type NoticeTarget =
  /** The team's report channel; without one, or where that refuses it, its {@link NoticesOptions.recipients}. */
  | { readonly kind: 'team' }
  /** A channel; where that refuses the notice, as for the team. */
  | { readonly kind: 'channel'; readonly channel: string }
  /** One person, privately; where the platform has no direct messages in the channel `near`. */
  | { readonly kind: 'person'; readonly person: Person; readonly near?: string };

/** Notice to post once per `key`. */
export interface NoticeOrder {
  /** Parts that identify it, such as a scope and a month; hashed, since they may contain a person's id. */
  readonly key: readonly string[];
  readonly of: TeamKey;
  readonly to: NoticeTarget;
  readonly notice: TeamNotice;
}

interface NoticeRecord extends Versioned, Omit<NoticeOrder, 'key'> {
  readonly state: 'waiting' | 'posted' | 'undeliverable' | 'failed';
  readonly createdAtMs: number;
  readonly failures: number;
}

/** By the hashes of their keys. */
const teamNotices = collection<string, NoticeRecord>({
  name: 'notices',
  holds: 'alerts, reports and files that were sent, with their recipients; a report names people and what they spent',
  personal: {
    forget: (notice, { platform, team, person, pseudonym }) => {
      if (notice.of.platform !== platform || notice.of.team !== team) return notice;
      const isForThem = notice.to.kind === 'person' && notice.to.person.id === person.id;
      const state = isForThem && notice.state === 'waiting' ? 'undeliverable' : notice.state;
      return { ...withoutPerson(notice, person.id, pseudonym), state };
    },
  },
});

export interface NoticeFiles {
  readonly files: readonly Upload[];
  readonly remove: () => Promise<void>;
}

/** Options of {@link Notices}. */
export interface NoticesOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** From 0 to below 1, such as `Math.random`. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly platforms: ReadonlyMap<string, Platform>;
  /** Returns the channel for reports, by the team's settings. */
  readonly reportChannel: (of: TeamKey) => Promise<string | null>;
  /** Returns the people who are notified by direct message where there is no channel, each once. */
  readonly recipients: (of: TeamKey, kind: TeamNotice['kind']) => Promise<readonly Person[]>;
  /** Called for a notice that reached no one. */
  readonly lost: () => void;
  readonly filesOf: (notice: TeamNotice, of: TeamKey, platform: Platform) => Promise<NoticeFiles>;
}

/** Index of the notices that wait, by the time of their next attempt. */
const OUTBOX = 'notices';
const LEASE_MS = 30_000;
const FIRST_RETRY_MS = 5_000;
const MAX_RETRY_MS = 10 * 60_000;
/** Longest wait of a person for a notice: a chat takes some time for a file, and its own limit for answers is 3 s. */
const MAX_WAIT_MS = 1_000;
/** Age at which a notice is given up: an alert of last week is of no use. */
const MAX_AGE_MS = 7 * 24 * 3_600_000;

/**
 * Outbox of the notices to teams. Each is a record claimed once under its key, often in the same commit as the state
 * that causes it. One replica posts them; a repeated attempt finds the message by the platform's own dedup.
 */
export class Notices {
  /** Posts the notices that are due. */
  readonly job: DueJob = {
    name: 'notices',
    index: OUTBOX,
    everyMs: 5_000,
    leaseMs: LEASE_MS,
    run: (id) => this.#attempt(id),
  };
  readonly #options: NoticesOptions;

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  /**
   * Returns the writes that claim a notice; the commit is refused where it was claimed before.
   * @param delayMs time until the outbox posts it.
   */
  claim({ key, ...order }: NoticeOrder, delayMs = 0): Change {
    const createdAtMs = this.#options.clock.now();
    const id = noticeId(key);
    return {
      records: [teamNotices.replacing(id, undefined, { ...order, state: 'waiting', createdAtMs, failures: 0 })],
      index: [{ index: OUTBOX, member: id, score: createdAtMs + delayMs }],
    };
  }

  /**
   * Claims a notice, if it was not before, and posts it now; the outbox does if this process dies meanwhile.
   * @returns `waiting`: it takes longer, or another attempt follows; `undeliverable`: the person cannot be reached,
   *   `failed`: it was refused for another reason.
   */
  async postNow(order: NoticeOrder): Promise<NoticeRecord['state']> {
    const id = noticeId(order.key);
    if (await this.#options.store.commit(this.claim(order, LEASE_MS)))
      await within(this.#options.clock, MAX_WAIT_MS, this.#attempt(id), undefined);
    return (await this.#read(id))?.state ?? 'waiting';
  }

  async #attempt(id: string): Promise<void> {
    const record = await this.#read(id);
    if (record?.state !== 'waiting') return this.#forget(id);
    try {
      await this.#post(id, record);
      await this.#write(id, { ...record, state: 'posted' }, null);
    } catch (thrown) {
      await this.#failed(id, record, asDailiesError(thrown, `posting notice ${id}`));
    }
  }

  /** Removes the entry of a notice that does not wait any more. */
  async #forget(id: string): Promise<void> {
    await this.#options.store.commit({ records: [], index: [{ index: OUTBOX, member: id, score: null }] });
  }

  /** Plans the next attempt, or gives up. */
  async #failed(id: string, record: NoticeRecord, error: DailiesError): Promise<void> {
    const { clock, random, logger } = this.#options;
    const failures = record.failures + 1;
    const about = { notice: id, kind: record.notice.kind, platform: record.of.platform, err: error };
    if (!error.retryable || clock.now() - record.createdAtMs > MAX_AGE_MS) {
      const state = error.isUnreachable === true ? 'undeliverable' : 'failed';
      await this.#write(id, { ...record, failures, state }, null);
      if (record.to.kind === 'person') {
        logger.warn({ event: 'notice_not_accepted', ...about }, 'gave up a notice to a person');
        return;
      }
      this.#options.lost();
      const what =
        'gave up a notice: set a report channel in /video settings, add an approver, or name administrators in ADMINS';
      logger.error({ event: 'notice_undeliverable', ...about }, what);
      return;
    }
    const asked = { askedMs: error.retryAfterMs, random: random() };
    const delayMs = backoffMs(failures, { firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, ...asked });
    logger.warn({ event: 'notice_failed', ...about, delayMs }, 'failed to post a notice; retrying');
    await this.#write(id, { ...record, failures }, clock.now() + delayMs);
  }

  /** @param atMs time of the next attempt; `null`: none. */
  async #write(id: string, record: NoticeRecord, atMs: number | null): Promise<void> {
    await this.#options.store.commit({
      records: [teamNotices.replacing(id, record, record)],
      index: [{ index: OUTBOX, member: id, score: atMs }],
    });
  }

  #read(id: string): Promise<NoticeRecord | undefined> {
    return teamNotices.get(this.#options.store, id);
  }

  /** Posts a notice to the first destination that accepts it. @throws DailiesError of the last one. */
  async #post(id: string, record: NoticeRecord): Promise<void> {
    const { platforms, filesOf, logger } = this.#options;
    const platform = platforms.get(record.of.platform);
    if (platform === undefined) throw asDailiesError(new TypeError(`${record.of.platform} is turned off`), id);
    const built = await filesOf(record.notice, record.of, platform).catch((thrown: unknown): NoticeFiles => {
      const error = asDailiesError(thrown, 'building the files of a notice');
      if (error.retryable || isOnlyFile(record.notice)) throw error;
      logger.warn({ event: 'notice_files_failed', notice: id, err: error }, 'posting a notice without files');
      return { files: [], remove: async () => undefined };
    });
    try {
      await this.#postTo(platform, { id, record, files: built.files });
    } finally {
      await built.remove();
    }
  }

  async #postTo(platform: Platform, posting: Posting): Promise<void> {
    const { to, of } = posting.record;
    if (to.kind === 'person') return this.#postPrivately(platform, posting, to.person, to.near);
    const channel = to.kind === 'channel' ? to.channel : await this.#options.reportChannel(of);
    if (channel !== null && (await this.#accepts(platform, posting, channel))) return;
    await this.#postToRecipients(platform, posting);
  }

  /** Posts in a channel. @returns false where the channel is gone or refuses it. @throws a retryable DailiesError */
  async #accepts(platform: Platform, posting: Posting, channel: string): Promise<boolean> {
    try {
      await this.#notify(platform, posting, { channel });
      return true;
    } catch (thrown) {
      const error = asDailiesError(thrown, 'posting a notice');
      if (error.retryable) throw error;
      const about = { event: 'notice_redirected', notice: posting.id, kind: posting.record.notice.kind, err: error };
      this.#options.logger.warn(about, 'a channel refused a notice; sending it by direct message');
      return false;
    }
  }

  /** @throws DailiesError where no one can be reached. */
  async #postToRecipients(platform: Platform, posting: Posting): Promise<void> {
    const { of, notice } = posting.record;
    const people = await this.#options.recipients(of, notice.kind);
    let refusal: unknown = new TypeError('there is no report channel, administrator or approver');
    let reached = 0;
    for (const person of people) {
      try {
        await this.#postPrivately(platform, posting, person);
        reached += 1;
      } catch (thrown) {
        const error = asDailiesError(thrown, 'posting a notice');
        if (error.retryable) throw error;
        refusal = error;
      }
    }
    if (reached === 0) throw refusal;
  }

  async #postPrivately(platform: Platform, posting: Posting, person: Person, near = ''): Promise<void> {
    const place = { team: posting.record.of.team, channel: near, address: {} };
    const channel = await platform.channels.directChannel(place, person.id);
    await this.#notify(platform, posting, { channel, onlyFor: person });
  }

  /** Posts with the files; without them where the platform refuses those. */
  async #notify(
    platform: Platform,
    { id, record, files }: Posting,
    { channel, onlyFor }: { readonly channel: string; readonly onlyFor?: Person },
  ): Promise<void> {
    const { of } = record;
    const isEmpty = record.notice.kind === 'person_export' && files.length === 0;
    const view = isEmpty ? { ...record.notice, isEmpty } : record.notice;
    const place = { team: of.team, channel, address: {} };
    const key = `${id}:${hash('sha256', channel, 'hex').slice(0, 8)}`;
    const notice: Notice = { key, place, replyTo: null, mention: null, view, ...(onlyFor && { onlyFor }) };
    if (files.length === 0) return void (await platform.notify(notice));
    try {
      await platform.notify({ ...notice, files });
    } catch (thrown) {
      const error = asDailiesError(thrown, 'posting a notice with files');
      // A file on its own has no purpose without it.
      if (!FILE_REFUSALS.has(error.code) || isOnlyFile(record.notice)) throw error;
      this.#options.logger.warn(
        { event: 'notice_files_refused', notice: id, err: error },
        'posting a notice without files',
      );
      await platform.notify(notice);
    }
  }
}

interface Posting {
  readonly id: string;
  readonly record: NoticeRecord;
  readonly files: readonly Upload[];
}

/** Errors after which a notice is posted without its files. */
const FILE_REFUSALS: ReadonlySet<string> = new Set(['missing_permission', 'too_large', 'internal']);

function noticeId(key: readonly string[]): string {
  return hash('sha256', JSON.stringify(key), 'hex').slice(0, 32);
}

/** Dependencies of what causes notices: alerts and reports. */
export interface AlertDeps {
  readonly store: Store;
  /** The current catalog, for the titles of models. */
  readonly catalog: () => Pick<Catalog, 'models'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly notices: Pick<Notices, 'claim'>;
  readonly refunds: Refunds;
  readonly settings: (
    of: TeamKey,
  ) => Promise<Pick<TeamSettings, 'timeZone' | 'alerts' | 'reportChannel' | 'unusualSpend'>>;
  /** Platforms on which the deployment's operators are notified. */
  readonly operatorsOn: readonly string[];
}
