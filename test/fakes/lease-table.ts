import type { LeaseBackend } from '#src/engine/cluster/leases.ts';
import { DailiesError } from '#src/errors.ts';
import type { ManualClock } from './manual-clock.ts';

/** In-memory leases on a test's clock. */
export class LeaseTable implements LeaseBackend {
  isAway = false;
  readonly #clock: ManualClock;
  readonly #held = new Map<string, { readonly token: string; readonly untilMs: number }>();

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  async take(name: string, token: string, ttlMs: number): Promise<boolean> {
    if (this.#tokenOf(name) !== null) return false;
    this.#held.set(name, { token, untilMs: this.#clock.monotonic() + ttlMs });
    return true;
  }

  async renew(name: string, token: string, ttlMs: number): Promise<boolean> {
    if (this.#tokenOf(name) !== token) return false;
    this.#held.set(name, { token, untilMs: this.#clock.monotonic() + ttlMs });
    return true;
  }

  async drop(name: string, token: string): Promise<void> {
    if (this.#tokenOf(name) === token) this.#held.delete(name);
  }

  async read(name: string): Promise<string | null> {
    return this.#tokenOf(name);
  }

  forgetAll(): void {
    this.#held.clear();
  }

  /** Returns the names of the leases that are held. */
  names(): readonly string[] {
    return [...this.#held.keys()].filter((name) => this.#tokenOf(name) !== null);
  }

  /** Synchronous, so that check and acquisition are atomic. */
  #tokenOf(name: string): string | null {
    if (this.isAway) throw new DailiesError('reading: away', { code: 'store_unavailable', retryable: true });
    const held = this.#held.get(name);
    return held === undefined || held.untilMs <= this.#clock.monotonic() ? null : held.token;
  }
}
