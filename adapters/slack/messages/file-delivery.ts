import type { DirectReason } from '#commands/sentences/cards/notice.ts';
import { beginning } from '#commands/sentences/format.ts';
import type { MessageRef, Upload } from '#src/chat/platform.ts';
import { type Clock, sleep } from '#src/clock.ts';
import type { Lease, Leases } from '#src/cluster/leases.ts';
import { DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Clients, TeamRef } from '../web-api/client.ts';
import { mayHaveHappened, slackCodeOf } from '../web-api/errors.ts';
import type { FileRecord, MessageStore } from './message-store.ts';
import { sendBytes } from './upload.ts';

/** Collaborators of {@link Files}. */
export interface FilesOptions {
  readonly clients: Clients;
  readonly memory: MessageStore;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A file and where it goes. */
export interface FileDelivery {
  readonly to: TeamRef;
  /** The task's message. */
  readonly message: MessageRef;
  /** The `ts` of the first message of the thread. */
  readonly root: string;
  /** Who gets it directly, where the channel takes no file. */
  readonly user: string;
  readonly file: Upload;
  /** Words of the file's own message; for a direct one with the reason. `null`: none. */
  readonly comment: (direct: DirectReason | null) => string | null;
}

/** A delivery that is this process's, as long as it has the lease. */
interface Delivering extends FileDelivery {
  readonly lease: Lease;
}

/** A file that people see: its address in the workspace and the `ts` of its message, where Slack tells them. */
interface ShownFile {
  readonly permalink: string | null;
  readonly ts: string | null;
}

const NOT_SEEN: ShownFile = { permalink: null, ts: null };

/** How long a file stays with a replica that does not answer. */
const LEASE_MS = 15_000;
/** What is asked for now has arrived before another replica may begin. */
const MARGIN_MS = 4_000;
/** Files appear some time after Slack took them; how long it is waited for before somebody else gets the place. */
const LOOKS_AFTER_MS = [0, 300, 700, 1_500, 3_000, 5_000, 5_000];
/** A file that Slack said it would show, and did not in all that time, is lost. @see https://github.com/slackapi/node-slack-sdk/issues/1865 */
const LOST_AFTER_MS = 10 * 60_000;
/** One that Slack may never have been told to show is given up sooner: it is deleted first, so none is there twice. */
const UNHEARD_AFTER_MS = 30_000;
/** What Slack says of a file right after taking it may lag behind; said so often, it holds. */
const SURE_AFTER_LOOKS = 3;
/** The channel takes no file; a direct message may. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'not_in_channel',
  'channel_not_found',
  'is_archived',
  'restricted_action_non_threadable_channel',
  'restricted_action_read_only_channel',
  'posting_to_channel_denied',
]);

/**
 * Puts a clip into the thread of its task's message. Each step is written down before the next one, so that a
 * repetition goes on where the last try was lost: a file that Slack may have shown is looked for, never shown twice.
 */
export class Files {
  readonly #options: FilesOptions;

  constructor(options: FilesOptions) {
    this.#options = options;
  }

  /** Resolves once people see it. */
  async deliver(delivery: FileDelivery): Promise<FileRecord> {
    const { channel, message } = delivery.message;
    const lease = await this.#options.leases.take(`slack:file:${channel}:${message}`, LEASE_MS);
    if (lease === null) throw unavailable('another replica is at it');
    try {
      return await this.#deliver({ ...delivery, lease });
    } finally {
      await lease.release();
    }
  }

  async #deliver(delivery: Delivering): Promise<FileRecord> {
    const known = await this.#options.memory.file(delivery.message);
    const { name, bytes } = delivery.file;
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

