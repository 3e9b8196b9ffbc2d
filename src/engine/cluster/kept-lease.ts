import type { Clock } from '../../clock.ts';
import type { Lease, Leases } from './leases.ts';

/** Options of {@link KeptLease}. */
interface KeptLeaseOptions {
  readonly leases: Pick<Leases, 'take'>;
  readonly clock: Clock;
  readonly name: string;
  readonly ttlMs: number;
}

const RETRY_MS = 500;

/** Lease that is taken again whenever it was lost or could not be taken, until the process leaves. */
export class KeptLease {
  readonly #options: KeptLeaseOptions;
  #lease: Lease | null = null;
  #hasLeft = false;

  constructor(options: KeptLeaseOptions) {
    this.#options = options;
  }

  /** The lease, which may have expired meanwhile; `null` before it was taken. */
  get lease(): Lease | null {
    return this.#lease;
  }

  /** Resolves after the first attempt; a failed one is retried in the background. */
  async take(): Promise<void> {
    if (this.#hasLeft) return;
    const { leases, clock, name, ttlMs } = this.#options;
    const taken = await leases.take(name, ttlMs).catch(() => null);
    if (this.#hasLeft) return taken?.release();
    this.#lease = taken;
    if (taken === null) clock.after(RETRY_MS, () => void this.take());
    else taken.signal.addEventListener('abort', () => void this.take(), { once: true });
  }

  async leave(): Promise<void> {
    this.#hasLeft = true;
    await this.#lease?.release();
  }
}
