import type { REST } from 'discord.js';
import { systemClock } from '#src/clock.ts';

/** Object of discord.js with the end of a rate limit, by the wall clock. */
type Limited<Name extends string> = Record<Name, number>;

/**
 * Makes a client of discord.js keep the ends of rate limits by the monotonic clock. It keeps them by the wall clock
 * itself: after that was set back, every call would wait until it is as late again.
 */
export function keepLimitsMonotonic(rest: REST): void {
  keepMonotonic(rest, 'globalReset');
  const set = rest.handlers.set.bind(rest.handlers);
  rest.handlers.set = (id, handler) => {
    if (hasReset(handler)) keepMonotonic(handler, 'reset');
    return set(id, handler);
  };
}

/** Handlers of interaction responses have no end: they count no limits. */
function hasReset(handler: object): handler is Limited<'reset'> {
  return 'reset' in handler;
}

/** Stores a time by the wall clock as one by the monotonic clock, and converts it back at each reading. */
function keepMonotonic<Name extends string>(owner: Limited<Name>, name: Name): void {
  const aheadMs = (): number => systemClock.now() - systemClock.monotonic();
  let atMs = owner[name] - aheadMs();
  Object.defineProperty(owner, name, {
    get: () => atMs + aheadMs(),
    set: (timeOfDayMs: number) => {
      atMs = timeOfDayMs - aheadMs();
    },
  });
}
