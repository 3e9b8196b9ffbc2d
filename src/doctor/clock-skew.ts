import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Clock } from '../clock.ts';
import { type Finding, ok, warning, wrong } from './diagnosis.ts';

/** Channel on which undici publishes the headers of every response. @see https://undici.nodejs.org/#/docs/api/DiagnosticsChannel */
const CHANNEL = 'undici:request:headers';
/** `Date` has whole seconds; half of one is its mean error. */
const ROUNDING_MS = 500;
/** Difference that headers and slow networks do not explain. */
const NOTABLE_MS = 5_000;
/** Difference from which signatures and links are refused: Slack allows five minutes. */
const HARMFUL_MS = 60_000;

interface HeadersMessage {
  readonly request?: { readonly origin?: string | URL };
  readonly response?: { readonly headers?: readonly unknown[] };
}

/** Compares this machine’s clock with the `Date` headers of all responses that the checks get. */
export class ClockSkew {
  readonly #clock: Pick<Clock, 'now'>;
  /** Own origins, whose clock is this machine’s. */
  readonly #ignored: ReadonlySet<string>;
  /** Milliseconds by which this machine is ahead, by origin. */
  readonly #aheadMs = new Map<string, number>();
  readonly #listener = (message: unknown): void => this.#observe(message as HeadersMessage);

  /** @param ignored origins that are not compared. */
  constructor(clock: Pick<Clock, 'now'>, ignored: readonly string[]) {
    this.#clock = clock;
    this.#ignored = new Set(ignored);
    subscribe(CHANNEL, this.#listener);
  }

  /** Ends the observation. @returns the largest difference. */
  result(): Finding {
    unsubscribe(CHANNEL, this.#listener);
    const [worst] = [...this.#aheadMs].sort(([, one], [, other]) => Math.abs(other) - Math.abs(one));
    if (worst === undefined) return ok('nothing outside was asked, so there is no other clock to compare with');
    const [origin, aheadMs] = worst;
    const seconds = Math.round(Math.abs(aheadMs) / 1_000);
    const found = `${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ${origin}`;
    const fix = 'Set the clock by NTP (timedatectl set-ntp true).';
    if (Math.abs(aheadMs) >= HARMFUL_MS) {
      return wrong(`${found}: signed requests, links and late presses are judged by it`, fix);
    }
    return Math.abs(aheadMs) >= NOTABLE_MS ? warning(found, fix) : ok(`agrees with ${origin}`);
  }

  #observe({ request, response }: HeadersMessage): void {
    const origin = request?.origin ?? '';
    const headers = (response?.headers ?? []).map(String);
    const headerOf = (name: string): string | undefined => {
      const at = headers.findIndex((header, index) => index % 2 === 0 && header.toLowerCase() === name);
      return at < 0 ? undefined : headers[at + 1];
    };
    const theirsMs = Date.parse(headerOf('date') ?? '');
    // A cached response has the date of its origin.
    if (this.#ignored.has(`${origin}`) || Number.isNaN(theirsMs) || headerOf('age') !== undefined) return;
    this.#aheadMs.set(`${origin}`, this.#clock.now() - (theirsMs + ROUNDING_MS));
  }
}
