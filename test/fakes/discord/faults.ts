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
  /** 429 until `untilMs` by the machine's clock. */
  | {
      readonly kind: 'limit';
      readonly scope: 'user' | 'global' | 'shared';
      untilMs: number | null;
      readonly waitMs: number;
    };

/** Faults waiting for requests, each for the next one of its endpoint. */
export class Faults {
  readonly #waiting: { readonly route: string; readonly fault: Fault }[] = [];
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
   * What to do with this request besides answering it.
   * @throws Refusal where it is refused without being done
   */
  async meet(route: string): Promise<Fault | null> {
    const index = this.#waiting.findIndex((one) => one.route === route);
    const fault = this.#waiting[index]?.fault;
    if (fault === undefined) return null;
    if (fault.kind === 'limit') return this.#limit(route, fault, index);
    this.#waiting.splice(index, 1);
    if (fault.kind === 'hold') {
      this.held += 1;
      await fault.until;
      this.held -= 1;
    }
    if (fault.kind === 'fail' && !fault.acts) throw new Refusal(fault.status, fault.code);
    return fault;
  }

  /** The wait begins with the first refusal. */
  #limit(route: string, fault: Fault & { kind: 'limit' }, index: number): null {
    const now = systemClock.now();
    if (fault.untilMs === null) fault.untilMs = now + fault.waitMs;
    else if (now >= fault.untilMs) {
      this.#waiting.splice(index, 1);
      return null;
    } else this.#violate(`${route} asked again before Retry-After had passed`);
    const isGlobal = fault.scope === 'global' ? { 'X-RateLimit-Global': 'true' } : {};
    throw limited(fault.untilMs - now, { 'X-RateLimit-Scope': fault.scope, ...isGlobal });
  }
}
