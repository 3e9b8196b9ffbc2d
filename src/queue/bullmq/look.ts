import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

/**
 * Read-only script that returns the state of jobs. KEYS: the prefix of the queue's job keys; its set of delayed jobs.
 * ARGV: job ids. Returns a number for each, decoded by {@link placeOf}. In a score, BullMQ keeps the due time in
 * milliseconds above 12 bits that order jobs of the same millisecond.
 */
const LOOK = `
local found = {}
for i, id in ipairs(ARGV) do
  local key = KEYS[1] .. id
  if redis.call('EXISTS', key) == 0 then
    found[i] = 0
  else
    local score = redis.call('ZSCORE', KEYS[2], id)
    if score then found[i] = math.floor(tonumber(score) / 4096)
    elseif redis.call('EXISTS', key .. ':lock') == 1 then found[i] = -2
    else found[i] = -1 end
  end
end
return found
`;

/** State of a job: absent, delayed until its due time, due and waiting for a slot, or running. */
export type JobPlace =
  | { readonly kind: 'absent' | 'due' | 'running' }
  | { readonly kind: 'delayed'; readonly atMs: number };

/** A connection on which {@link LOOK} is defined. */
export interface LookingRedis extends Redis {
  dailiesLook(...keysAndIds: readonly string[]): Promise<readonly number[]>;
}

/** Defines the script {@link LOOK} on a connection. */
export function withLook(connection: Redis): LookingRedis {
  connection.defineCommand('dailiesLook', { lua: LOOK, numberOfKeys: 2, readOnly: true });
  return connection as LookingRedis;
}

/** Returns the states of jobs of a queue, in the order of `jobIds`, in one call. */
export async function look(
  redis: LookingRedis,
  { keys }: Pick<Queue, 'keys'>,
  jobIds: readonly string[],
): Promise<readonly JobPlace[]> {
  const found = await redis.dailiesLook(keys[''] ?? '', keys['delayed'] ?? '', ...jobIds);
  return found.map(placeOf);
}

function placeOf(found: number): JobPlace {
  if (found === 0) return { kind: 'absent' };
  if (found === -1) return { kind: 'due' };
  return found === -2 ? { kind: 'running' } : { kind: 'delayed', atMs: found };
}
