import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DiscordHouse } from '#test/fakes/discord-house.ts';
import { spendReport } from '#test/fakes/views.ts';

it('attaches a chart with its alternative text, which turns no direction, and a CSV to one message, once', async () => {
  const house = await DiscordHouse.start();
  const directory = await mkdtemp(join(tmpdir(), 'dailies-notice-'));
  const { discord } = house;
  const channel = discord.channels.general;
  const fileOf = async (name: string, contentType: string, bytes: number, description: string) => {
    const path = join(directory, name);
    await writeFile(path, Buffer.alloc(bytes, name));
    return { path, bytes, contentType, name, description };
  };
  const files = [
    await fileOf('october.png', 'image/png', 300_000, 'Spend \u202Eby week'),
    await fileOf('october.csv', 'text/csv', 700_000, 'One row per send'),
  ];
  const place = { team: 'guild', channel, address: {} };
  const notice = { key: 'report:1', place, replyTo: null, mention: null, view: spendReport(), files };
  discord.dropNextAnswer('POST /channels/:channel/messages');
  await expect(house.platform.notify(notice)).rejects.toMatchObject({ retryable: true });
  await house.platform.notify(notice);
  await house.platform.notify(notice);
  const posted = discord.messages(channel);
  expect(posted.map(({ attachments }) => attachments)).toMatchObject([
    [
      { filename: 'october.png', description: 'Spend by week', bytes: 300_000 },
      { filename: 'october.csv', description: 'One row per send', bytes: 700_000 },
    ],
  ]);
  await house.remove();
  await rm(directory, { recursive: true });
  expect(discord.violations).toEqual([]);
});
