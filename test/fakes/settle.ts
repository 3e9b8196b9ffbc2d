import type { ManualClock } from './manual-clock.ts';

/** Lets everything happen that needs no time to pass: every promise that can settle by itself has settled afterwards. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Lets `ms` pass in steps, with everything settled after each, so that timers set meanwhile run at their time too. */
export async function pass(clock: ManualClock, ms: number, stepMs = 250): Promise<void> {
  await settle();
  for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
    clock.advance(Math.min(stepMs, leftMs));
    await settle();
  }
}

/** A promise that a test settles by hand. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: Error) => void;
}

/** Makes a {@link Deferred}. */
export function deferred<Value = void>(): Deferred<Value> {
  return Promise.withResolvers<Value>();
}
