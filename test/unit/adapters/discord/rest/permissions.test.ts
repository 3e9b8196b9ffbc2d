import { PermissionFlagsBits as Right } from 'discord.js';
import { describe, expect, it } from 'vitest';
import { writeAddress } from '#adapters/discord/messages/message-store.ts';
import { type ChannelFacts, missingAmong, Permissions, permissionsIn } from '#adapters/discord/rest/permissions.ts';
import { DailiesError } from '#src/errors.ts';
import { DiscordHouse } from '#test/fakes/discord-house.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

const facts = (changes: Partial<ChannelFacts> = {}): ChannelFacts => ({
  guild: 'g',
  owner: 'owner',
  roles: new Map([
    ['g', Right.ViewChannel],
    ['posters', Right.SendMessages],
    ['admins', Right.Administrator],
  ]),
  overwrites: [],
  isThread: false,
  parent: null,
  isPrivate: false,
  isVoice: false,
  ...changes,
});
const all =
  Right.ViewChannel | Right.SendMessages | Right.SendMessagesInThreads | Right.AttachFiles | Right.ReadMessageHistory;
const may = (right: bigint, given: ChannelFacts, roles: readonly string[] = [], user = 'u'): boolean =>
  (permissionsIn(given, { user, roles }) & right) === right;

// @see https://discord.com/developers/docs/topics/permissions#permission-hierarchy
describe('the permissions of a member in a channel', () => {
  it('are those of @everyone and of their roles', () => {
    expect(may(Right.ViewChannel, facts())).toBe(true);
    expect(may(Right.SendMessages, facts())).toBe(false);
    expect(may(Right.SendMessages, facts(), ['posters'])).toBe(true);
  });

  it('are all for the owner and administrators, regardless of the channel', () => {
    const shut = facts({ overwrites: [{ id: 'g', allow: 0n, deny: Right.ViewChannel }] });
    expect(may(Right.ManageMessages, shut, [], 'owner')).toBe(true);
    expect(may(Right.ManageMessages, shut, ['admins'])).toBe(true);
    expect(may(Right.ViewChannel, shut)).toBe(false);
  });

  it('are overwritten for @everyone, then for roles, then for the member', () => {
    const everybody = { id: 'g', allow: 0n, deny: Right.ViewChannel };
    const posters = { id: 'posters', allow: Right.ViewChannel, deny: 0n };
    const one = { id: 'u', allow: 0n, deny: Right.ViewChannel };
    expect(may(Right.ViewChannel, facts({ overwrites: [posters, everybody] }), ['posters'])).toBe(true);
    expect(may(Right.ViewChannel, facts({ overwrites: [one, posters, everybody] }), ['posters'])).toBe(false);
  });
});

it('reports a missing right in a private thread until the bot is added', async () => {
  const house = await DiscordHouse.start();
  const { secret: channel } = house.discord.channels;
  const asked = house.discord.people.slash('video create', { prompt: 'a fox' }, { channel });
  const { caller } = await house.heard(asked);
  await house.discord.answered(asked);
  expect(await house.platform.channels.missingRight(caller)).toMatchObject({ kind: 'uninvited', to: 'thread' });
  house.discord.addBot(channel);
  expect(await house.platform.channels.missingRight(caller)).toBeNull();
  await house.remove();
  expect(house.discord.violations).toEqual([]);
});

it.each([Right.ManageThreads, Right.Administrator])('lets a member with %i see private threads', async (right) => {
  const rest = { get: () => Promise.reject(new Error('nothing is to be asked')) };
  const self = () => Promise.reject(new Error('nothing is to be asked'));
  const permissions = new Permissions({ rest: rest as never, clock: new ManualClock(), self });
  const [hasBot, token, source] = [true, null, null] as const;
  const place = {
    token,
    hasBot,
    guild: '5',
    isDirect: false,
    isThread: true,
    isPrivate: true,
    source,
    below: null,
    within: null,
    permissions: all | right,
  };
  expect(await permissions.missingRight({ team: '5', channel: '6', address: writeAddress(place) })).toBeNull();
});

describe('the first missing right', () => {
  it.each([
    ['View Channel', Right.ViewChannel, false],
    ['Send Messages', Right.SendMessages, false],
    ['Send Messages in Threads', Right.SendMessagesInThreads, true],
    ['Attach Files', Right.AttachFiles, false],
    ['Read Message History', Right.ReadMessageHistory, false],
  ])('is called %s', (name, right, isThread) => {
    expect(missingAmong(all & ~right, isThread)).toMatchObject({ kind: 'permission', right: name });
  });

  it('is none if all are granted, or for an administrator', () => {
    expect(missingAmong(all, false)).toBeNull();
    expect(missingAmong(Right.Administrator, true)).toBeNull();
  });
});

