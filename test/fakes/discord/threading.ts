import { INTENTS } from './posting.ts';
import type { Channel, Message } from './records.ts';
import { Refusal } from './refusal.ts';
import { channelJson } from './wire.ts';
import type { World } from './world.ts';

/**
 * Starts the thread of a message and dispatches the event. "The id of the created thread will be the same as the id of the
 * source message, and as such a message can only have a single thread created from it": discord docs, resources/channel,
 * "Start Thread from Message".
 * @throws Refusal 50024 in a thread or a direct message, which have no threads; 160004 where there is one already
 */
export function startThread(world: World, { id, channelId }: Message, name: string): Channel {
  const { kind, guildId } = world.channel(channelId);
  if (kind !== 'text') throw new Refusal(400, 50024);
  if (world.channels.has(id)) throw new Refusal(400, 160004);
  const thread = world.addChannel({ id, name, kind: 'thread', guildId, parentId: channelId });
  world.dispatch('THREAD_CREATE', { ...channelJson(world, thread), newly_created: true }, INTENTS.guilds);
  return thread;
}
