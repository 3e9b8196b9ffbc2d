import type { RedisClientType } from '@keyv/redis';
import type { Logger } from '../logger.ts';

/**
 * How Redis has to be set up to keep what it acknowledged. Without its append-only file a crash takes everything since
 * the last snapshot. With `appendfsync everysec`, its default, Redis answers before it writes whenever the disk is
 * busy: kill -9 lost 490 acknowledged claims in one of twelve runs of `test/contract/store.test.ts`. And any eviction
 * policy but `noeviction` throws claims away when memory is short.
 * @see {@link https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/}
 */
const NEEDED = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' } as const;

/** Says so in the log when this Redis may lose what it acknowledged, and which settings make it so. */
export async function warnOfLosses(client: RedisClientType, logger: Logger): Promise<void> {
  try {
    for (const [setting, needed] of Object.entries(NEEDED)) {
      const found = (await client.configGet(setting))[setting];
      if (found === needed) continue;
      logger.warn({ setting, found, needed }, 'Redis is set up so that it may lose claims and tasks');
    }
  } catch (thrown) {
    // Where Redis is rented, nobody may ask.
    logger.warn({ needed: NEEDED, reason: String(thrown) }, 'Redis does not tell whether it keeps claims and tasks');
  }
}
