import type { RedisClientType } from '@keyv/redis';
import { assertFormat, FORMAT } from '../format.ts';
import type { StoreContents } from '../store.ts';
import type { RedisConnection } from './connection.ts';

const KEY = 'dailies:format';

/** States the format where none is stated. */
export async function stateFormat(client: Pick<RedisClientType, 'set'>): Promise<void> {
  await client.set(KEY, String(FORMAT), { condition: 'NX' });
}

/**
 * States the format in an empty Redis, and asserts it in any other one.
 * @throws `store_unavailable`; not retryable where the format is another one.
 */
export async function claimFormat(link: RedisConnection, contents: StoreContents): Promise<void> {
  const read = () => link.call('reading the format of the store', () => link.client.get(KEY));
  if ((await read()) === null && (await contents.namespaces()).length === 0)
    await link.call('stating the format of the store', () => stateFormat(link.client));
  // Read again: another process may have stated it meanwhile.
  const found = await read();
  assertFormat(found === null ? null : Number(found));
}
