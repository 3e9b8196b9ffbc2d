import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { createLeases, type Leases } from './leases.ts';

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
