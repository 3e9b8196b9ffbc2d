import type { GivenOptions } from '#commands/bot-port.ts';
import { wrongKindOfFile } from '#commands/sentences/attachments.ts';
import { BoundedMap } from '#src/bounded-map.ts';
import type { Clock } from '#src/clock.ts';
import type { Relay } from '#src/media/relay.ts';
import { readableMedia } from '#src/videos/media-kind.ts';
import type { GivenAttachment } from './options.ts';

/** Reference files of a request, resolved to URLs. */
export interface TakenMedia {
  /** URLs by option. */
  readonly addresses: GivenOptions;
  /** Error messages, one for each file of the wrong kind. */
  readonly wrong: readonly string[];
  /** Earliest expiry of the URLs; `null` if none expires. */
  readonly expiresAtMs: number | null;
}

/** Minimum interval between expiry warnings to one user. */
const WARN_EVERY_MS = 24 * 3_600_000;
/** Number of users whose last warning is remembered. */
const MAX_WARNED = 10_000;

/** Resolves attached files to URLs: our own relay URL if the relay takes the file, else Discord's. */
export class ReferenceMedia {
  readonly #relay: Relay;
  readonly #clock: Clock;
  readonly #warnedAtMs = new BoundedMap<string, number>(MAX_WARNED);

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

  /** Returns whether to warn the user of an expiry, at most once a day, and records the warning. */
  shouldWarn(user: string): boolean {
    const nowMs = this.#clock.now();
    if (nowMs - (this.#warnedAtMs.get(user) ?? Number.NEGATIVE_INFINITY) < WARN_EVERY_MS) return false;
    this.#warnedAtMs.set(user, nowMs);
    return true;
  }
}

/**
 * Returns the expiry of a signed URL; `null` if it has none.
 * @see https://discord.com/developers/docs/reference#signed-attachment-cdn-urls
 */
function expiryOf(url: string): number | null {
  const seconds = Number.parseInt(new URL(url).searchParams.get('ex') ?? '', 16);
  return Number.isNaN(seconds) ? null : seconds * 1000;
}

/** Merges the values of two sets of options, such as URLs and files. */
export function merged(one: GivenOptions, other: GivenOptions): GivenOptions {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...names].map((name) => [name, [...(one[name] ?? []), ...(other[name] ?? [])]]));
}
