import { systemClock } from '#src/clock.ts';
import { limited } from './limits.ts';
import { Refusal } from './refusal.ts';

/** A fault injected into a request. */
export type Fault =
  /** Executes the request, then closes the connection instead of responding. */
  | { readonly kind: 'drop' }
  /** Rejects the request; with `acts` it is executed nevertheless. */
  | { readonly kind: 'fail'; readonly status: number; readonly code: number; readonly acts: boolean }
  /** Delays the request until `until` settles. */
  | { readonly kind: 'hold'; readonly until: Promise<void> }
  /** Responds with 429 for this long, to the channel, server or token of the first request. */
  | { readonly kind: 'limit'; readonly scope: 'user' | 'global' | 'shared'; readonly waitMs: number; met: Met | null };

/** The channel, server or token to which a limit applies, and its end by the system's monotonic clock. */
interface Met {
  readonly resource: string;
  readonly untilMs: number;
}

/** A queued fault and its endpoint. */
interface Waiting {
  readonly route: string;
  readonly fault: Fault;
}

/** Queue of faults, each for the next request to its endpoint. */
export class Faults {
  readonly #waiting: Waiting[] = [];
  readonly #violate: (what: string) => void;
  /** Number of requests held. */
  held = 0;

  constructor(violate: (what: string) => void) {
    this.#violate = violate;
  }

  add(route: string, fault: Fault): void {
    this.#waiting.push({ route, fault });
  }

  /**
   * Applies the next fault of a route and returns the fault that the caller still has to act on. @param resource the
   * channel, server or token in its path
   * @throws Refusal if the request is rejected without being executed
   */
  async meet(route: string, resource: string): Promise<Fault | null> {
    const found = this.#waiting.find((one) => one.route === route && isFor(one.fault, resource));
    if (found === undefined) return null;
    const { fault } = found;
    if (fault.kind === 'limit') return this.#limit(found, fault, resource);
    this.#remove(found);
    if (fault.kind === 'hold') {
      this.held += 1;
      await fault.until;
      this.held -= 1;
    }
    if (fault.kind === 'fail' && !fault.acts) throw new Refusal(fault.status, fault.code);
    return fault;
  }

  /** The wait begins with the first rejection. */
  #limit(waiting: Waiting, fault: Fault & { kind: 'limit' }, resource: string): null {
    const now = systemClock.monotonic();
    if (fault.met === null) fault.met = { resource, untilMs: now + fault.waitMs };
    else if (now >= fault.met.untilMs) {
      this.#remove(waiting);
      return null;
    } else this.#violate(`${waiting.route} asked again before Retry-After had passed`);
    const isGlobal = fault.scope === 'global' ? { 'X-RateLimit-Global': 'true' } : {};
    throw limited(fault.met.untilMs - now, { 'X-RateLimit-Scope': fault.scope, ...isGlobal });
  }

  #remove(waiting: Waiting): void {
    this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
  }
}

/**
 * Returns whether a fault applies to a resource: limits are counted per channel, server or token. @see discord docs:
 * topics/rate-limits, "top-level resources"
 */
function isFor(fault: Fault, resource: string): boolean {
  return fault.kind !== 'limit' || fault.scope === 'global' || (fault.met?.resource ?? resource) === resource;
}
