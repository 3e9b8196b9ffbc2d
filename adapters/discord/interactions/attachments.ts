import type { GivenOptions } from '#commands/bot-port.ts';
import { wrongKindOfFile } from '#commands/sentences/attachments.ts';
import { BoundedMap } from '#src/bounded-map.ts';
import type { Clock } from '#src/clock.ts';
import type { Relay } from '#src/media/relay.ts';
import { readableMedia } from '#src/videos/media-kind.ts';
import type { GivenAttachment } from './options.ts';

/** Reference files as the bot takes them. */
export interface TakenMedia {
  /** Their addresses, by option. */
  readonly addresses: GivenOptions;
  /** A sentence for each file of the wrong kind. */
  readonly wrong: readonly string[];
  /** When the first of them stops working; `null` where none does. */
  readonly expiresAtMs: number | null;
}

/** So soon a person would not think of it; a warning once a day is enough. */
const WARN_EVERY_MS = 24 * 3_600_000;
/** Of so many people it is known when they were warned. */
const MOST_WARNED = 10_000;

/** Takes the files that people give: kept and handed on under an address of our own, else under Discord's. */
export class ReferenceMedia {
  readonly #relay: Relay;
  readonly #clock: Clock;
  readonly #warnedAtMs = new BoundedMap<string, number>(MOST_WARNED);

  constructor(relay: Relay, clock: Clock) {
    this.#relay = relay;
    this.#clock = clock;
  }

  take(given: readonly GivenAttachment[]): TakenMedia {
    const addresses: Record<string, string[]> = {};
    const wrong: string[] = [];
    const expiries: number[] = [];
    for (const { option, attachment } of given) {
      const { url, filename: name, size: bytes } = attachment;
      const media = readableMedia({ name, contentType: attachment.content_type });
      if (media?.kind !== option) {
        wrong.push(wrongKindOfFile(option, name));
        continue;
      }
      const relayed = this.#relay.offer({ url, name, contentType: media.contentType, bytes });
      const expiresAtMs = expiryOf(url);
      if (relayed === null && expiresAtMs !== null) expiries.push(expiresAtMs);
      addresses[option] = [...(addresses[option] ?? []), relayed ?? url];
    }
    return { addresses, wrong, expiresAtMs: expiries.length === 0 ? null : Math.min(...expiries) };
  }

  /** Whether somebody is to be warned of an expiry: once a day. */
  shouldWarn(user: string): boolean {
    const nowMs = this.#clock.now();
    if (nowMs - (this.#warnedAtMs.get(user) ?? Number.NEGATIVE_INFINITY) < WARN_EVERY_MS) return false;
    this.#warnedAtMs.set(user, nowMs);
    return true;
  }
}

/** When a signed address stops working. @see https://discord.com/developers/docs/reference#signed-attachment-cdn-urls */
function expiryOf(url: string): number | null {
  const seconds = Number.parseInt(new URL(url).searchParams.get('ex') ?? '', 16);
  return Number.isNaN(seconds) ? null : seconds * 1000;
}

/** What was given by address and by file, together. */
export function merged(one: GivenOptions, other: GivenOptions): GivenOptions {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...names].map((name) => [name, [...(one[name] ?? []), ...(other[name] ?? [])]]));
}
