import { systemClock } from '#src/clock.ts';
import { limited } from './limits.ts';
import { Refusal } from './refusal.ts';

/** What goes wrong with a request. */
export type Fault =
  /** It is done; the connection closes instead of an answer. */
  | { readonly kind: 'drop' }
  /** It is refused; with `acts` it was done nevertheless. */
  | { readonly kind: 'fail'; readonly status: number; readonly code: number; readonly acts: boolean }
  /** It waits until `until` settles, then goes on. */
  | { readonly kind: 'hold'; readonly until: Promise<void> }
  /** 429 for so long, for whom it meets first. */
  | { readonly kind: 'limit'; readonly scope: 'user' | 'global' | 'shared'; readonly waitMs: number; met: Met | null };

/** The channel, server or token that a limit met, and until when by the machine's clock. */
interface Met {
  readonly resource: string;
  readonly untilMs: number;
}

/** A fault and the endpoint that it waits at. */
interface Waiting {
  readonly route: string;
  readonly fault: Fault;
}

/** Faults waiting for requests, each for the next one of its endpoint. */
export class Faults {
  readonly #waiting: Waiting[] = [];
  readonly #violate: (what: string) => void;
  /** Requests that are being held back. */
  held = 0;

  constructor(violate: (what: string) => void) {
    this.#violate = violate;
  }

  add(route: string, fault: Fault): void {
    this.#waiting.push({ route, fault });
  }

  /**
   * What to do with this request besides answering it. @param resource the channel, server or token in its path
   * @throws Refusal where it is refused without being done
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

  /** The wait begins with the first refusal. */
  #limit(waiting: Waiting, fault: Fault & { kind: 'limit' }, resource: string): null {
    const now = systemClock.now();
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

/** Limits are counted for each channel, server or token apart. @see discord docs: topics/rate-limits, "top-level resources" */
function isFor(fault: Fault, resource: string): boolean {
  return fault.kind !== 'limit' || fault.scope === 'global' || (fault.met?.resource ?? resource) === resource;
}
