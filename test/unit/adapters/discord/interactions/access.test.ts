import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { commandDefinitions } from '#adapters/discord/registration/commands.ts';
import { PLATFORM_CONFIGS } from '#adapters/registry.ts';
import { accessSentence } from '#commands/sentences/access.ts';
import { ACTIONS } from '#commands/sentences/forms.ts';
import { type AccessConfig, teamListOf } from '#src/teams/access-list.ts';
import { type FakeDiscord, type Interaction, startDiscord } from '#test/fakes/discord/index.ts';
import { DiscordHouse, type DiscordHouseOptions, plainOf } from '#test/fakes/discord-house.ts';

let house: DiscordHouse;

/** Returns the access by `ALLOW_TEAMS`. */
function accessOf(teams: string | undefined, admits: AccessConfig['admits']): AccessConfig {
  return { teams: teams === undefined ? null : teamListOf(PLATFORM_CONFIGS).parse(teams), admits };
}

const STANDARD = accessOf(undefined, []);

let ownDiscord: FakeDiscord | undefined;

/** Fake Discord that outlives the bot. */
async function another(): Promise<FakeDiscord> {
  ownDiscord = await startDiscord();
  return ownDiscord;
}

afterEach(async () => {
  const { violations } = house.discord;
  await house.remove();
  await ownDiscord?.close();
  ownDiscord = undefined;
  expect(violations).toEqual([]);
});

async function start(options: DiscordHouseOptions = {}): Promise<DiscordHouse['discord']> {
  house = await DiscordHouse.start({ access: STANDARD, ...options });
  return house.discord;
}

/** Returns the response to a user without access: one private sentence, with nothing passed to the bot. */
async function refusalOf(interaction: Interaction): Promise<string> {
  const message = await house.answerTo(interaction);
  expect(message.visibleTo).toBe(interaction.userId);
  expect(house.bot.heard.filter(({ caller }) => caller.interaction === interaction.id)).toEqual([]);
  return plainOf(message).trim();
}

const create = (circumstances: { readonly user?: string; readonly channel?: string } = {}): Interaction =>
  house.discord.people.slash('video create', { prompt: 'a fox' }, circumstances);

describe('a server', () => {
  it('of the first start is allowed, even after a restart; a later one only if ALLOW_TEAMS lists it', async () => {
    const said: string[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => void said.push(line) });
    const discord = await start({ logger });
    expect((await house.heard(create())).caller.team).toBe(discord.guildId);
    expect(said.find((line) => line.includes('discord_servers'))).toContain(`discord:${discord.guildId}`);

    const later = discord.channelOn(0);
    expect(await refusalOf(create({ channel: later }))).toMatch(/^This server isn’t set up to use me/);
    await house.restart();
    expect(await refusalOf(create({ channel: later }))).toContain('ALLOW_TEAMS');
    await house.heard(create());
  });

  it('may use the bot only if ALLOW_TEAMS lists it', async () => {
    const discord = await start({ access: accessOf('slack:T1,discord:12345', []) });
    expect(await refusalOf(create())).toContain(`discord:${discord.guildId}`);
  });

  it('other than DISCORD_GUILD_ID may not use the bot, even if ALLOW_TEAMS lists it', async () => {
    const discord = await another();
    await start({ discord, access: accessOf('*', []), guildId: discord.guildId });
    // The global commands of an earlier start still exist.
    await fetch(`${discord.apiUrl}/v10/applications/${discord.applicationId}/commands`, {
      method: 'PUT',
      headers: {
        authorization: `Bot ${discord.token}`,
        'content-type': 'application/json',
        'user-agent': 'DiscordBot (https://dailies.example, 1)',
      },
      body: JSON.stringify(commandDefinitions({ commands: house.bot.commands, isGlobal: true })),
    });
    expect(await refusalOf(create({ channel: discord.channelOn(0) }))).toContain('isn’t set up to use me');
    expect((await house.heard(create())).caller.team).toBe(discord.guildId);
  });

  it('is allowed at once if it is the first to invite the bot, as long as only its owner can add it', async () => {
    const discord = await another();
    discord.removeBot();
    await start({ discord });
    const channel = discord.channelOn(0);
    expect((await house.heard(create({ channel }))).caller.channel).toBe(channel);
  });
});

