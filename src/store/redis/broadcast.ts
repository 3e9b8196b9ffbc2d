import { type Broadcast, Listeners } from '../../cluster/broadcast.ts';
import type { Logger } from '../../logger.ts';
import type { RedisConnection } from './connection.ts';

const CHANNEL = 'dailies:broadcast:';

/** A broadcast by Redis's publish and subscribe, on a connection of its own that finds its way back. */
export class RedisBroadcast implements Broadcast {
  readonly #link: RedisConnection;
  readonly #logger: Logger;
  readonly #listeners = new Listeners();
  #ear: RedisConnection | null = null;

  constructor(link: RedisConnection, logger: Logger) {
    this.#link = link;
    this.#logger = logger;
  }

  publish(topic: string, text: string): void {
    this.#link
      .call('telling the other replicas', () => this.#link.client.publish(`${CHANNEL}${topic}`, text))
      .catch((thrown: unknown) => this.#logger.debug({ topic, err: thrown }, 'the other replicas were not told'));
  }

  subscribe(topic: string, listener: (text: string) => void, missed?: () => void): () => void {
    this.#ear ??= this.#open();
    return this.#listeners.add(topic, listener, missed);
  }

  async close(): Promise<void> {
    await this.#ear?.close();
  }

  /** What a listener throws must not reach the client, which is in the middle of reading. */
  readonly #hear = (text: string, channel: string): void => {
    const topic = channel.slice(CHANNEL.length);
    try {
      this.#listeners.tell(topic, text);
    } catch (thrown) {
      this.#logger.error({ topic, err: thrown }, 'what another replica told was not understood');
    }
  };

  #open(): RedisConnection {
    const ear = this.#link.beside();
    // Whether Redis was away since somebody listens: all but the first connection follow on another, or on a failure.
    let wasAway = false;
    // Asked for on every connection: where it was already, the client asks again by itself and this adds nothing.
    const listen = async (): Promise<void> => {
      const mayHaveMissed = wasAway;
      wasAway = true;
      await ear.call('listening to the other replicas', () => ear.client.pSubscribe(`${CHANNEL}*`, this.#hear));
      if (mayHaveMissed) this.#listeners.tellMissed();
    };
    ear.client.on('error', () => {
      wasAway = true;
    });
    ear.client.on('ready', () => {
      listen().catch((thrown: unknown) => this.#logger.warn({ err: thrown }, 'the other replicas are not heard'));
    });
    return ear;
  }
}
