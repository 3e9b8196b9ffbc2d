import { setImmediate } from 'node:timers/promises';
import { type IShardingStrategy, SimpleShardingStrategy } from 'discord.js';

/** discord.js's manager of gateway connections, as it hands itself to a strategy. */
type Manager = ConstructorParameters<typeof SimpleShardingStrategy>[0];

/** The manager's own events; discord.js exports another enumeration under their name. */
interface ShardEvents {
  on(event: 'closed', listener: (event: { readonly code: number; readonly shardId: number }) => void): unknown;
  on(event: 'hello', listener: (event: { readonly shardId: number }) => void): unknown;
}

/** A connection that ended without a close frame. @see https://www.rfc-editor.org/rfc/rfc6455#section-7.1.5 */
const NO_CLOSE_FRAME = 1006;

/**
 * Keeps gateway sessions where discord.js 14.28 would lose them, or fall over them:
 * - One refused connection makes it give its session up, so that what happened meanwhile is never replayed. A session
 *   that ended without a close frame is kept until Discord says that it is over.
 * - A session that ends while a RESUMED is still being handled makes the handler throw, and the process die. The end
 *   waits until what arrived before it has been handled.
 */
export function keepSessions(manager: Manager): IShardingStrategy {
  const shards = manager as unknown as ShardEvents;
  const cutOff = new Set<number>();
  const { options } = manager;
  const write = options.updateSessionInfo.bind(options);
  options.updateSessionInfo = async (shardId, session) => {
    if (session === null) {
      if (cutOff.has(shardId)) return;
      await setImmediate();
    }
    await write(shardId, session);
  };
  shards.on('closed', ({ code, shardId }) => {
    if (code === NO_CLOSE_FRAME) cutOff.add(shardId);
  });
  // Connected again: from here on Discord itself says what the session is worth.
  shards.on('hello', ({ shardId }) => cutOff.delete(shardId));
  return new SimpleShardingStrategy(manager);
}
