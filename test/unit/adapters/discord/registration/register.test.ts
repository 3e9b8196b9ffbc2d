import { REST, Routes } from 'discord.js';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandDefinitions } from '#adapters/discord/registration/commands.ts';
import { declarations } from '#commands/registry.ts';
import { startDiscord } from '#test/fakes/discord/index.ts';
import { DiscordHouse } from '#test/fakes/discord-house.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

const WRITE = 'PUT /applications/:application/commands';
const READ = 'GET /applications/:application/commands';

const COUNT = commandDefinitions({ commands: declarations, isGlobal: true }).length;

/** Command as registered. */
interface Registered {
  readonly name: string;
  readonly options: readonly { readonly options: readonly { readonly required?: boolean }[] }[];
}

let house: DiscordHouse;

beforeEach(async () => {
  house = await DiscordHouse.start();
});

afterEach(async () => {
  await house.remove();
  expect(house.discord.violations).toEqual([]);
});

/** Resolves once a restarted bot has checked its commands. */
const looked = () => house.discord.until(() => house.discord.requests.some(({ route }) => route === READ), 'a look');

it('retries a registration that Discord rejects', async () => {
  const clock = new ManualClock();
  const discord = await startDiscord();
  for (let times = 0; times < 2; times += 1) discord.fail(WRITE, 400);
  const starting = DiscordHouse.start({ discord, gatewayClock: clock });
  const writes = (): number => {
    clock.advance(500);
    return discord.commandWrites;
  };
  await expect.poll(writes).toBe(1);
  expect(discord.requests.filter(({ route }) => route === WRITE)).toHaveLength(3);
  await (await starting).remove();
  await discord.close();
});

describe('a start with unchanged commands', () => {
  it('registers them again if Discord has lost them', async () => {
    const { apiUrl, applicationId, token } = house.discord;
    const somebodyElse = new REST({ api: apiUrl }).setToken(token);
    await somebodyElse.put(Routes.applicationCommands(applicationId), { body: [] });
    expect(house.discord.commands()).toEqual([]);
    await house.restart();
    expect(house.discord.commands()).toHaveLength(COUNT);
  });

  it('registers them again if an option is missing at Discord', async () => {
    const { apiUrl, applicationId, token } = house.discord;
    const [video, admin, ...others] = house.discord.commands() as readonly unknown[] as readonly Registered[];
    if (video === undefined || admin === undefined) throw new TypeError('the commands are not there');
    const own = ({
      id: _id,
      application_id: _app,
      version: _version,
      ...rest
    }: Registered & { id?: string; application_id?: string; version?: string }) => rest;
    const options = video.options.map((one) => ({ ...one, options: one.options.filter(({ required }) => required) }));
    const somebodyElse = new REST({ api: apiUrl }).setToken(token);
    await somebodyElse.put(Routes.applicationCommands(applicationId), {
      body: [{ ...own(video), options }, own(admin), ...others.map(own)],
    });
    await house.restart();
    await expect
      .poll(() => house.discord.commands())
      .toMatchObject([{ options: video.options }, { options: admin.options }, ...others.map(({ name }) => ({ name }))]);
  });

  it.each(['they are registered', 'Discord does not return them'])('keeps them if %s', async (how) => {
    if (how === 'Discord does not return them') house.discord.fail(READ, 404);
    await house.restart();
    await looked();
    await house.platform.stop();
    expect(house.discord.commandWrites).toBe(1);
  });
});

describe('after a change of DISCORD_GUILD_ID', () => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(line) });
  const guilds = (): readonly string[] => lines.filter((line) => line.includes('discord_commands_removed'));

  beforeEach(() => {
    lines.length = 0;
  });

  it('removes the commands of the former server, and logs it', async () => {
    const { discord, store } = house;
    const one = await DiscordHouse.start({ discord, store, guildId: discord.guildId, logger });
    await expect.poll(() => discord.commands().length).toBe(0);
    expect(discord.commands(discord.guildId)).toHaveLength(COUNT);
    await one.remove();
    const all = await DiscordHouse.start({ discord, store, logger });
    await expect.poll(() => discord.commands(discord.guildId).length).toBe(0);
    expect(discord.commands()).toHaveLength(COUNT);
    await all.remove();
    expect(guilds()).toEqual([
      expect.stringContaining('all servers'),
      expect.stringContaining(`discord:${discord.guildId}`),
    ]);
  });

  it('keeps the commands that other apps registered in a server', async () => {
    const { discord } = house;
    const body = [{ name: 'mine', description: 'A command of somebody else' }];
    const somebodyElse = new REST({ api: discord.apiUrl }).setToken(discord.token);
    await somebodyElse.put(Routes.applicationGuildCommands(discord.applicationId, discord.guildId), { body });
    await house.restart();
    await looked();
    await house.platform.stop();
    expect(discord.commands(discord.guildId)).toMatchObject([{ name: 'mine' }]);
  });
});
