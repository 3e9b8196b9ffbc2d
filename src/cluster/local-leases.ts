import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { createLeases, type Leases } from './leases.ts';

/**
 * The leases of a store that one process has for itself. Nobody else could take them: those that are renewed do not run
 * out, however long the process is stopped.
 */
export function createLocalLeases(clock: Clock): Leases {
  const held = new Map<string, { readonly token: string; readonly untilMs: number }>();
  const tokenOf = (name: string): string | null => {
    const there = held.get(name);
    return there === undefined || clock.monotonic() >= there.untilMs ? null : there.token;
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
