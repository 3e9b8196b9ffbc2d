import { randomUUID } from 'node:crypto';
import type { CancelTimer, Clock } from '../../clock.ts';

/**
 * A named lease that one replica holds at a time. It renews itself until it is released or lost. A replica that was
 * suspended or disconnected for longer than the TTL loses it, even before it notices.
 */
export interface Lease {
  readonly name: string;
  /** Time since which it is held without a gap, by the clock's {@link Clock.monotonic}. */
  readonly sinceMs: number;
  /**
   * Returns whether it is held for at least `marginMs` more (default 0), even if the backend fails meanwhile. To be
   * called right before an exclusive operation: a process can be suspended between any two lines.
   */
  isHeld(marginMs?: number): boolean;
  /** Aborted once it is lost or released. */
  readonly signal: AbortSignal;
  /** Releases it for others at once; if the backend is unavailable, it expires after its TTL. */
  release(): Promise<void>;
}

interface LeaseOptions {
  /** `false`: it always expires after its TTL. Default true: it is renewed until it is released. */
  readonly isRenewed?: boolean;
}

/** Leases, each held by one replica at a time. They use the backend's and monotonic clocks, never the time of day. */
export interface Leases {
  /** Id of this process; a new one at every start. */
  readonly owner: string;
  /**
   * Takes a lease that lasts `ttlMs` beyond its last renewal. @returns `null` when it is held already.
   * @throws `store_unavailable` when the backend cannot be reached.
   */
  take(name: string, ttlMs: number, options?: LeaseOptions): Promise<Lease | null>;
  /** Returns the {@link owner} that holds a lease; `null` when it is free. @throws `store_unavailable` */
  holder(name: string): Promise<string | null>;
}

/** Backend of leases; each call is atomic. `token` identifies one acquisition. */
export interface LeaseBackend {
  /** @returns whether it was free. */
  take(name: string, token: string, ttlMs: number): Promise<boolean>;
  /** @returns whether it is still held under `token`. */
  renew(name: string, token: string, ttlMs: number): Promise<boolean>;
  drop(name: string, token: string): Promise<void>;
  /** Returns the token under which it is held. */
  read(name: string): Promise<string | null>;
}

/** Options of {@link createLeases}. */
interface LeasesOptions {
  readonly backend: LeaseBackend;
  readonly clock: Clock;
  /** Without spaces. */
  readonly owner: string;
}

/** Reason of each end of a lease: a new one would take a stack trace for every lease that is released. */
const ENDED = new Error('the lease was lost or released');

/** Renewals of a lease per TTL. */
const RENEWALS = 4;
/** Attempts per TTL after a failed renewal: the backend may come back just before the lease expires. */
const RETRIES = 20;

/** Creates {@link Leases} on a backend. */
export function createLeases({ backend, clock, owner }: LeasesOptions): Leases {
  let taken = 0;
  return {
    owner,
    async take(name, ttlMs, { isRenewed = true } = {}) {
      taken += 1;
      const token = `${owner} ${taken}`;
      const askedAtMs = clock.monotonic();
      try {
        if (!(await backend.take(name, token, ttlMs))) return null;
      } catch (thrown) {
        // It may have been taken all the same; without this, it would be blocked until it expires.
        void backend.drop(name, token).catch(() => undefined);
        throw thrown;
      }
      return new RenewedLease({ name, token, ttlMs, isRenewed, askedAtMs, backend, clock });
    },
    async holder(name) {
      const token = await backend.read(name);
      return token?.split(' ')[0] ?? null;
    },
  };
}

interface Acquisition {
  readonly name: string;
  readonly token: string;
  readonly ttlMs: number;
  readonly isRenewed: boolean;
  /** Time of the request: from then on it lasts at least `ttlMs`. */
  readonly askedAtMs: number;
  readonly backend: LeaseBackend;
  readonly clock: Clock;
}

class RenewedLease implements Lease {
  readonly #acquisition: Acquisition;
  /** Made with the first access to the signal. */
  #controller: AbortController | null = null;
  #isEnded = false;
  #untilMs: number;
  #timer: CancelTimer = () => undefined;

  constructor(taken: Acquisition) {
    this.#acquisition = taken;
    this.#untilMs = taken.askedAtMs + taken.ttlMs;
    if (taken.isRenewed && Number.isFinite(taken.ttlMs)) this.#renewLater(RENEWALS);
  }

  get name(): string {
    return this.#acquisition.name;
  }

  get sinceMs(): number {
    return this.#acquisition.askedAtMs;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isEnded) this.#controller.abort(ENDED);
    return this.#controller.signal;
  }

  isHeld(marginMs = 0): boolean {
    if (!this.#isEnded && this.#acquisition.clock.monotonic() >= this.#untilMs) this.#end();
    return !this.#isEnded && this.#acquisition.clock.monotonic() + marginMs < this.#untilMs;
  }

  async release(): Promise<void> {
    const { backend, name, token } = this.#acquisition;
    this.#end();
    // On a failure, it expires.
    await backend.drop(name, token).catch(() => undefined);
  }

  #renewLater(times: number): void {
    const { clock, ttlMs } = this.#acquisition;
    const leftMs = this.#untilMs - clock.monotonic();
    this.#timer();
    this.#timer = clock.after(Math.min(ttlMs / times, leftMs), () => void this.#renew());
  }

  async #renew(): Promise<void> {
    if (!this.isHeld()) return;
    const { backend, name, token, ttlMs, clock } = this.#acquisition;
    const askedAtMs = clock.monotonic();
    this.#renewLater(RENEWALS);
    try {
      const isRenewed = await backend.renew(name, token, ttlMs);
      if (isRenewed) this.#untilMs = Math.max(this.#untilMs, askedAtMs + ttlMs);
      else this.#end();
      // The response arrived after it expired here: without this, it would be blocked until it expires in the backend.
      if (isRenewed && this.#isEnded) await backend.drop(name, token);
    } catch {
      if (this.isHeld()) this.#renewLater(RETRIES);
    }
  }

  #end(): void {
    this.#timer();
    this.#isEnded = true;
    this.#controller?.abort(ENDED);
  }
}

/**
 * Creates the leases of a store that belongs to one process alone. No other process can take them, so renewed leases do
 * not expire, even if the process is suspended.
 */
export function createLocalLeases(clock: Clock): Leases {
  const held = new Map<string, { readonly token: string; readonly untilMs: number }>();
  const tokenOf = (name: string): string | null => {
    const entry = held.get(name);
    return entry === undefined || clock.monotonic() >= entry.untilMs ? null : entry.token;
  };
  const leases = createLeases({
    clock,
    owner: randomUUID(),
    backend: {
      async take(name, token, ttlMs) {
        if (tokenOf(name) !== null) return false;
        held.set(name, { token, untilMs: clock.monotonic() + ttlMs });
        return true;
      },
      renew: async (name, token) => tokenOf(name) === token,
      async drop(name, token) {
        if (held.get(name)?.token === token) held.delete(name);
      },
      read: async (name) => tokenOf(name),
    },
  });
  return {
    ...leases,
    take: (name, ttlMs, options) => leases.take(name, options?.isRenewed === false ? ttlMs : Infinity, options),
  };
}
