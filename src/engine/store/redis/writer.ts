import { createHash, randomUUID } from 'node:crypto';
import type { RedisClientType } from '@keyv/redis';
import type { CancelTimer } from '../../../clock.ts';
import type { PreparedChange } from '../prepared-change.ts';
import { BUDGETS, type Namespace, type StoreDeps, SUM_PARTS } from '../store.ts';
import type { RedisConnection } from './connection.ts';
import { stateFormat } from './format.ts';
import { ReplicaWatch } from './replicas.ts';

/** Key written to check whether Redis accepts writes, and its TTL. */
const PROBE_KEY = 'dailies:probe';
const PROBE_TTL_MS = 60_000;

/**
 * Checks all preconditions, then writes: Redis runs a script atomically, but does not roll back what it has written.
 * KEYS: those of the records, of the bounds, of the indexes, of the sums to add to, then of each limit its sum and its
 * budgets. ARGV: the number of records, bounds, index entries and sums; for each record its precondition and its
 * envelope; for each bound the lowest score that counts and the number of entries it stays below; for each index entry
 * its member and its score; for each sum the amounts to add to its four parts; for each limit its currency, the amount
 * that the change itself uses and the number of its budgets. An empty string deletes; as an envelope, `=` keeps the record.
 *
 * Lua's numbers are doubles, so amounts are added by HINCRBY, which is exact in 64 bits, and only compared in Lua: a
 * limit is at most 10^15, everything up to 2^53 (9 * 10^15) is exact there, and what is above stays above when rounded.
 */
const SCRIPT = `
local PARTS = {'held', 'settled', 'doubted', 'extra'}
local records, bounds, entries, sums = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

-- Returns the value of a record, nil for a missing and false for a damaged one.
local function read(key)
  local found = redis.call('GET', key)
  if not found then return nil end
  local isRead, envelope = pcall(cjson.decode, found)
  return isRead and type(envelope) == 'table' and type(envelope.value) == 'table' and envelope.value
end

local function isWithinBudget(used, budgets, currency)
  for _, key in ipairs(budgets) do
    local budget = read(key)
    if budget ~= nil then
      -- A budget that cannot be read must not let anything pass.
      if not budget or type(budget.hard) ~= 'table' then return false end
      if next(budget.hard) ~= nil then
        local amount = budget.hard[currency]
        return type(amount) == 'string' and #amount <= 16 and amount:match('^%d+$') and used <= tonumber(amount)
      end
    end
  end
  return true
end

for i = 1, records do
  local expected = ARGV[2 * i + 3]
  if expected == 'absent' then
    if redis.call('EXISTS', KEYS[i]) == 1 then return 0 end
  elseif expected ~= 'any' then
    -- A damaged record has no revision.
    local value = read(KEYS[i])
    if not value or value.revision ~= tonumber(expected) then return 0 end
  end
end
for i = records + 1, records + bounds do
  if redis.call('ZCOUNT', KEYS[i], ARGV[2 * i + 3], '+inf') >= tonumber(ARGV[2 * i + 4]) then return 0 end
end
local firstSum = records + bounds + entries
local firstAmount = 4 + 2 * firstSum
local key, arg = firstSum + sums + 1, firstAmount + 4 * sums + 1
while key <= #KEYS do
  local used, budgets, count = tonumber(ARGV[arg + 1]), {}, tonumber(ARGV[arg + 2])
  local stored = redis.call('HMGET', KEYS[key], unpack(PARTS))
  for at = 1, 4 do used = used + (tonumber(stored[at] or '0') * (PARTS[at] == 'extra' and -1 or 1)) end
  for at = 1, count do budgets[at] = KEYS[key + at] end
  if not isWithinBudget(used, budgets, ARGV[arg]) then return 0 end
  key, arg = key + 1 + count, arg + 3
end

for i = 1, firstSum do
  local first, second = ARGV[2 * i + 3], ARGV[2 * i + 4]
  if i <= records then
    if second == '' then redis.call('DEL', KEYS[i])
    elseif second ~= '=' then redis.call('SET', KEYS[i], second) end
  elseif i > records + bounds then
    if second == '' then redis.call('ZREM', KEYS[i], first) else redis.call('ZADD', KEYS[i], second, first) end
  end
end
for i = 1, sums do
  for at = 1, 4 do
    local amount = ARGV[firstAmount + 4 * (i - 1) + at]
    if amount ~= '0' then redis.call('HINCRBY', KEYS[firstSum + i], PARTS[at], amount) end
  end
end
return 1
`;
const SCRIPT_SHA = createHash('sha1').update(SCRIPT).digest('hex');

/** Key prefix of indexes, which are sorted sets. */
export const INDEXES = 'dailies:index:';
/** Key prefix of sums: hashes of `held`, `settled`, `doubted` and `extra`. */
export const SUMS = 'dailies:sum:';

/** Returns the key of a record in Redis. */
type KeyOf = (namespace: Namespace, key: string) => string;

