import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

/**
 * Reads where jobs are, and writes nothing. KEYS: what the job keys of the queue begin with; its set of delayed jobs.
 * ARGV: job ids. Answers a number for each, as {@link placeOf} reads it. In a score, BullMQ keeps the due time in ms
 * above 12 bits that order jobs of the same millisecond.
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

/** Where a job is: nowhere, to be stepped at a time, to be stepped as soon as there is room, or being stepped. */
export type JobPlace =
  | { readonly kind: 'absent' | 'due' | 'running' }
  | { readonly kind: 'delayed'; readonly atMs: number };

/** A connection that knows {@link LOOK}. */
export interface LookingRedis extends Redis {
  dailiesLook(...keysAndIds: readonly string[]): Promise<readonly number[]>;
}

/** Teaches a connection {@link LOOK}. */
export function withLook(connection: Redis): LookingRedis {
  connection.defineCommand('dailiesLook', { lua: LOOK, numberOfKeys: 2, readOnly: true });
  return connection as LookingRedis;
}

/** Where jobs of a queue are, in the order of `jobIds`; one call. */
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
