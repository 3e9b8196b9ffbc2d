import { createHash } from 'node:crypto';
import type { RedisClientType } from '@keyv/redis';
import type { IndexWrite } from './store.ts';

/**
 * Compares first and writes then: Redis runs a script without anything in between, but takes nothing back that a
 * script has written. KEYS are those of the records, then those of the indexes. ARGV: the number of records; for each
 * its expectation and its envelope; for each index entry its member and its score. An empty text deletes.
 */
const SCRIPT = `
local count = tonumber(ARGV[1])
for i = 1, count do
  local expected = ARGV[2 * i]
  if expected ~= 'any' then
    local found = redis.call('GET', KEYS[i])
    if expected == 'absent' then
      if found then return 0 end
    else
      local value = found and cjson.decode(found).value
      if type(value) ~= 'table' or value.revision ~= tonumber(expected) then return 0 end
    end
  end
end
for i = 1, #KEYS do
  local first, second = ARGV[2 * i], ARGV[2 * i + 1]
  if i <= count then
    if second == '' then redis.call('DEL', KEYS[i]) else redis.call('SET', KEYS[i], second) end
  else
    if second == '' then redis.call('ZREM', KEYS[i], first) else redis.call('ZADD', KEYS[i], second, first) end
  end
end
return 1
`;
const SCRIPT_SHA = createHash('sha1').update(SCRIPT).digest('hex');

/** One record to write. */
export interface RedisRecordWrite {
  /** The key as Redis has it. */
  readonly key: string;
  readonly expected: 'absent' | 'any' | number;
  /** Keyv's text of the value; `null` deletes. */
  readonly envelope: string | null;
}

/** Everything of one change. `index` of an entry is the key as Redis has it. */
export interface RedisChange {
  readonly records: readonly RedisRecordWrite[];
  readonly entries: readonly IndexWrite[];
}

/** Writes all of a change, or nothing. @returns whether every expectation held. @throws what the client throws. */
export async function commitToRedis(client: RedisClientType, { records, entries }: RedisChange): Promise<boolean> {
  const script = {
    keys: [...records.map(({ key }) => key), ...entries.map(({ index }) => index)],
    arguments: [
      String(records.length),
      ...records.flatMap(({ expected, envelope }) => [String(expected), envelope ?? '']),
      ...entries.flatMap(({ member, score }) => [member, score === null ? '' : String(score)]),
    ],
  };
  try {
    return (await client.evalSha(SCRIPT_SHA, script)) === 1;
  } catch (thrown) {
    // A Redis that was restarted has forgotten the script, and has run nothing.
    if (!(thrown instanceof Error) || !thrown.message.startsWith('NOSCRIPT')) throw thrown;
    return (await client.eval(SCRIPT, script)) === 1;
  }
}
