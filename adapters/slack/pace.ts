import { BoundedMap } from '#src/bounded-map.ts';
import { type Clock, sleep } from '#src/clock.ts';

/** How often something may be done. */
export interface Allowance {
  /** Most calls in any minute. */
  readonly perMinute: number;
}

const MINUTE_MS = 60_000;

/** Counts calls over the last minute, by key; nobody waits here. */
export class Allowances {
  readonly #clock: Clock;
  readonly #calls = new BoundedMap<string, number[]>(MOST_KEYS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a place, if one of `perMinute` is free. @returns 0, or after how many milliseconds one will be. */
  take(key: string, { perMinute }: Allowance): number {
    const nowMs = this.#clock.now();
    const recent = (this.#calls.get(key) ?? []).filter((atMs) => atMs > nowMs - MINUTE_MS);
    this.#calls.set(key, recent);
    if (recent.length < perMinute) {
      recent.push(nowMs);
      return 0;
    }
    const freeing = recent[recent.length - perMinute] ?? nowMs;
    return Math.max(1, freeing + MINUTE_MS - nowMs);
  }
}

/** One after the other, with a least time between two beginnings, by key. */
export class Pacer {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #nextMs = new Map<string, number>();

  constructor(clock: Clock, intervalMs: number) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
  }

  /** Resolves when it is this caller's turn. */
  async turn(key: string): Promise<void> {
    const nowMs = this.#clock.now();
    const atMs = Math.max(nowMs, this.#nextMs.get(key) ?? 0);
    this.#nextMs.set(key, atMs + this.#intervalMs);
    if (this.#nextMs.size > MOST_KEYS) this.#forget(nowMs);
    if (atMs > nowMs) await sleep(this.#clock, atMs - nowMs);
  }

  /** Lets nobody begin for a while: the platform said so. */
  pause(key: string, ms: number): void {
    this.#nextMs.set(key, Math.max(this.#nextMs.get(key) ?? 0, this.#clock.now() + ms));
  }

  #forget(nowMs: number): void {
    for (const [key, atMs] of this.#nextMs) if (atMs <= nowMs) this.#nextMs.delete(key);
  }
}

const MOST_KEYS = 1_000;
