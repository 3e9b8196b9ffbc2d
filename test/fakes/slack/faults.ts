import { ON_ITS_WAY_MS } from './limits.ts';
import { limited, Refusal } from './refusal.ts';

/** A fault injected into a call. */
export type Fault =
  /** Executes the call, then closes the connection instead of responding. */
  | { readonly kind: 'drop' }
  /** Rejects the call; with `acts` the call is executed nevertheless. */
  | { readonly kind: 'fail'; readonly error: string; readonly acts: boolean }
  /** Responds without Slack's JSON; with `acts` the call is executed nevertheless. */
  | { readonly kind: 'status'; readonly status: number; readonly acts: boolean }
  /** Delays the call until `until` settles. */
  | { readonly kind: 'hold'; readonly until: Promise<void> }
  /** Responds with 429 for this many seconds. */
  | { readonly kind: 'limit'; readonly seconds: number; untilMs: number | null };

/** Queue of faults, each for the next call of its method; `upload` stands for the upload of a file's bytes. */
export class Faults {
  readonly #waiting: { readonly method: string; readonly fault: Fault }[] = [];
  readonly #violate: (what: string) => void;
  readonly #now: () => number;
  /** Number of calls held. */
  held = 0;

  /** @param now the clock by which clients wait: `waitingTime` in limits.ts */
  constructor(now: () => number, violate: (what: string) => void) {
    this.#now = now;
    this.#violate = violate;
  }

  add(method: string, fault: Fault): void {
    this.#waiting.push({ method, fault });
  }

  /**
   * Applies the next fault of a method and returns the fault that the caller still has to act on.
   * @throws Refusal if the call is rejected without being executed
   */
  async meet(method: string): Promise<Fault | null> {
    const index = this.#waiting.findIndex((one) => one.method === method);
    const fault = this.#waiting[index]?.fault;
    if (fault === undefined) return null;
    if (fault.kind === 'limit') return this.#limit(method, fault, index);
    this.#waiting.splice(index, 1);
    if (fault.kind === 'hold') {
      this.held += 1;
      await fault.until.finally(() => (this.held -= 1));
    }
    if (!('acts' in fault) || !fault.acts) refuse(fault);
    return fault;
  }

  /** The wait begins with the first rejection. */
  #limit(method: string, fault: Fault & { kind: 'limit' }, index: number): null {
    const now = this.#now();
    if (fault.untilMs === null) fault.untilMs = now + fault.seconds * 1000;
    else if (now >= fault.untilMs) {
      this.#waiting.splice(index, 1);
      return null;
    } else if (now > fault.untilMs - fault.seconds * 1000 + ON_ITS_WAY_MS)
      this.#violate(`${method} called again before Retry-After had passed`);
    throw limited(fault.untilMs - now);
  }
}

/** Throws the fault if it is a response. @throws Refusal */
export function refuse(fault: Fault | null): void {
  if (fault?.kind === 'fail') throw new Refusal(fault.error);
  if (fault?.kind === 'status') throw new Refusal('', { status: fault.status });
}
