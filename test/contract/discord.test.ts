import { expect } from 'vitest';
import type { TaskId } from '#src/tasks/task.ts';
import { FLAGS } from '#test/fakes/discord/index.ts';
import { buttonsOf, DiscordHouse, plainOf, selectsOf } from '#test/fakes/discord-house.ts';
import { storedIn } from '#test/fakes/stored.ts';
import { describePlatform, type PlatformHarness } from './platform.contract.ts';

describePlatform('Discord', async () => {
  const app = await DiscordHouse.start();
  const { discord, bot } = app;
  const { general, clips } = discord.channels;
  // Each task is the response to a command; the suite itself shows it.
  bot.reply = { kind: 'task', task: 'task' as TaskId };
  bot.onShow = () => Promise.resolve({ channel: general, message: '' });
  return {
    get platform() {
      return app.platform;
    },
    memberWhoLeft: () => discord.users.dora,
    newGroup(members) {
      const role = `90${members.length}`;
      for (const user of members) discord.setRoles(user, [role]);
      return role;
    },
    otherChannel: clips,
    async newOrigin() {
      const interaction = discord.people.slash('video create', { prompt: 'a red fox' });
      const { caller } = await app.heard(interaction);
      await discord.answered(interaction);
      return caller;
    },
    async callerOf(who) {
      const permissions = who === 'administrator' ? (['MANAGE_GUILD'] as const) : [];
      const interaction = discord.people.slash('video create', { prompt: 'a red fox' }, { permissions });
      const { caller } = await app.heard(interaction);
      await discord.answered(interaction);
      return caller;
    },
    read: (channel) => {
      const seen = discord
        .messages(channel)
        .filter(({ flags, visibleTo }) => (flags & FLAGS.loading) === 0 && visibleTo === null);
      return Promise.resolve(
        seen.map((message) => ({
          id: message.id,
          text: plainOf(message),
          replyTo: message.replyTo,
          pings: discord.pings.filter(({ messageId }) => messageId === message.id).map(({ id }) => id),
          attachments: message.attachments.map(({ filename, description, bytes }) => ({
            name: filename,
            description: description ?? '',
            bytes,
          })),
          buttons: buttonsOf(message),
          selects: selectsOf(message),
        })),
      );
    },
    everything: () => {
      const messages = Object.values(discord.channels).flatMap((channel) => discord.messages(channel));
      return Promise.resolve(JSON.stringify(messages));
    },
    stored: () => storedIn(app.store),
    async download({ message }, name) {
      const { attachments } = discord.message(message);
      const response = await fetch(attachments.find(({ filename }) => filename === name)?.url ?? '');
      return Buffer.from(await response.arrayBuffer());
    },
    deleteMessage: ({ message }) => Promise.resolve(discord.deleteMessage(message)),
    restart: () => app.restart(),
    async remove() {
      await app.remove();
      expect(discord.violations).toEqual([]);
    },
  } satisfies PlatformHarness;
});
