import { RESTJSONErrorCodes, type RESTPostAPIChannelMessagesThreadsJSONBody, Routes } from 'discord.js';
import { shortId } from '#commands/ui/buttons.ts';
import { setOfCard } from '#src/chat/index.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Origin } from '#src/tasks/index.ts';
import type { Parts } from '../parts.ts';
import { errorResponseOf } from '../rest/errors.ts';
import { type MessageRecord, readAddress } from './message-store.ts';

/** Place for a message below the card of a set: its thread, or the channel of the card. */
export interface PlaceBelow {
  readonly channel: string;
  readonly isThread: boolean;
}

/**
 * Threads of storyboards, which hold what is posted below the card. Each begins at the card's message and has its id. Where
 * there can be none, such as without the permission Create Public Threads, the channel of the card takes its messages.
 * @see https://docs.discord.com/developers/resources/channel#start-thread-from-message
 */
export class Threads {
  readonly #options: Pick<Parts, 'rest' | 'records' | 'logger'>;

  constructor(options: Pick<Parts, 'rest' | 'records' | 'logger'>) {
    this.#options = options;
  }

  /** Returns where to post what belongs below a card. @throws DailiesError, retryable */
  async placeBelow(card: string, { channel, address }: Pick<Origin, 'channel' | 'address'>): Promise<PlaceBelow> {
    const { isDirect, isThread, within } = readAddress(address);
    const { records } = this.#options;
    const known = await records.thread(card);
    if (known?.isOpen === true) return { channel: card, isThread: true };
    const record = await records.message(card);
    // The card may be in the thread of another storyboard, and Discord has no threads in threads.
    const of = record?.channel ?? channel;
    const isInThread = isThread && within === null;
    const hasThread = known === undefined && record !== undefined && of === channel && !isDirect && !isInThread;
    if (hasThread && (await this.#start(record))) return { channel: card, isThread: true };
    return { channel: of, isThread: false };
  }

  /**
   * Returns the channel of the card of a set that a thread begins at, also where a person has started it; `null` for any
   * other thread.
   */
  async cardChannelOf(thread: string): Promise<string | null> {
    const record = await this.#options.records.message(thread);
    return record === undefined || setOfCard(record.task) === null ? null : record.channel;
  }

  /** Gives up the thread of a card, which takes no message. */
  async close(card: string): Promise<void> {
    await this.#options.records.threaded(card, { isOpen: false });
  }

  /** @returns whether there is one */
  async #start({ channel, message, task }: MessageRecord): Promise<boolean> {
    const { rest, records, logger } = this.#options;
    // A prompt would stay in the name of the thread when it is removed from the messages.
    const name = `Storyboard ${shortId(setOfCard(task) ?? task)}`;
    const body: RESTPostAPIChannelMessagesThreadsJSONBody = { name };
    const doing = `starting a thread at message ${message}`;
    const failure = await rest.call({ method: 'POST', route: Routes.threads(channel, message), body, doing }).then(
      () => null,
      (thrown: unknown) => asDailiesError(thrown, doing),
    );
    if (failure?.retryable === true) throw failure;
    const isOpen =
      failure === null || errorResponseOf(failure)?.code === RESTJSONErrorCodes.ThreadAlreadyCreatedForMessage;
    if (!isOpen)
      logger.info({ event: 'discord_thread_refused', channel, message, err: failure }, 'posting shots in the channel');
    await records.threaded(message, { isOpen });
    return isOpen;
  }
}
