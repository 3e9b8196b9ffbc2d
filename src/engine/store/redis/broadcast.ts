import type { Logger } from '../../../logger.ts';
import { type Broadcast, LocalBroadcast } from '../../cluster/broadcast.ts';
import type { RedisConnection } from './connection.ts';

const CHANNEL = 'dailies:broadcast:';

/** A broadcast by Redis pub/sub, with a subscriber connection of its own that reconnects. */
export class RedisBroadcast implements Broadcast {
  readonly #link: RedisConnection;
  readonly #logger: Logger;
  /** The subscribers of this process. */
  readonly #local = new LocalBroadcast();
  #subscriber: RedisConnection | null = null;

  constructor(link: RedisConnection, logger: Logger) {
    this.#link = link;
    this.#logger = logger;
  }

  publish(topic: string, text: string): void {
    this.#link
      .call('telling the other replicas', () => this.#link.client.publish(`${CHANNEL}${topic}`, text))
      .catch((thrown: unknown) =>
        this.#logger.debug({ event: 'broadcast_publish_failed', topic, err: thrown }, 'failed to publish a message'),
      );
  }

  subscribe(topic: string, listener: (text: string) => void, missed?: () => void): () => void {
    this.#subscriber ??= this.#open();
    return this.#local.subscribe(topic, listener, missed);
  }

  async close(): Promise<void> {
    await this.#subscriber?.close();
  }

  /** Calls the listeners. Their errors must not reach the client, which is in the middle of reading. */
  readonly #receive = (text: string, channel: string): void => {
    const topic = channel.slice(CHANNEL.length);
    try {
      this.#local.publish(topic, text);
    } catch (thrown) {
      this.#logger.error({ event: 'broadcast_listener_failed', topic, err: thrown }, 'a broadcast listener failed');
    }
  };

  #open(): RedisConnection {
    const subscriber = this.#link.beside();
    const { client } = subscriber;
    // True once messages may have been missed: every connection but the first follows another one, or a failure; and that
    // may be made late, while Redis is down.
    let wasAway = !this.#link.client.isReady;
    // Runs on every connection. Once subscribed, the client resubscribes by itself and this has no effect.
    const listen = async (): Promise<void> => {
      const mayHaveMissed = wasAway;
      wasAway = true;
      await subscriber.call('listening to the other replicas', () => client.pSubscribe(`${CHANNEL}*`, this.#receive));
      if (mayHaveMissed) this.#local.publishMissed();
    };
    client.on('error', () => {
      wasAway = true;
    });
    client.on('ready', () => {
      listen().catch((thrown: unknown) =>
        this.#logger.warn({ event: 'broadcast_subscribe_failed', err: thrown }, 'failed to subscribe to broadcasts'),
      );
    });
    return subscriber;
  }
}
