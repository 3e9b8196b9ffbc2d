import type { ManualClock } from './manual-clock.ts';

/** Runs all work that is due without time passing: afterwards every promise that can settle by itself has settled. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Advances the clock by `ms` in steps and settles promises after each, so that timers set meanwhile also run at their
 * time.
 */
export async function pass(clock: ManualClock, ms: number, stepMs = 250): Promise<void> {
  await settle();
  for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
    clock.advance(Math.min(stepMs, leftMs));
    await settle();
  }
}

/** A promise that a test settles. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: Error) => void;
}

/** Creates a {@link Deferred}. */
export function deferred<Value = void>(): Deferred<Value> {
  return Promise.withResolvers<Value>();
}