describe('the audience of a channel', () => {
  const start = async () => {
    const house = await DiscordHouse.start();
    const { channels, users } = house.discord;
    const asked = house.discord.people.slash('video list', {});
    const { caller } = await house.heard(asked);
    await house.discord.answered(asked);
    const place = (channel: string) => ({ team: caller.team, channel, address: {} });
    return { house, channels, users, place };
  };

  it('is the server unless @everyone is denied the view; a thread inherits from its channel', async () => {
    const { house, channels, users, place } = await start();
    const { platform } = house;
    house.discord.makePrivate(channels.clips, [users.bob]);
    expect(await platform.channels.audience(place(channels.general))).toBe('team');
    expect(await platform.channels.audience(place(channels.thread))).toBe('team');
    expect(await platform.channels.audience(place(channels.clips))).toBe('channel');
    expect(await platform.channels.audience({ ...place(channels.general), team: 'dm:1' })).toBe('channel');
    // The bot has no access to a private thread that it is not in.
    expect(await platform.channels.audience(place(channels.secret))).toBeNull();
    house.discord.addBot(channels.secret);
    expect(await platform.channels.audience(place(channels.secret))).toBe('channel');
    await house.remove();
    expect(house.discord.violations).toEqual([]);
  });

  it('includes only members who may view it', async () => {
    const { house, channels, users, place } = await start();
    const { platform } = house;
    house.discord.makePrivate(channels.clips, [users.bob]);
    expect(await platform.channels.rights(place(channels.clips), users.alice)).toMatchObject({
      view: false,
      post: false,
    });
    expect(await platform.channels.rights(place(channels.clips), users.bob)).toEqual({
      view: true,
      post: true,
      manage: false,
    });
    expect(await platform.channels.isMember(place(channels.general), users.bob)).toBe(true);
    // Dora left the server, so Discord answers with 10007.
    expect(await platform.channels.isMember(place(channels.general), users.dora)).toBe(false);
    const other = { ...place(channels.general), team: '7' };
    expect(await platform.channels.rights(other, users.bob)).toMatchObject({ view: false });
    expect(await platform.channels.missingRight(other)).toMatchObject({ right: 'View Channel' });
    await house.remove();
  });
});

it('does not need Attach Files for text', () => {
  expect(missingAmong(all & ~Right.AttachFiles, false, 'words')).toBeNull();
  expect(missingAmong(all & ~Right.SendMessages, false, 'words')).toMatchObject({ right: 'Send Messages' });
});

describe('whether the bot is a member of a server where somebody brought it along', () => {
  function asking() {
    const clock = new ManualClock();
    const guilds = new Set<string>();
    const asked: string[] = [];
    const fails: DailiesError[] = [];
    const get = async (route: string) => {
      asked.push(route);
      const failure = fails.pop();
      if (failure !== undefined) throw failure;
      const guild = route.slice(route.lastIndexOf('/') + 1);
      if (!guilds.has(guild)) throw new DailiesError('Unknown Guild', { code: 'message_gone', retryable: false });
      return { owner_id: '1', roles: [], premium_tier: 0 };
    };
    const permissions = new Permissions({ rest: { get } as never, clock, self: async () => ({}) as never });
    return { clock, guilds, asked, fails, permissions };
  }

  it('is asked once in ten minutes while it is none', async () => {
    const { clock, guilds, asked, permissions } = asking();
    for (let minute = 0; minute < 10; minute += 1) {
      expect(await permissions.isMemberOf('7', false)).toBe(false);
      clock.advance(59_000);
    }
    expect(asked).toEqual(['/guilds/7']);
    guilds.add('7');
    clock.advance(60_000);
    expect(await permissions.isMemberOf('7', false)).toBe(true);
  });

  it('is known at once from an interaction of the server’s own install', async () => {
    const { guilds, asked, permissions } = asking();
    expect(await permissions.isMemberOf('7', false)).toBe(false);
    guilds.add('7');
    expect(await permissions.isMemberOf('7', true)).toBe(true);
    expect(asked).toHaveLength(1);
    expect(await permissions.isMemberOf('7', false)).toBe(true);
  });

  it('is asked again after a failed lookup', async () => {
    const { guilds, asked, permissions, fails } = asking();
    guilds.add('7');
    fails.push(new DailiesError('HTTP 502', { code: 'platform_unavailable', retryable: true }));
    expect(await permissions.isMemberOf('7', false)).toBe(false);
    expect(await permissions.isMemberOf('7', false)).toBe(true);
    expect(asked).toHaveLength(2);
  });
});
