import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { createLeases, type Leases } from './leases.ts';

/** The leases of a store that one process has for itself: nobody else could take them, so they do not run out. */
export function createLocalLeases(clock: Clock): Leases {
  const tokens = new Map<string, string>();
  const leases = createLeases({
    clock,
    owner: randomUUID(),
    backend: {
      async take(name, token) {
        if (tokens.has(name)) return false;
        tokens.set(name, token);
        return true;
      },
      renew: async (name, token) => tokens.get(name) === token,
      async drop(name, token) {
        if (tokens.get(name) === token) tokens.delete(name);
      },
      read: async (name) => tokens.get(name) ?? null,
    },
  });
  return { ...leases, take: (name, _ttlMs, options) => leases.take(name, Number.POSITIVE_INFINITY, options) };
}
