import type { DirectReason } from '#commands/sentences/cards/notice.ts';
import { beginning } from '#commands/sentences/format.ts';
import { withoutDirection } from '#commands/ui/card.ts';
import type { MessageRef, Upload } from '#src/chat/index.ts';
import { sleep } from '#src/clock.ts';
import { type Lease, withLease } from '#src/engine/index.ts';
import { asDailiesError, DailiesError } from '#src/errors.ts';
import type { TaskId } from '#src/tasks/index.ts';
import type { TeamRef } from '../web-api/client.ts';
import { mayHaveHappened, slackCodeOf } from '../web-api/errors.ts';
import { sendBytes } from '../web-api/slack-urls.ts';
import type { FileRecord } from './message-store.ts';
import type { MessagesOptions } from './post-once.ts';

interface FileDelivery {
  readonly to: TeamRef;
  readonly message: MessageRef;
  /** The `ts` of the first message of the thread. */
  readonly root: string;
  /** Id of the user who gets the file in a direct message if the channel refuses it; `null`: none. */
  readonly user: string | null;
  readonly file: Upload;
  /** Its task, on the card of a set. Default: it is the only file of the message. */
  readonly task?: TaskId;
  /** Returns the text of the file's message, with the reason if it is a direct one; `null`: no text. */
  readonly comment: (direct: DirectReason | null) => string | null;
}

/** A delivery that this process may make as long as it holds the lease. */
interface LeasedDelivery extends FileDelivery {
  readonly lease: Lease;
}

/** A visible file: its permalink and the `ts` of its message, where Slack returns them. */
interface VisibleFile {
  readonly permalink: string | null;
  readonly ts: string | null;
}

const WITHOUT_LINK: VisibleFile = { permalink: null, ts: null };

/** TTL of a file's lease. */
const LEASE_MS = 15_000;
/** Minimum remaining lease for a call, so that it reaches Slack before another replica can take over. */
const MARGIN_MS = 4_000;
/** Delays before each visibility check, since files appear with a delay; after the last one, the attempt fails. */
const CHECK_DELAYS_MS = [0, 300, 700, 1_500, 3_000, 5_000, 5_000];
/** Time after which a file that Slack accepted but does not show is lost. @see https://github.com/slackapi/node-slack-sdk/issues/1865 */
const ACCEPTED_TIMEOUT_MS = 10 * 60_000;
/** Shorter limit for a file whose sharing is unconfirmed; the file is deleted first to avoid a duplicate. */
const SHARING_TIMEOUT_MS = 30_000;
/** Number of `file_not_found` answers that confirm it: right after the upload, `files.info` may lag behind. */
const UNKNOWN_CONFIRMATIONS = 3;
/** Errors of a channel that refuses files; a direct message may still work. */
const CHANNEL_REFUSALS: ReadonlySet<string> = new Set([
  'not_in_channel',
  'channel_not_found',
  'is_archived',
  'restricted_action_non_threadable_channel',
  'restricted_action_read_only_channel',
  'posting_to_channel_denied',
]);

/**
 * Uploads a clip into the thread of its task's message, or of the card of its set. Each step is persisted before the next
 * one, so that a retry resumes after the last one: a file that Slack may already have shared is looked up, never shared twice.
 */
export class Files {
  readonly #options: MessagesOptions;

  constructor(options: MessagesOptions) {
    this.#options = options;
  }

  /** Resolves once it is visible. @throws `platform_unavailable` if it is not yet, or another replica delivers it */
  async deliver(delivery: FileDelivery): Promise<FileRecord> {
    const { task, message: card } = delivery;
    const { leases, clock } = this.#options;
    const name = ['slack', 'file', card.channel, card.message, ...(task === undefined ? [] : [task])].join(':');
    const options = { leases, clock, name, ttlMs: LEASE_MS };
    const delivered = await withLease(options, (lease) => this.#deliver({ ...delivery, lease }));
    if (delivered === null) throw unavailable('another replica is at it');
    return delivered;
  }

  async #deliver(delivery: LeasedDelivery): Promise<FileRecord> {
    const { message, task } = delivery;
    const { name, bytes } = delivery.file;
    const there = await this.#options.messageStore.files(message);
    const known = task === undefined ? there[0] : there.find((one) => one.name === name);
    const isSame = known?.name === name && known.bytes === bytes;
    const record = isSame ? known : await this.#upload(delivery, known);
    switch (record.state) {
      case 'shared':
        return record;
      case 'uploaded':
        return this.#share(delivery, record);
      case 'sharing':
      case 'accepted':
        return this.#confirm(delivery, record);
    }
  }

