import { type Clock, sleep } from '../clock.ts';

/** The time between the decision to stop and the first request that is refused. */
export interface Draining {
  /** Whether this process is about to stop: `/accepting` says so. */
  isLeaving(): boolean;
  /** Says so from now on, and waits until whoever stands in front has noticed. */
  leave(): Promise<void>;
}

/** Enough for a proxy that looks every half second, twice over. */
const NOTICE_MS = 2_000;

/** A process that other replicas stand beside stops being sent requests before it stops taking them. */
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
