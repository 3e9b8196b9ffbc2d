import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { createLeases, type Leases } from './leases.ts';

/** The leases of a store that one process has for itself: nobody else could take them. */
export function createLocalLeases(clock: Clock): Leases {
  const tokens = new Map<string, string>();
  return createLeases({
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
}
