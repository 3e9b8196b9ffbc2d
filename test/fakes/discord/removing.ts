import { INTENTS, messageIntent } from './posting.ts';
import type { Channel, Message } from './records.ts';
import { channelJson } from './wire.ts';
import type { World } from './world.ts';

/** Deletes a message and dispatches the event. @see discord docs: events/gateway-events, "Message Delete" */
export function remove(world: World, message: Message): void {
  message.isDeleted = true;
  const channel = world.channels.get(message.channelId);
  if (channel === undefined || !world.isSeen(channel) || message.visibleTo !== null) return;
  const where = channel.guildId === null ? {} : { guild_id: channel.guildId };
  world.dispatch('MESSAGE_DELETE', { id: message.id, channel_id: channel.id, ...where }, messageIntent(channel));
}

/**
 * Deletes a channel or thread and dispatches the event. @see discord docs: events/gateway-events, "Channel Delete",
 * "Thread Delete"
 */
export function removeChannel(world: World, channel: Channel): void {
  channel.isDeleted = true;
  const event = channel.kind === 'thread' ? 'THREAD_DELETE' : 'CHANNEL_DELETE';
  if (channel.isBotHere) world.dispatch(event, channelJson(world, channel), INTENTS.guilds);
}

/** Removes the bot from its server. @see discord docs: events/gateway-events, "Guild Delete" */
export function removeBot(world: World): void {
  for (const channel of world.channels.values()) {
    if (channel.guildId === world.guildId) channel.isBotHere = false;
  }
  world.dispatch('GUILD_DELETE', { id: world.guildId }, INTENTS.guilds);
}
