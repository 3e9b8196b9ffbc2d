import type { CancelTimer, Clock } from '../clock.ts';

/**
 * A name that one replica holds at a time. It renews itself until it is released or lost: by a replica that was stopped
 * or cut off for longer than it lasts, even if it does not know yet.
 */
export interface Lease {
  readonly name: string;
  /** Since when it is held without a gap, by the clock's {@link Clock.monotonic}. */
  readonly sinceMs: number;
  /**
   * Whether it is ours for at least `marginMs` more (default 0), whatever the backend does meanwhile. Ask right before
   * what nobody else may do at the same time: a process can be stopped between any two lines.
   */
  isHeld(marginMs?: number): boolean;
  /** Aborted once it is lost or released. */
  readonly signal: AbortSignal;
  /** Lets others have it at once. Where the backend is away, they have it when it has run out. */
  release(): Promise<void>;
}

/** How a lease is taken. */
export interface LeaseOptions {
  /** Whether it is renewed until it is released. Default true; `false`: it ends after its time, whatever happens. */
  readonly isRenewed?: boolean;
}

/** Names held by one replica at a time. Times are measured by the backend and by monotonic clocks, never by the time of day. */
export interface Leases {
  /** Names this process; a new one at every start. */
  readonly owner: string;
  /**
   * Takes a lease that lasts `ttlMs` beyond its last renewal. @returns `null` when somebody has it.
   * @throws `store_unavailable` when that cannot be known.
   */
  take(name: string, ttlMs: number, options?: LeaseOptions): Promise<Lease | null>;
  /** The {@link owner} who has it; `null` when nobody has. @throws `store_unavailable` */
  holder(name: string): Promise<string | null>;
}

/** What a backend does for leases; each call is atomic. `token` tells one taking from another. */
export interface LeaseBackend {
  /** @returns whether nobody had it. */
  take(name: string, token: string, ttlMs: number): Promise<boolean>;
  /** @returns whether it is still held under `token`. */
  renew(name: string, token: string, ttlMs: number): Promise<boolean>;
  drop(name: string, token: string): Promise<void>;
  /** The token under which it is held. */
  read(name: string): Promise<string | null>;
}

/** Collaborators of {@link createLeases}. */
export interface LeasesOptions {
  readonly backend: LeaseBackend;
  readonly clock: Clock;
  /** Without spaces. */
  readonly owner: string;
}

/** How often a lease is renewed while it lasts. */
const RENEWALS = 4;
/** The same while the backend is away: it may come back just before the lease runs out. */
const TRIES = 20;

/** Leases on a backend. */
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
        // It may have been taken all the same, and nobody would hold it until it has run out.
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

/** A lease as it was taken. */
interface Taken {
  readonly name: string;
  readonly token: string;
  readonly ttlMs: number;
  readonly isRenewed: boolean;
  /** When it was asked for: from then on it lasts at least `ttlMs`. */
  readonly askedAtMs: number;
  readonly backend: LeaseBackend;
  readonly clock: Clock;
}

class RenewedLease implements Lease {
  readonly #taken: Taken;
  readonly #ended = new AbortController();
  #untilMs: number;
  #timer: CancelTimer = () => undefined;

  constructor(taken: Taken) {
    this.#taken = taken;
    this.#untilMs = taken.askedAtMs + taken.ttlMs;
    if (taken.isRenewed && Number.isFinite(taken.ttlMs)) this.#renewLater(RENEWALS);
  }

  get name(): string {
    return this.#taken.name;
  }

  get sinceMs(): number {
    return this.#taken.askedAtMs;
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  isHeld(marginMs = 0): boolean {
    if (!this.#ended.signal.aborted && this.#taken.clock.monotonic() >= this.#untilMs) this.#end();
    return !this.#ended.signal.aborted && this.#taken.clock.monotonic() + marginMs < this.#untilMs;
  }

  async release(): Promise<void> {
    const { backend, name, token } = this.#taken;
    this.#end();
    // It runs out by itself.
    await backend.drop(name, token).catch(() => undefined);
  }

  #renewLater(times: number): void {
    const { clock, ttlMs } = this.#taken;
    const leftMs = this.#untilMs - clock.monotonic();
    this.#timer();
    this.#timer = clock.after(Math.min(ttlMs / times, leftMs), () => void this.#renew());
  }

  async #renew(): Promise<void> {
    if (!this.isHeld()) return;
    const { backend, name, token, ttlMs, clock } = this.#taken;
    const askedAtMs = clock.monotonic();
    this.#renewLater(RENEWALS);
    try {
      const isOurs = await backend.renew(name, token, ttlMs);
      if (isOurs) this.#untilMs = Math.max(this.#untilMs, askedAtMs + ttlMs);
      else this.#end();
      // The answer came when it had run out for us: nobody would hold it until it has run out for others, too.
      if (isOurs && this.#ended.signal.aborted) await backend.drop(name, token);
    } catch {
      if (this.isHeld()) this.#renewLater(TRIES);
    }
  }

  #end(): void {
    this.#timer();
    this.#ended.abort();
  }
}
