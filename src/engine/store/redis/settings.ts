import type { RedisClientType } from '@keyv/redis';
import { DailiesError } from '../../../errors.ts';
import type { Logger } from '../../../logger.ts';
import { parseInfo, type RedisInfo, unlessForbidden } from './info.ts';

/** A setting without which Redis may lose what it acknowledged. */
interface Needed {
  readonly setting: string;
  readonly needed: string;
  /** Consequence of any other value, for the operator. */
  readonly lost: string;
}

/**
 * Settings with which Redis keeps every write that it acknowledged.
 * @see {@link https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/}
 */
const NEEDED: readonly Needed[] = [
  {
    setting: 'appendonly',
    needed: 'yes',
    lost: 'a crash of Redis takes every claim and task since its last snapshot: what was paid for, too',
  },
  {
    setting: 'appendfsync',
    needed: 'always',
    // kill -9 lost 490 acknowledged claims in one of twelve runs of `test/contract/store.test.ts`: with `everysec`,
    // Redis answers before it writes whenever the disk is busy.
    lost: 'a crash of Redis or of its machine takes the claims of about the last second',
  },
  {
    setting: 'maxmemory-policy',
    needed: 'noeviction',
    lost: 'when memory is short, Redis throws away who holds what: leases, planned work, sessions',
  },
];

/** First version whose ZRANGE reads by score from either end. */
const OLDEST_VERSION = [6, 2] as const;

/** Commands that {@link readRedisSettings} uses. */
export type AskedRedis = Pick<RedisClientType, 'info' | 'configGet'>;

/** A {@link Needed} setting with another value. */
interface UnsafeSetting extends Needed {
  readonly found: string;
  readonly fix: string;
}

/** Suitability of a Redis as the store. */
export interface RedisSettings {
  readonly info: RedisInfo;
  /** Reason why it cannot be the store at all; `null` where it can. */
  readonly refusal: string | null;
  readonly unsafe: readonly UnsafeSetting[];
  /** Settings that this user may not read. */
  readonly unknown: readonly Needed[];
}

/** Reads the settings of a Redis. */
export async function readRedisSettings(client: AskedRedis): Promise<RedisSettings> {
  const info = parseInfo((await unlessForbidden(client.info())) ?? '');
  const unsafe: UnsafeSetting[] = [];
  const unknown: Needed[] = [];
  const kind = wrongKind(info);
  if (kind !== null) return { info, refusal: kind, unsafe, unknown };
  for (const one of NEEDED) {
    const { setting, needed } = one;
    const found = (await unlessForbidden(client.configGet(setting)))?.[setting] ?? fromInfo(info, setting);
    if (setting === 'maxmemory-policy' && found?.startsWith('allkeys-') === true)
      return { info, refusal: evicting(found), unsafe, unknown };
    const fix = `redis-cli CONFIG SET ${setting} ${needed}, and the same in redis.conf`;
    if (found === undefined) unknown.push(one);
    else if (found !== needed) unsafe.push({ ...one, found, fix });
  }
  return { info, refusal: null, unsafe, unknown };
}

/**
 * Logs an error for each setting with which this Redis may lose acknowledged writes.
 * @throws `store_unavailable`, not retryable, when it cannot be used as the store: it evicts claims when memory is
 * short, is a replica, a cluster or a Sentinel, or too old.
 */
export async function checkRedis(client: AskedRedis, logger: Logger): Promise<void> {
  const { refusal, unsafe, unknown } = await readRedisSettings(client);
  for (const { setting, found, needed, lost, fix } of unsafe) {
    const event = 'redis_setting_unsafe';
    logger.error({ event, setting, found, needed, lost, fix }, 'a Redis setting risks losing claims and tasks');
  }
  if (refusal !== null) throw refused(refusal);
  // Hosted Redis services forbid some commands.
  if (unknown.length > 0) {
    logger.warn({ event: 'redis_settings_unknown', unknown }, 'cannot check whether Redis keeps claims and tasks');
  }
}

function evicting(policy: string): string {
  return (
    `its maxmemory-policy is ${policy}, with which it throws away claims when memory is short, and a clip is bought ` +
    'twice; set it to noeviction (redis-cli CONFIG SET maxmemory-policy noeviction, and the same in redis.conf)'
  );
}

/**
 * Returns why a Redis of this kind cannot be the store; `null` where it can. Fields missing from INFO count as fine.
 */
function wrongKind(info: RedisInfo): string | null {
  const mode = info.get('redis_mode') ?? 'standalone';
  if (mode !== 'standalone') {
    return `it runs as a ${mode}, over which a change cannot be made as one; STORE_URL takes a single primary`;
  }
  if (info.get('role') === 'slave') return 'it is a replica and takes no writes; STORE_URL has to lead to the primary';
  const version = info.get('redis_version') ?? OLDEST_VERSION.join('.');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST_VERSION[0] || (major === OLDEST_VERSION[0] && minor >= OLDEST_VERSION[1])) return null;
  return `its version is ${version}; Dailies needs ${OLDEST_VERSION.join('.')} or later`;
}

function fromInfo(info: RedisInfo, setting: string): string | undefined {
  if (setting === 'maxmemory-policy') return info.get('maxmemory_policy');
  const aof = info.get('aof_enabled');
  return setting !== 'appendonly' || aof === undefined ? undefined : aof === '1' ? 'yes' : 'no';
}

function refused(why: string): DailiesError {
  return new DailiesError(`using the Redis of STORE_URL: ${why}`, { code: 'store_unavailable', retryable: false });
}
