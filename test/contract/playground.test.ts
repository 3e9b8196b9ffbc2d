import { randomUUID } from 'node:crypto';
import { PlaygroundHouse } from '#test/fakes/playground-house.ts';
import { describePlatform, type PlatformHarness } from './platform.contract.ts';

describePlatform('the playground', async () => {
  const house = await PlaygroundHouse.start();
  return {
    get platform() {
      return house.platform;
    },
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
    read: async (channel) => {
      const messages = await house.messages(channel);
      return messages.map((message) => ({ ...message, pings: message.mentions }));
    },
    download: async ({ channel, message }, name) => {
      const shown = (await house.messages(channel)).find(({ id }) => id === message);
      const url = shown?.attachments.find((file) => file.name === name)?.url ?? '';
      const response = await fetch(house.url + url);
      return Buffer.from(await response.arrayBuffer());
    },
    deleteMessage: ({ message }) => house.deleteMessage(message),
    restart: () => house.restart(),
    remove: () => house.remove(),
  } satisfies PlatformHarness;
});
