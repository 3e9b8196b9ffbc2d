import type { Logger } from '../logger.ts';
import { type Broadcast, Listeners } from './broadcast.ts';
import type { RedisLink } from './redis-link.ts';

const CHANNEL = 'dailies:broadcast:';

/** A broadcast by Redis's publish and subscribe, on a connection of its own that finds its way back. */
export class RedisBroadcast implements Broadcast {
  readonly #link: RedisLink;
  readonly #logger: Logger;
  readonly #listeners = new Listeners();
  #ear: Promise<RedisLink['client']> | null = null;

  constructor(link: RedisLink, logger: Logger) {
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
    this.#ear.catch((thrown: unknown) => this.#logger.warn({ err: thrown }, 'the other replicas are not heard'));
    return this.#listeners.add(topic, listener, missed);
  }

  async close(): Promise<void> {
    const ear = await this.#ear?.catch(() => null);
    ear?.destroy();
  }

  async #open(): Promise<RedisLink['client']> {
    const ear = this.#link.client.duplicate();
    // The link itself says when Redis is away.
    ear.on('error', () => undefined);
    await ear.connect();
    await ear.pSubscribe(`${CHANNEL}*`, (text, channel) => this.#listeners.tell(channel.slice(CHANNEL.length), text));
    // It was away, and listens again.
    ear.on('ready', () => this.#listeners.tellMissed());
    return ear;
  }
}
