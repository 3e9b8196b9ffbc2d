import type { IRedisClient, Queue } from 'bullmq';

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

/**
 * Pauses a queue as BullMQ's `rateLimit` does, unless it is paused for longer: another replica may have asked for that.
 * A counter of started jobs is not a pause. KEYS: the queue's counter. ARGV: the count that means a pause; its length
 * in milliseconds.
 */
const PAUSE = `
local isHeld = tonumber(redis.call('GET', KEYS[1]) or 0) >= tonumber(ARGV[1])
if not isHeld or redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
`;

/** State of a job: absent, delayed until its due time, due and waiting for a slot, or running. */
export type JobPlace =
  | { readonly kind: 'absent' | 'due' | 'running' }
  | { readonly kind: 'delayed'; readonly atMs: number };

export function defineScripts(client: IRedisClient): void {
  client.defineCommand('dailiesLook', { lua: LOOK, numberOfKeys: 2, readOnly: true });
  client.defineCommand('dailiesPause', { lua: PAUSE, numberOfKeys: 1 });
}

/** Returns the states of jobs of a queue, in the order of `jobIds`, in one call. */
export async function look(
  client: IRedisClient,
  { keys }: Pick<Queue, 'keys'>,
  jobIds: readonly string[],
): Promise<readonly JobPlace[]> {
  const args = [keys[''] ?? '', keys['delayed'] ?? '', ...jobIds];
  const found: readonly number[] = await client.runCommand('dailiesLook', args);
  return found.map(placeOf);
}

/** Pauses a queue for `forMs` on every replica, or for as long as it is paused already, if that is longer. */
export async function pause(client: IRedisClient, { keys }: Pick<Queue, 'keys'>, forMs: number): Promise<void> {
  await client.runCommand('dailiesPause', [keys['limiter'] ?? '', Number.MAX_SAFE_INTEGER, Math.ceil(forMs)]);
}

function placeOf(found: number): JobPlace {
  if (found === 0) return { kind: 'absent' };
  if (found === -1) return { kind: 'due' };
  return found === -2 ? { kind: 'running' } : { kind: 'delayed', atMs: found };
}