  async #upload(delivery: Delivering, before: FileRecord | undefined): Promise<FileRecord> {
    const { to, message, file } = delivery;
    const { name, bytes, description } = file;
    const place = await this.#options.clients.call({
      to,
      lane: 'delivery',
      doing: 'asking where to upload a clip',
      run: (client) => {
        // The SDK knows the argument under a name that Slack does not read.
        const wanted = { filename: name, length: bytes, alt_txt: beginning(description, 1000) };
        return client.files.getUploadURLExternal(wanted);
      },
    });
    if (place.upload_url === undefined || place.file_id === undefined) throw unavailable('Slack gave no address');
    await sendBytes(place.upload_url, file);
    const where = { channel: message.channel, sinceMs: this.#options.clock.now(), permalink: null };
    return this.#remember(message, before, { file: place.file_id, state: 'uploaded', name, bytes, ...where });
  }

  async #share(delivery: Delivering, record: FileRecord, reason: string | null = null): Promise<FileRecord> {
    const { message } = delivery;
    const sinceMs = this.#options.clock.now();
    const comment = commentOf(delivery, record, reason);
    const sharing = { ...record, state: 'sharing', sinceMs, isAnnounced: comment !== null } as const;
    const asked = await this.#remember(message, record, sharing);
    try {
      await this.#complete(delivery, asked, comment);
    } catch (thrown) {
      if (mayHaveHappened(thrown)) return this.#confirm(delivery, asked);
      return this.#otherwise(delivery, asked, thrown);
    }
    return this.#confirm(delivery, await this.#remember(message, asked, { ...asked, state: 'accepted' }));
  }

  /** Slack certainly did not show it. */
  async #otherwise(delivery: Delivering, record: FileRecord, thrown: unknown): Promise<FileRecord> {
    const { memory, logger } = this.#options;
    const reason = slackCodeOf(thrown);
    if (reason !== null && ELSEWHERE.has(reason) && record.channel === delivery.message.channel) {
      logger.warn({ reason, channel: record.channel }, 'a clip goes to its requester, since the channel takes none');
      const channel = await this.#direct(delivery);
      return this.#share(delivery, { ...record, channel }, reason);
    }
    const isStillGood = thrown instanceof DailiesError && (thrown.code === 'rate_limited' || !delivery.lease.isHeld());
    if (isStillGood) await this.#remember(delivery.message, record, { ...record, state: 'uploaded' });
    else await memory.forgetFile(delivery.message, record);
    throw thrown;
  }

  async #complete(delivery: Delivering, record: FileRecord, comment: string | null): Promise<void> {
    const { to, message, root, file, lease } = delivery;
    const isInThread = record.channel === message.channel;
    await this.#options.clients.call({
      to,
      lane: 'delivery',
      doing: 'showing a clip',
      run: async (client) => {
        // This process may have been stopped for so long that another replica is at it.
        if (!lease.isHeld(MARGIN_MS)) throw unavailable('another replica is at it');
        const files: [{ id: string; title: string }] = [{ id: record.file, title: file.name }];
        const words = comment === null ? {} : { initial_comment: comment };
        const shown = { files, channel_id: record.channel, ...words };
        return client.files.completeUploadExternal(isInThread ? { ...shown, thread_ts: root } : shown);
      },
    });
  }

  /** Waits until it is there for people. */
  async #confirm(delivery: Delivering, record: FileRecord): Promise<FileRecord> {
    const { clock } = this.#options;
    const { message } = delivery;
    let unknown = 0;
    for (const waitMs of LOOKS_AFTER_MS) {
      if (waitMs > 0) await sleep(clock, waitMs);
      const found = await this.#look(delivery.to, record);
      if (found === 'waiting') continue;
      if (found !== 'unknown')
        return this.#remember(message, record, { ...record, state: 'shared', permalink: found.permalink }, found.ts);
      // Slack knows no unfinished file: it was not asked to show this one, or did not hear of it.
      unknown += 1;
      if (record.state === 'sharing' && unknown >= SURE_AFTER_LOOKS) return this.#share(delivery, record);
    }
    const lostAfterMs = record.state === 'sharing' ? UNHEARD_AFTER_MS : LOST_AFTER_MS;
    if (clock.now() - record.sinceMs > lostAfterMs) await this.#discard(delivery, record);
    throw unavailable('Slack has not shown it yet');
  }

  /** What may still appear is taken away before it is uploaded anew. */
  async #discard({ to, message }: FileDelivery, record: FileRecord): Promise<void> {
    const { clients, memory, logger } = this.#options;
    await clients
      .call({
        to,
        lane: 'delivery',
        doing: 'deleting a lost file',
        run: (client) => client.files.delete({ file: record.file }),
      })
      .catch((thrown: unknown) => {
        // It may be there still: only once it is gone may another one come.
        if (thrown instanceof DailiesError && thrown.retryable) throw thrown;
        logger.warn({ err: thrown }, 'a lost file could not be deleted');
      });
    await memory.forgetFile(message, record);
  }

  async #look(to: TeamRef, record: FileRecord): Promise<'unknown' | 'waiting' | ShownFile> {
    try {
      const { file } = await this.#options.clients.call({
        to,
        lane: 'delivery',
        doing: 'looking for a clip',
        run: (client) => client.files.info({ file: record.file }),
      });
      const shares = [file?.shares?.public, file?.shares?.private];
      const share = shares.flatMap((by) => by?.[record.channel] ?? []).at(0);
      return share === undefined ? 'waiting' : { permalink: file?.permalink ?? null, ts: share.ts ?? null };
    } catch (thrown) {
      const reason = slackCodeOf(thrown);
      if (reason === 'file_not_found') return 'unknown';
      // Somebody saw it, and took it away.
      if (reason === 'file_deleted') return NOT_SEEN;
      // Where the app may not look, what Slack said has to do.
      if (reason === 'missing_scope' && record.state === 'accepted') return NOT_SEEN;
      throw thrown;
    }
  }

  async #direct({ to, user }: FileDelivery): Promise<string> {
    const { channel } = await this.#options.clients.call({
      to,
      lane: 'delivery',
      doing: 'opening a direct message',
      run: (client) => client.conversations.open({ users: user }),
    });
    if (channel?.id === undefined) throw unavailable('Slack opened no direct message');
    return channel.id;
  }

  /** Goes on only where nobody else went on meanwhile. */
  async #remember(
    message: MessageRef,
    before: FileRecord | undefined,
    next: Omit<FileRecord, 'revision'>,
    shownAs: string | null = null,
  ): Promise<FileRecord> {
    const record = await this.#options.memory.rememberFile(message, before, next, shownAs);
    if (record === null) throw unavailable('another replica is at it');
    return record;
  }
}

/** What the file's message says: the mention in the thread, the reason in a direct message. */
function commentOf({ message, comment }: Delivering, { channel }: FileRecord, reason: string | null): string | null {
  if (channel === message.channel) return comment(null);
  return comment(reason === 'is_archived' ? 'archived' : 'refused');
}

function unavailable(reason: string): DailiesError {
  return new DailiesError(`delivering a clip: ${reason}`, { code: 'platform_unavailable', retryable: true });
}