describe('the app', () => {
  it.each([
    [true, {}, /public/],
    [false, {}, null],
    [true, { access: accessOf('*', []) }, null],
  ] as const)('public (%s) with %j is a problem: %s', async (isPublic, options, problem) => {
    await start({ isPublic, ...options });
    if (problem === null) expect(house.platform.notReady()).toBeNull();
    else expect(house.platform.notReady()).toMatch(problem);
  });
});

describe('if Discord lists no servers', () => {
  it.each([true, false])('orders are refused if anyone can add the app (%s)', async (isPublic) => {
    const discord = await startDiscord({ isPublic });
    ownDiscord = discord;
    discord.fail('GET /users/@me/guilds', 403);
    await start({ discord });
    if (isPublic) expect(await refusalOf(create())).toContain('isn’t set up to use me');
    else expect((await house.heard(create())).caller.team).toBe(discord.guildId);
  });
});

describe('a user install', () => {
  it('is refused in another server and in a group', async () => {
    const discord = await start();
    const { channels, users } = discord;
    // As registered by an earlier start.
    for (const command of discord.commands())
      Object.assign(command, { integration_types: [0, 1], contexts: [0, 1, 2] });
    for (const channel of [channels.elsewhere, channels.group])
      expect(await refusalOf(create({ user: users.carol, channel }))).toBe(accessSentence({ reason: 'user_install' }));
    expect(house.bot.heard).toEqual([]);
  });

  it('is charged to an allowed server of the user if enabled, else refused', async () => {
    const { channels, users, guildId } = await start({ access: accessOf(undefined, ['user_install']) });
    const { caller } = await house.heard(create({ user: users.carol, channel: channels.elsewhere }));
    expect(caller.team).toBe(guildId);
    // Their permissions there do not entitle them to announcements of that server's clips.
    expect(caller.rights).toEqual({});
    expect(await refusalOf(create({ user: users.dora, channel: channels.elsewhere }))).toContain('members of a server');
  });

  it.each([
    ['off', [0], [0, 1]],
    ['on', [0, 1], [0, 1, 2]],
  ] as const)('%s: the commands are registered for %j in %j', async (DISCORD_USER_INSTALL, types, contexts) => {
    const discord = await start({ access: accessOf(undefined, DISCORD_USER_INSTALL === 'on' ? ['user_install'] : []) });
    const where = (types: readonly number[], contexts: readonly number[]) => ({ integration_types: types, contexts });
    // Administrative commands work in the team's server, and in a direct message for those named in ADMINS.
    expect(discord.commands()).toMatchObject([
      { name: 'video', ...where(types, contexts) },
      { name: 'video-admin', ...where([0], [0, 1]) },
      { name: 'clip', ...where(types, contexts) },
      ...Object.values(ACTIONS).map((name) => ({ name, ...where(types, contexts) })),
    ]);
  });
});

describe('a direct message', () => {
  it('is charged to an allowed server of which the user is a member, else refused', async () => {
    const discord = await start();
    const { users, guildId } = discord;
    const { caller } = await house.heard(create({ channel: discord.dm(users.alice) }));
    expect(caller).toMatchObject({ team: guildId, channel: discord.dm(users.alice) });
    expect(await refusalOf(create({ user: users.dora, channel: discord.dm(users.dora) }))).toContain(
      'members of a server',
    );
  });
});

it('gives users without access no suggestions, and ignores their reactions', async () => {
  const discord = await start();
  const channel = discord.channelOn(0);
  const typing = discord.people.autocomplete('video create', { model: 's' }, 'model', { channel });
  expect((await discord.answered(typing)).data['choices']).toEqual([]);
  discord.people.react(discord.people.say('a clip', [], { channel }).id, '🔁', { channel });
  await house.heard(create());
  expect(house.bot.heard).toHaveLength(1);
});

it('does nothing if Discord fails to identify the user, who can then retry', async () => {
  const discord = await start();
  const channel = discord.dm(discord.users.alice);
  discord.fail('GET /guilds/:guild/members/:user', 503);
  discord.fail('GET /guilds/:guild/members/:user', 503);
  discord.fail('GET /guilds/:guild/members/:user', 503);
  expect(await refusalOf(create({ channel }))).toContain('Try again');
  await house.heard(create({ channel }));
});
