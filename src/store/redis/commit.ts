import { createHash } from 'node:crypto';
import type { RedisClientType } from '@keyv/redis';
import type { IndexBound, IndexWrite } from '../store.ts';

/**
 * Checks all preconditions, then writes: Redis runs a script atomically, but does not roll back what it has written.
 * KEYS: those of the records, then those of the bounds, then those of the indexes. ARGV: the number of records and of
 * bounds; for each record its precondition and its envelope; for each bound the lowest score that counts and the number
 * of entries it stays below; for each index entry its member and its score. An empty string deletes.
 */
const SCRIPT = `
local records, bounds = tonumber(ARGV[1]), tonumber(ARGV[2])
for i = 1, records do
  local expected = ARGV[2 * i + 1]
  if expected ~= 'any' then
    local found = redis.call('GET', KEYS[i])
    if expected == 'absent' then
      if found then return 0 end
    else
      -- A damaged record has no revision.
      local isRead, envelope = pcall(cjson.decode, found or '')
      local value = isRead and type(envelope) == 'table' and envelope.value
      if type(value) ~= 'table' or value.revision ~= tonumber(expected) then return 0 end
    end
  end
end
for i = records + 1, records + bounds do
  if redis.call('ZCOUNT', KEYS[i], ARGV[2 * i + 1], '+inf') >= tonumber(ARGV[2 * i + 2]) then return 0 end
end
for i = 1, #KEYS do
  local first, second = ARGV[2 * i + 1], ARGV[2 * i + 2]
  if i <= records then
    if second == '' then redis.call('DEL', KEYS[i]) else redis.call('SET', KEYS[i], second) end
  elseif i > records + bounds then
    if second == '' then redis.call('ZREM', KEYS[i], first) else redis.call('ZADD', KEYS[i], second, first) end
  end
end
return 1
`;
const SCRIPT_SHA = createHash('sha1').update(SCRIPT).digest('hex');

/** One record to write. */
export interface RedisRecordWrite {
  /** The full key in Redis. */
  readonly key: string;
  readonly expected: 'absent' | 'any' | number;
  /** The value as serialized by Keyv; `null` deletes. */
  readonly envelope: string | null;
}

/** One change. `index` of a bound and of an entry is the full key in Redis. */
export interface RedisChange {
  readonly records: readonly RedisRecordWrite[];
  readonly bounds: readonly IndexBound[];
  readonly entries: readonly IndexWrite[];
}

/** Writes all of a change, or nothing. @returns whether every precondition held. @throws what the client throws. */
export async function commitToRedis(client: RedisClientType, change: RedisChange): Promise<boolean> {
  const { records, bounds, entries } = change;
  const script = {
    keys: [...records.map(({ key }) => key), ...[...bounds, ...entries].map(({ index }) => index)],
    arguments: [
      String(records.length),
      String(bounds.length),
      ...records.flatMap(({ expected, envelope }) => [String(expected), envelope ?? '']),
      ...bounds.flatMap(({ min, below }) => [min === undefined ? '-inf' : String(min), String(below)]),
      ...entries.flatMap(({ member, score }) => [member, score === null ? '' : String(score)]),
    ],
  };
  try {
    return (await client.evalSha(SCRIPT_SHA, script)) === 1;
  } catch (thrown) {
    // A restarted Redis no longer has the script cached, and has run nothing.
    if (!(thrown instanceof Error) || !thrown.message.startsWith('NOSCRIPT')) throw thrown;
    return (await client.eval(SCRIPT, script)) === 1;
  }
}
