import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../clock.ts';
import { createLeases, type Leases } from '../../cluster/leases.ts';
import type { RedisConnection } from './connection.ts';

export const LEASES = 'dailies:lease:';

/**
 * Renews or releases a lease if the token matches. KEYS: the lease. ARGV: the token; its new TTL in ms, 0 to release.
 */
const IF_OURS = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then return redis.call('DEL', KEYS[1]) end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`;

/** Creates leases in Redis, which expires them by its own clock. */
export function createRedisLeases(link: RedisConnection, clock: Clock): Leases {
  const { client } = link;
  const ifOurs = (name: string, token: string, ttlMs: number) =>
    client.eval(IF_OURS, { keys: [leaseKey(name)], arguments: [token, String(ttlMs)] });
  return createLeases({
    clock,
    owner: randomUUID(),
    backend: {
      take: (name, token, ttlMs) =>
        link.call(`taking lease ${name}`, async () => {
          const expiration = { type: 'PX', value: ttlMs } as const;
          return (await client.set(leaseKey(name), token, { condition: 'NX', expiration })) === 'OK';
        }),
      renew: (name, token, ttlMs) =>
        link.call(`renewing lease ${name}`, async () => (await ifOurs(name, token, ttlMs)) === 1),
      drop: (name, token) => link.call(`releasing lease ${name}`, async () => void (await ifOurs(name, token, 0))),
      read: (name) => link.call(`looking at lease ${name}`, () => client.get(leaseKey(name))),
    },
  });
}

function leaseKey(name: string): string {
  return LEASES + name;
}
