import { randomUUID } from 'node:crypto';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';
import { storedIn } from '#test/fakes/stored.ts';
import { describePlatform, type PlatformHarness } from './platform.contract.ts';

describePlatform('the playground', async () => {
  const app = await PlaygroundHouse.start();
  return {
    get platform() {
      return app.platform;
    },
    memberWhoLeft: () => null,
    newGroup: () => null,
    otherChannel: 'clips',
    newOrigin: () =>
      Promise.resolve({
        platform: 'playground',
        team: 'playground',
        channel: 'general',
        interaction: randomUUID(),
        address: {},
        user: { id: 'ada', name: 'ada' },
      }),
    async callerOf(who) {
      const user = who === 'administrator' ? 'operator' : 'ada';
      await app.post('interactions', { id: randomUUID(), user, channel: 'general', text: '/video list' });
      const heard = app.bot.heard.at(-1);
      if (heard === undefined) throw new TypeError('nothing was heard');
      return heard.caller;
    },
    read: async (channel) => {
      const messages = await app.messages(channel);
      return messages.map((message) => ({ ...message, pings: message.mentions, selects: message.card.selects ?? [] }));
    },
    everything: async () =>
      JSON.stringify(await Promise.all(['general', 'clips'].map((channel) => app.messages(channel)))),
    stored: () => storedIn(app.store),
    download: async ({ channel, message }, name) => {
      const shown = (await app.messages(channel)).find(({ id }) => id === message);
      const url = shown?.attachments.find((file) => file.name === name)?.url ?? '';
      const response = await fetch(app.url + url);
      return Buffer.from(await response.arrayBuffer());
    },
    deleteMessage: ({ message }) => app.deleteMessage(message),
    restart: () => app.restart(),
    remove: () => app.remove(),
  } satisfies PlatformHarness;
});