/** Interval, in milliseconds, at which every process checks for a newly attached replica. */
export const LOOK_EVERY_MS = 5_000;

/** Writes changes durably, on a connection of its own: waiting for a replica blocks everything else on it. */
export class RedisWriter {
  readonly #link: RedisConnection;
  readonly #replicas: ReplicaWatch;
  readonly #deps: StoreDeps;
  #probing: Promise<void> | null = null;
  #isClosed = false;
  #cancelLook: CancelTimer = () => undefined;

  /** @param link a connection used by this writer only. */
  constructor(link: RedisConnection, deps: StoreDeps) {
    this.#link = link;
    this.#deps = deps;
    this.#replicas = new ReplicaWatch(link.client, deps.logger);
  }

  /** Resolves once it can write and has checked for replicas; replicas attached later are detected. */
  async connected(): Promise<void> {
    await this.#link.connected;
    await this.#replicas.look();
    this.#scheduleLook();
  }

  /**
   * Writes all of a change, or nothing. @returns whether every precondition held.
   * @throws `store_unavailable`; whether the change happened is then unknown.
   */
  commit(change: PreparedChange, keyOf: KeyOf): Promise<boolean> {
    const script = scriptOf(change, keyOf);
    return this.#link.call('committing a change', async () => {
      // Without a replica the change would be written and then rejected as unconfirmed.
      if (this.#replicas.areLost) await this.#probe();
      const connection = await this.#replicas.known();
      const isDone = await commitToRedis(this.#link.client, script);
      if (isDone) await this.#confirm(connection);
      return isDone;
    });
  }

  /** Resolves once Redis has accepted a write. @throws `store_unavailable`, with a message that says what to do. */
  async probe(): Promise<void> {
    await this.#link.call('asking Redis to take a write', async () => {
      await this.#replicas.look();
      await this.#probe();
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelLook();
    return this.#link.close();
  }

  async #look(): Promise<void> {
    await this.#replicas.look();
    // A Redis that lost all data while it was used has records of this format from then on.
    await stateFormat(this.#link.client);
  }

  #scheduleLook(): void {
    const { clock, logger } = this.#deps;
    if (this.#isClosed) return;
    this.#cancelLook = clock.after(LOOK_EVERY_MS, () => {
      this.#link
        .call('looking for replicas of Redis', () => this.#look())
        .catch((thrown: unknown) =>
          logger.debug({ event: 'redis_replica_check_failed', err: thrown }, 'failed to check for Redis replicas'),
        )
        .finally(() => this.#scheduleLook());
    });
  }

  /** Writes a probe; concurrent callers share one write (single flight). */
  #probe(): Promise<void> {
    this.#probing ??= this.#write().finally(() => {
      this.#probing = null;
    });
    return this.#probing;
  }

  async #write(): Promise<void> {
    const connection = await this.#replicas.known();
    const expiration = { type: 'PX', value: PROBE_TTL_MS } as const;
    await this.#link.client.set(PROBE_KEY, randomUUID(), { expiration });
    await this.#confirm(connection);
  }

  async #confirm(connection: number): Promise<void> {
    await this.#replicas.confirm(connection);
    this.#link.accepted();
  }
}

/** Keys and arguments of {@link SCRIPT}. */
interface ScriptInput {
  readonly keys: string[];
  readonly arguments: string[];
}

/** Writes all of a change, or nothing. @returns whether every precondition held. @throws what the client throws. */
async function commitToRedis(client: RedisClientType, script: ScriptInput): Promise<boolean> {
  try {
    return (await client.evalSha(SCRIPT_SHA, script)) === 1;
  } catch (thrown) {
    // A restarted Redis no longer has the script cached, and has run nothing.
    if (!(thrown instanceof Error) || !thrown.message.startsWith('NOSCRIPT')) throw thrown;
    return (await client.eval(SCRIPT, script)) === 1;
  }
}

function scriptOf({ records, bounds, index, sums, within }: PreparedChange, keyOf: KeyOf): ScriptInput {
  return {
    keys: [
      ...records.map(({ namespace, key }) => keyOf(namespace, key)),
      ...[...bounds, ...index].map((one) => INDEXES + one.index),
      ...[...sums.keys()].map((sum) => SUMS + sum),
      ...within.flatMap(({ sum, budgets }) => [SUMS + sum, ...budgets.map((key) => keyOf(BUDGETS, key))]),
    ],
    arguments: [
      ...[records.length, bounds.length, index.length, sums.size].map(String),
      ...records.flatMap(({ expected, envelope = '=' }) => [String(expected), envelope ?? '']),
      ...bounds.flatMap(({ min, below }) => [min === undefined ? '-inf' : String(min), String(below)]),
      ...index.flatMap(({ member, score }) => [member, score === null ? '' : String(score)]),
      ...[...sums.values()].flatMap((parts) => SUM_PARTS.map((part) => String(parts[part]))),
      ...within.flatMap(({ currency, adds, budgets }) => [currency, String(adds), String(budgets.length)]),
    ],
  };
}
