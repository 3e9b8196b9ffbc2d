import { createHash, randomUUID } from 'node:crypto';
import type { RedisClientType } from '@keyv/redis';
import type { CancelTimer } from '../../clock.ts';
import type { IndexBound, IndexWrite, StoreDeps } from '../store.ts';
import type { RedisConnection } from './connection.ts';
import { LOOK_EVERY_MS, ReplicaWatch } from './replicas.ts';

/** Key written to check whether Redis accepts writes, and its TTL. */
const PROBE_KEY = 'dailies:probe';
const PROBE_TTL_MS = 60_000;

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
interface RedisRecordWrite {
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
  commit(change: RedisChange): Promise<boolean> {
    return this.#link.call('committing a change', async () => {
      // Without a replica the change would be written and then rejected as unconfirmed.
      if (this.#replicas.areLost) await this.#probe();
      const connection = await this.#replicas.known();
      const isDone = await commitToRedis(this.#link.client, change);
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

  #scheduleLook(): void {
    const { clock, logger } = this.#deps;
    if (this.#isClosed) return;
    this.#cancelLook = clock.after(LOOK_EVERY_MS, () => {
      this.#link
        .call('looking for replicas of Redis', () => this.#replicas.look())
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

/** Writes all of a change, or nothing. @returns whether every precondition held. @throws what the client throws. */
async function commitToRedis(client: RedisClientType, change: RedisChange): Promise<boolean> {
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
