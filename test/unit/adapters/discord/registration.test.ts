import { REST, Routes } from 'discord.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startDiscord } from '#test/fakes/discord/index.ts';
import { DiscordHouse } from '#test/fakes/discord-house.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

const WRITE = 'PUT /applications/:application/commands';
const READ = 'GET /applications/:application/commands';

let house: DiscordHouse;

beforeEach(async () => {
  house = await DiscordHouse.start();
});

afterEach(async () => {
  await house.remove();
  expect(house.discord.violations).toEqual([]);
});

/** Resolves once a restarted bot has looked at its commands. */
const looked = () => house.discord.until(() => house.discord.requests.some(({ route }) => route === READ), 'a look');

it('is tried again where Discord does not take it', async () => {
  const clock = new ManualClock();
  const discord = await startDiscord();
  for (let times = 0; times < 2; times += 1) discord.fail(WRITE, 400);
  const starting = DiscordHouse.start({ discord, gatewayClock: clock });
  const writes = (): number => {
    clock.advance(500);
    return discord.commandWrites;
  };
  await expect.poll(writes, { timeout: 10_000 }).toBe(1);
  expect(discord.requests.filter(({ route }) => route === WRITE)).toHaveLength(3);
  await (await starting).remove();
  await discord.close();
});

describe('a start with the commands of before', () => {
  it('registers them again where they are gone from Discord', async () => {
    const { apiUrl, applicationId, token } = house.discord;
    const somebodyElse = new REST({ api: apiUrl }).setToken(token);
    await somebodyElse.put(Routes.applicationCommands(applicationId), { body: [] });
    expect(house.discord.commands()).toEqual([]);
    await house.restart();
    expect(house.discord.commands().length).toBe(2);
  });

  it.each(['they are there', 'Discord does not say'])('leaves them where %s', async (how) => {
    if (how === 'Discord does not say') house.discord.fail(READ, 404);
    await house.restart();
    await looked();
    await house.platform.stop();
    expect(house.discord.commandWrites).toBe(1);
  });
});