  async #upload(delivery: LeasedDelivery, before: FileRecord | undefined): Promise<FileRecord> {
    const { to, message, file, task } = delivery;
    const { name, bytes, description } = file;
    const slot = await this.#options.clients.deliver(to, 'asking where to upload a clip', (client) => {
      // The SDK names this argument `alt_text`, which Slack ignores.
      const alt = beginning(withoutDirection(description), 1000);
      const upload = { filename: name, length: bytes, alt_txt: alt };
      return client.files.getUploadURLExternal(upload);
    });
    if (slot.upload_url === undefined || slot.file_id === undefined) throw unavailable('Slack gave no address');
    await sendBytes(slot.upload_url, file);
    const rest = { channel: message.channel, sinceMs: this.#options.clock.now(), permalink: null };
    const of = task === undefined ? {} : { task };
    return this.#remember(message, before, { file: slot.file_id, state: 'uploaded', name, bytes, ...rest, ...of });
  }

  async #share(delivery: LeasedDelivery, record: FileRecord, reason: string | null = null): Promise<FileRecord> {
    const { message } = delivery;
    const sinceMs = this.#options.clock.now();
    const comment = commentOf(delivery, record, reason);
    const isAnnounced = comment !== null && record.task === undefined;
    const next = { ...record, state: 'sharing', sinceMs, isAnnounced } as const;
    const sharing = await this.#remember(message, record, next);
    try {
      await this.#complete(delivery, sharing, comment);
    } catch (thrown) {
      if (mayHaveHappened(thrown)) return this.#confirm(delivery, sharing);
      return this.#recover(delivery, sharing, thrown);
    }
    return this.#confirm(delivery, await this.#remember(message, sharing, { ...sharing, state: 'accepted' }));
  }

  /** Handles a certain failure to share: falls back to a direct message, or resets the record and rethrows. */
  async #recover(delivery: LeasedDelivery, record: FileRecord, thrown: unknown): Promise<FileRecord> {
    const { messageStore, logger } = this.#options;
    const reason = slackCodeOf(thrown);
    const { user } = delivery;
    const isRefused = reason !== null && CHANNEL_REFUSALS.has(reason) && record.channel === delivery.message.channel;
    if (isRefused && user !== null) {
      const details = { event: 'slack_clip_redirected', reason, channel: record.channel };
      logger.warn(details, 'the channel refused a clip; sending it to the requester directly');
      const channel = await this.#options.clients.directChannel('delivery', delivery.to, user);
      return this.#share(delivery, { ...record, channel }, reason);
    }
    const isReusable = thrown instanceof DailiesError && (thrown.code === 'rate_limited' || !delivery.lease.isHeld());
    if (isReusable) await this.#remember(delivery.message, record, { ...record, state: 'uploaded' });
    else await messageStore.replaceFiles(delivery.message, [record], []);
    throw thrown;
  }

  async #complete(delivery: LeasedDelivery, record: FileRecord, comment: string | null): Promise<void> {
    const { to, message, root, file, lease } = delivery;
    const isInThread = record.channel === message.channel;
    await this.#options.clients.deliver(to, 'showing a clip', async (client) => {
      // A paused process may have lost its lease to another replica.
      if (!lease.isHeld(MARGIN_MS)) throw unavailable('another replica is at it');
      const files: [{ id: string; title: string }] = [{ id: record.file, title: file.name }];
      const words = comment === null ? {} : { initial_comment: comment };
      const shown = { files, channel_id: record.channel, ...words };
      return client.files.completeUploadExternal(isInThread ? { ...shown, thread_ts: root } : shown);
    });
  }

  /** Polls `files.info` until the file is visible; shares it again, or discards it, if Slack never does. */
  async #confirm(delivery: LeasedDelivery, record: FileRecord): Promise<FileRecord> {
    const { clock } = this.#options;
    const { message } = delivery;
    let unknown = 0;
    for (const waitMs of CHECK_DELAYS_MS) {
      if (waitMs > 0) await sleep(clock, waitMs);
      const found = await this.#lookUp(delivery.to, record);
      if (found === 'waiting') continue;
      if (found !== 'unknown') {
        const { permalink, ts } = found;
        const shared = { ...record, state: 'shared', permalink, ...(ts === null ? {} : { message: ts }) } as const;
        // A reaction to a clip of a set counts for that clip alone.
        return this.#remember(message, record, shared, record.task === undefined ? ts : null);
      }
      // `files.info` omits unshared files: the request to share this one did not reach Slack.
      unknown += 1;
      if (record.state === 'sharing' && unknown >= UNKNOWN_CONFIRMATIONS) return this.#share(delivery, record);
    }
    const timeoutMs = record.state === 'sharing' ? SHARING_TIMEOUT_MS : ACCEPTED_TIMEOUT_MS;
    if (clock.now() - record.sinceMs > timeoutMs) await this.#discard(delivery, record);
    throw unavailable('Slack has not shown it yet');
  }

  /** Deletes a file that may still appear, so that it can be uploaded again without a duplicate. */
  async #discard({ to, message }: FileDelivery, record: FileRecord): Promise<void> {
    const { messageStore, logger } = this.#options;
    await this.delete(to, record, 'deleting a lost file').catch((thrown: unknown) => {
      // The file may still exist: rethrows, since a new upload must wait until it is deleted.
      if (thrown instanceof DailiesError && thrown.retryable) throw thrown;
      logger.warn({ event: 'slack_file_deletion_failed', err: thrown }, 'failed to delete a lost file on Slack');
    });
    await messageStore.replaceFiles(message, [record], []);
  }

  async delete(to: TeamRef, { file }: Pick<FileRecord, 'file'>, operation: string): Promise<void> {
    await this.#options.clients.deliver(to, operation, (client) => client.files.delete({ file }));
  }

  /** Returns the message of a file; `null` where it has none, or Slack does not tell. @throws retryable errors alone */
  async messageOf(to: TeamRef, record: FileRecord): Promise<MessageRef | null> {
    const { channel, message } = record;
    if (message !== undefined) return { channel, message };
    const found = await this.#shown(to, record).catch((thrown: unknown) => {
      if (asDailiesError(thrown, 'looking for a clip').retryable) throw thrown;
      return null;
    });
    return found === null || found.ts === null ? null : { channel, message: found.ts };
  }

  /** Returns a file as Slack shows it in its channel; `null` while it is not there. */
  async #shown(to: TeamRef, record: FileRecord): Promise<VisibleFile | null> {
    const { file } = await this.#options.clients.deliver(to, 'looking for a clip', (client) =>
      client.files.info({ file: record.file }),
    );
    const shares = [file?.shares?.public, file?.shares?.private];
    const share = shares.flatMap((by) => by?.[record.channel] ?? []).at(0);
    return share === undefined ? null : { permalink: file?.permalink ?? null, ts: share.ts ?? null };
  }

  async #lookUp(to: TeamRef, record: FileRecord): Promise<'unknown' | 'waiting' | VisibleFile> {
    try {
      return (await this.#shown(to, record)) ?? 'waiting';
    } catch (thrown) {
      const reason = slackCodeOf(thrown);
      if (reason === 'file_not_found') return 'unknown';
      // A user deleted the file, so it was visible before.
      if (reason === 'file_deleted') return WITHOUT_LINK;
      // Without the scope to check, Slack's acceptance has to suffice.
      if (reason === 'missing_scope' && record.state === 'accepted') return WITHOUT_LINK;
      throw thrown;
    }
  }

  /** Persists the next step. @throws `platform_unavailable` if another replica persisted one meanwhile */
  async #remember(
    message: MessageRef,
    before: FileRecord | undefined,
    next: Omit<FileRecord, 'revision'>,
    shownAs: string | null = null,
  ): Promise<FileRecord> {
    const record = await this.#options.messageStore.rememberFile(message, before, next, shownAs);
    if (record === null) throw unavailable('another replica is at it');
    return record;
  }
}

/** Returns the text of the file's message: the mention, or which clip of a set it is; the reason in a direct message. */
function commentOf(
  { message, comment }: LeasedDelivery,
  { channel }: FileRecord,
  reason: string | null,
): string | null {
  if (channel === message.channel) return comment(null);
  return comment(reason === 'is_archived' ? 'archived' : 'refused');
}

function unavailable(reason: string): DailiesError {
  return new DailiesError(`delivering a clip: ${reason}`, { code: 'platform_unavailable', retryable: true });
}
