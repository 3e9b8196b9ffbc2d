import type { MessageRef } from '#src/chat/platform.ts';
import type { Clock } from '#src/clock.ts';
import { DailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Clients, TeamRef } from './clients.ts';
import { mayHaveHappened, slackCodeOf } from './errors.ts';
import type { PostRecord, SlackMemory } from './memory.ts';
import type { Body } from './render.ts';

/** Collaborators of {@link Messages}. */
export interface MessagesOptions {
  readonly clients: Clients;
  readonly memory: SlackMemory;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Where a message is posted. */
export interface Post {
  readonly to: TeamRef;
  readonly channel: string;
  readonly thread: string | null;
  readonly body: Body;
}

/** Names our messages among others. @see https://docs.slack.dev/messaging/message-metadata */
const EVENT_TYPE = 'dailies_message';
/** What is looked through for a message whose answer was lost. */
const SEARCHED = 100;
/** Clocks differ; the search begins that much earlier. */
const CLOCK_MARGIN_MS = 60_000;
/** @see https://docs.slack.dev/reference/methods/chat.postMessage: no link of a message is opened or drawn */
const AS_TEXT = { parse: 'none', unfurl_links: false, unfurl_media: false } as const;

/**
 * Messages of the bot. Slack has no documented way to post once: what is posted under a key is written down first,
 * carries the key in its metadata, and is looked for there before it is posted once more.
 */
export class Messages {
  readonly #options: MessagesOptions;
  readonly #posting = new Map<string, Promise<MessageRef>>();

  constructor(options: MessagesOptions) {
    this.#options = options;
  }

  /** Posts under `key`, or finds what was posted under it; many callers at once post one. */
  postOnce(key: string, post: Post): Promise<MessageRef> {
    const running = this.#posting.get(key);
    if (running !== undefined) return running;
    const posted = this.#postOnce(key, post).finally(() => this.#posting.delete(key));
    this.#posting.set(key, posted);
    return posted;
  }

  /** Replaces what a message shows; always with blocks, since a text alone would take them away. */
  async update(to: TeamRef, message: MessageRef, body: Body, urgency: 'progress' | 'final'): Promise<void> {
    await this.#options.clients.update(urgency, {
      to,
      doing: 'changing a message',
      run: (client) => client.chat.update({ channel: message.channel, ts: message.message, ...body, parse: 'none' }),
    });
  }

  /** @throws DailiesError `message_gone` where a message is not there any more. */
  async expectThere(to: TeamRef, { channel, message }: MessageRef): Promise<void> {
    const doing = 'looking for a message';
    const run = async (): Promise<unknown> =>
      this.#options.clients.call({
        to,
        lane: 'delivery',
        doing,
        run: (client) => client.chat.getPermalink({ channel, message_ts: message }),
      });
    await run().catch((thrown: unknown) => {
      if (thrown instanceof DailiesError && thrown.code === 'message_gone') throw thrown;
      // Whatever else is wrong is found out by the call that matters.
      this.#options.logger.debug({ err: thrown }, 'a message could not be looked for');
    });
  }

  async #postOnce(key: string, post: Post): Promise<MessageRef> {
    const { memory, clock } = this.#options;
    const known = await memory.post(key);
    if (known?.message !== undefined && known.message !== null)
      return { channel: known.channel, message: known.message };
    const { channel, thread } = post;
    const record = known ?? { channel, thread, sinceMs: clock.now(), message: null };
    const found = known === undefined ? null : await this.#find(key, post.to, record);
    if (known === undefined) await memory.rememberPost(key, record);
    const message = found ?? (await this.#post(key, post, record));
    await memory.rememberPost(key, { ...record, channel: message.channel, message: message.message });
    return message;
  }

  /** Where the answer is lost, the message is looked for at once: it may be there. */
  async #post(key: string, post: Post, record: PostRecord): Promise<MessageRef> {
    try {
      return await this.#send(key, post);
    } catch (thrown) {
      if (!mayHaveHappened(thrown)) {
        await this.#options.memory.forgetPost(key);
        throw thrown;
      }
      const found = await this.#find(key, post.to, record);
      if (found === null) throw thrown;
      return found;
    }
  }

  async #send(key: string, { to, channel, thread, body }: Post): Promise<MessageRef> {
    const metadata = { event_type: EVENT_TYPE, event_payload: { key } };
    const posted = await this.#options.clients.post(channel, {
      to,
      lane: 'delivery',
      doing: 'posting a message',
      run: (client) => {
        const message = { channel, ...body, ...AS_TEXT, metadata };
        return client.chat.postMessage(thread === null ? message : { ...message, thread_ts: thread });
      },
    });
    return { channel: posted.channel ?? channel, message: posted.ts ?? '' };
  }

  /** Looks for what was posted under `key`; `null` where it is not, or where the app may never look. */
  async #find(key: string, to: TeamRef, { channel, thread, sinceMs }: PostRecord): Promise<MessageRef | null> {
    const { clients, logger } = this.#options;
    const oldest = String(Math.floor((sinceMs - CLOCK_MARGIN_MS) / 1000));
    const window = { channel, oldest, limit: SEARCHED, include_all_metadata: true };
    try {
      const { messages = [] } = await clients.call<{ messages?: readonly Seen[] }>({
        to,
        lane: 'delivery',
        doing: 'looking for a message of ours',
        run: (client) =>
          thread === null
            ? client.conversations.history(window)
            : client.conversations.replies({ ...window, ts: thread }),
      });
      const found = messages.find(({ metadata }) => metadata?.event_payload?.['key'] === key);
      return found?.ts === undefined ? null : { channel, message: found.ts };
    } catch (thrown) {
      // What can be looked up later is not guessed now: a wrong guess is a second message.
      if (thrown instanceof DailiesError && thrown.retryable) throw thrown;
      const reason = slackCodeOf(thrown);
      logger.warn({ channel, reason }, 'whether a message is there already cannot be looked up');
      return null;
    }
  }
}

/** A message as a search shows it. */
interface Seen {
  readonly ts?: string;
  readonly metadata?: { readonly event_payload?: Readonly<Record<string, unknown>> };
}
