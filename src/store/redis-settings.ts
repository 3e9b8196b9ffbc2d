import type { RedisClientType } from '@keyv/redis';
import type { Logger } from '../logger.ts';

/**
 * Says so in the log when this Redis may lose what it acknowledged: without its append-only file a crash takes what
 * was written since the last snapshot, and any eviction policy but `noeviction` throws claims away when memory is short.
 * @see {@link https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/}
 */
export async function warnOfLosses(client: RedisClientType, logger: Logger): Promise<void> {
  let persistence: string;
  let memory: string;
  try {
    persistence = await client.info('persistence');
    memory = await client.info('memory');
  } catch (thrown) {
    logger.warn({ reason: String(thrown) }, 'Redis does not tell how it is set up: it needs appendonly and noeviction');
    return;
  }
  if (field(persistence, 'aof_enabled') === '0') {
    logger.warn({ appendonly: 'no' }, 'Redis keeps no append-only file: a crash of Redis loses claims and tasks');
  }
  const policy = field(memory, 'maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    logger.warn({ 'maxmemory-policy': policy }, 'Redis may evict claims and tasks: set its policy to noeviction');
  }
}

function field(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S*)`, 'm').exec(info)?.[1];
}
