import { ON_ITS_WAY_MS } from './limits.ts';
import { limited, Refusal } from './refusal.ts';

/** What goes wrong with a call. */
export type Fault =
  /** It is done; the connection closes instead of an answer. */
  | { readonly kind: 'drop' }
  /** It is refused; with `acts` it was done nevertheless. */
  | { readonly kind: 'fail'; readonly error: string; readonly acts: boolean }
  /** An answer without Slack's JSON; with `acts` it was done nevertheless. */
  | { readonly kind: 'status'; readonly status: number; readonly acts: boolean }
  /** It waits until `until` settles, then goes on. */
  | { readonly kind: 'hold'; readonly until: Promise<void> }
  /** 429 for so long. */
  | { readonly kind: 'limit'; readonly seconds: number; untilMs: number | null };

/** Faults waiting for calls, each for the next one of its method; `upload` is the sending of a file's bytes. */
export class Faults {
  readonly #waiting: { readonly method: string; readonly fault: Fault }[] = [];
  readonly #violate: (what: string) => void;
  readonly #now: () => number;
  /** How many calls are held. */
  held = 0;

  /** @param now the time by which clients wait: `waitingTime` in limits.ts */
  constructor(now: () => number, violate: (what: string) => void) {
    this.#now = now;
    this.#violate = violate;
  }

  add(method: string, fault: Fault): void {
    this.#waiting.push({ method, fault });
  }

  /**
   * What to do with this call besides answering it.
   * @throws Refusal where it is refused without being done
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

  /** The wait begins with the first refusal. */
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

/** Answers with the fault where it is an answer. @throws Refusal */
export function refuse(fault: Fault | null): void {
  if (fault?.kind === 'fail') throw new Refusal(fault.error);
  if (fault?.kind === 'status') throw new Refusal('', { status: fault.status });
}
