import type { MessageRef } from '#src/chat/index.ts';
import { asDailiesError, DailiesError } from '#src/errors.ts';
import type { TeamRef } from '../web-api/client.ts';
import { slackCodeOf } from '../web-api/errors.ts';
import { broadcastKey } from './broadcast.ts';
import type { Files } from './file-delivery.ts';
import type { FileRecord, MessageStore } from './message-store.ts';
import type { Messages } from './post-once.ts';
import type { Body } from './render.ts';

interface RetractionsOptions {
  readonly messageStore: MessageStore;
  readonly messages: Messages;
  readonly files: Files;
}

interface Retracting {
  readonly to: TeamRef;
  readonly message: MessageRef;
  readonly body: Body;
}

/** Errors of a message that can no longer be edited. @see https://docs.slack.dev/reference/methods/chat.update#errors */
export const UNCHANGEABLE: ReadonlySet<string> = new Set(['edit_window_closed', 'cant_update_message']);
/** Errors of a channel whose messages its members may still read. */
const UNREACHABLE: ReadonlySet<string> = new Set(['channel_not_found', 'is_archived', 'is_inactive']);
const GONE: ReadonlySet<string> = new Set(['message_not_found', 'file_not_found', 'file_deleted']);

/** Replaces messages by a short text, with everything that was posted for them: the clip, its message, replies. */
export class Retractions {
  readonly #options: RetractionsOptions;

  constructor(options: RetractionsOptions) {
    this.#options = options;
  }

  /**
   * Retracts a message. Tries every part before it fails, and removes what is stored of them.
   * @throws `missing_permission` where a part stays; retryable errors at once
   */
  async retract(retracting: Retracting): Promise<void> {
    const { messageStore, messages } = this.#options;
    const { message } = retracting;
    const replies = await messageStore.replies(message);
    // The files go after their messages, which they name, and before the card says that they are deleted.
    const failure = await this.retractFiles(retracting, await messageStore.files(message), [...replies, message]);
    // From here on, Broadcasts sees that the file is gone: a message that it sent before is recorded.
    const broadcast = await messages.posted(broadcastKey(message));
    const other = broadcast === undefined ? null : await this.retractFiles(retracting, [], [broadcast]);
    await messageStore.forgetReplies(message);
    const refusal = failure ?? other;
    if (refusal !== null) throw refusal;
  }

  /**
   * Deletes files of a message, then replaces `others`.
   * @returns the `missing_permission` of a part that stays; `null`: none does
   */
  async retractFiles(
    { to, message, body }: Retracting,
    removed: readonly FileRecord[],
    others: readonly MessageRef[] = [],
  ): Promise<DailiesError | null> {
    const { messageStore, files } = this.#options;
    const failures: DailiesError[] = [];
    const attempt = async (retracted: Promise<void>): Promise<void> => {
      const failure = await retracted.then(() => null, failureOf);
      if (failure?.retryable === true) throw failure;
      if (failure !== null) failures.push(failure);
    };
    for (const file of removed) {
      const own = await files.messageOf(to, file);
      if (own !== null) await attempt(this.#replace({ to, message: own, body }));
      await attempt(files.delete(to, file, 'deleting a clip'));
    }
    for (const one of others) await attempt(this.#replace({ to, message: one, body }));
    if (removed.length > 0) await messageStore.replaceFiles(message, removed, []);
    return failures[0] ?? null;
  }

  /** Replaces the content of a message; deletes one that Slack does not let apps edit. */
  async #replace({ to, message, body }: Retracting): Promise<void> {
    try {
      await this.#options.messages.update(to, message, body, 'retraction');
    } catch (thrown) {
      if (!UNCHANGEABLE.has(slackCodeOf(thrown) ?? '')) throw thrown;
      await this.#options.messages.delete(to, message, 'deleting a message');
    }
  }
}

/** Returns the failure of a part; `null` where it is gone. */
function failureOf(thrown: unknown): DailiesError | null {
  const error = asDailiesError(thrown, 'retracting a message');
  const code = slackCodeOf(error) ?? '';
  if (GONE.has(code)) return null;
  if (!UNREACHABLE.has(code)) return error;
  return new DailiesError(error.message, { code: 'missing_permission', retryable: false, cause: error });
}
