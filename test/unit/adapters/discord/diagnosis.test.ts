import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { discordConfig } from '#adapters/discord/config.ts';
import { discordChecks } from '#adapters/discord/diagnosis.ts';
import { registerCommands } from '#adapters/discord/registration/register.ts';
import { DiscordRest, DiscordTime } from '#adapters/discord/rest/client.ts';
import { PLATFORM_CONFIGS } from '#adapters/registry.ts';
import { declarations } from '#commands/registry.ts';
import { systemClock } from '#src/clock.ts';
import { readConfig } from '#src/config/config.ts';
import { type Diagnosis, runChecks } from '#src/doctor/diagnosis.ts';
import { type FakeDiscord, type FakeDiscordOptions, startDiscord } from '#test/fakes/discord/index.ts';

async function start(options: FakeDiscordOptions = {}): Promise<FakeDiscord> {
  const discord = await startDiscord(options);
  onTestFinished(async () => {
    await discord.close();
    expect(discord.violations).toEqual([]);
    expect(discord.requests.filter(({ method }) => method !== 'GET' && method !== 'PUT')).toEqual([]);
  });
  return discord;
}

async function check(discord: FakeDiscord, env: Readonly<Record<string, string>> = {}): Promise<readonly Diagnosis[]> {
  const given = { ...discord.env, ...env };
  const config = readConfig(given, PLATFORM_CONFIGS);
  const logger = pino({ level: 'silent' });
  const writes = discord.commandWrites;
  const checks = discordChecks(discordConfig.settings(given), { config, clock: systemClock, logger, fetch });
  const found = await runChecks(checks, systemClock, 60_000);
  expect(discord.commandWrites).toBe(writes);
  expect(discord.gateway.identifies).toBe(0);
  return found;
}

async function register(discord: FakeDiscord, commands = declarations): Promise<void> {
  const rest = new DiscordRest({ ...discord, time: new DiscordTime(systemClock) });
  const { applicationId: application } = discord;
  await registerCommands({ rest, application, guild: null, commands, hasUserInstall: false });
}

const troubles = (found: readonly Diagnosis[]) =>
  found.filter(({ level }) => level !== 'ok').map(({ level, subject }) => `${level} ${subject}`);

it('finds everything in order, and only reads', async () => {
  const discord = await start();
  await register(discord);
  const found = await check(discord, { ADMINS: `discord:${discord.users.alice}` });
  expect(troubles(found)).toEqual([]);
  expect(found.map(({ subject }) => subject)).toEqual([
    'Discord token',
    'Discord servers',
    'Discord commands',
    expect.stringContaining('Discord permissions in '),
    'ADMINS',
  ]);
});

it('reports a refused token once', async () => {
  const discord = await start();
  discord.revokeToken();
  const found = await check(discord);
  expect(troubles(found)).toEqual(['wrong Discord token']);
  expect(found[0]?.fix).toContain('Reset Token');
});

it('reports missing and outdated commands', async () => {
  const discord = await start();
  expect(troubles(await check(discord))).toEqual(['warning Discord commands']);
  await register(discord, declarations.slice(1));
  const found = await check(discord);
  expect(troubles(found)).toEqual(['warning Discord commands']);
  expect(found.find(({ subject }) => subject === 'Discord commands')?.found).toContain('not those of this version');
});

it('reports a public app, unless ALLOW_TEAMS is set', async () => {
  const discord = await start({ isPublic: true });
  await register(discord);
  expect(troubles(await check(discord))).toEqual(['wrong Discord app']);
  expect(troubles(await check(discord, { ALLOW_TEAMS: `discord:${discord.guildId}` }))).toEqual([]);
});

it('compares ALLOW_TEAMS and DISCORD_GUILD_ID with the servers of the bot', async () => {
  const discord = await start();
  await register(discord);
  const elsewhere = await check(discord, { ALLOW_TEAMS: 'discord:12345678' });
  expect(troubles(elsewhere)).toEqual(['wrong Discord servers', 'warning Discord servers', 'warning ALLOW_TEAMS']);
  expect(elsewhere.map(({ fix }) => fix).join()).toContain(
    `https://discord.com/oauth2/authorize?client_id=${discord.applicationId}`,
  );
  expect(troubles(await check(discord, { DISCORD_GUILD_ID: '12345678' }))).toEqual([
    'wrong Discord servers',
    'warning Discord servers',
  ]);
});

it('names the permissions that a server lacks', async () => {
  const discord = await start();
  await register(discord);
  discord.withhold(['ATTACH_FILES', 'SEND_MESSAGES_IN_THREADS']);
  const found = (await check(discord)).find(({ level }) => level === 'wrong');
  expect(found).toMatchObject({
    subject: expect.stringContaining('Discord permissions in'),
    found: expect.stringMatching(/lack Attach Files, Send Messages in Threads$/),
  });
});

it('reports administrators who are in no server', async () => {
  const discord = await start();
  await register(discord);
  const found = await check(discord, { ADMINS: `discord:${discord.users.dora},discord:${discord.users.bob}` });
  expect(troubles(found)).toEqual(['warning ADMINS']);
  expect(found.at(-1)?.found).toContain(discord.users.dora);
});
