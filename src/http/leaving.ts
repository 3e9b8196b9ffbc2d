import { type Clock, sleep } from '../clock.ts';

/** Drain phase of the HTTP server, from the decision to shut down until it rejects requests. */
export interface Draining {
  /** Returns whether this process is about to shut down; `/accepting` then responds with 503. */
  isLeaving(): boolean;
  /** Starts draining, and waits until proxies have noticed. */
  leave(): Promise<void>;
}

/** Time for proxies to notice: two health checks of a proxy that checks every half second, twice over. */
const NOTICE_MS = 2_000;

/**
 * Creates the drain phase: with several replicas, proxies stop sending requests before the process stops accepting
 * them.
 */
export function createDraining(clock: Clock): Draining {
  let isLeaving = false;
  return {
    isLeaving: () => isLeaving,
    leave() {
      isLeaving = true;
      return sleep(clock, NOTICE_MS);
    },
  };
}
