import { PermissionFlagsBits as Right } from 'discord.js';
import { describe, expect, it } from 'vitest';
import { type ChannelFacts, missingAmong, permissionsIn } from '#adapters/discord/permissions.ts';

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
  ...changes,
});
const may = (right: bigint, given: ChannelFacts, roles: readonly string[] = [], user = 'u'): boolean =>
  (permissionsIn(given, { user, roles }) & right) === right;

// @see https://discord.com/developers/docs/topics/permissions#permission-hierarchy
describe('what somebody may do in a channel', () => {
  it('is what everybody and their roles may', () => {
    expect(may(Right.ViewChannel, facts())).toBe(true);
    expect(may(Right.SendMessages, facts())).toBe(false);
    expect(may(Right.SendMessages, facts(), ['posters'])).toBe(true);
  });

  it('is all for the owner and administrators, whatever the channel says', () => {
    const shut = facts({ overwrites: [{ id: 'g', allow: 0n, deny: Right.ViewChannel }] });
    expect(may(Right.ManageMessages, shut, [], 'owner')).toBe(true);
    expect(may(Right.ManageMessages, shut, ['admins'])).toBe(true);
    expect(may(Right.ViewChannel, shut)).toBe(false);
  });

  it('is changed for everybody, then for roles, then for the one person', () => {
    const everybody = { id: 'g', allow: 0n, deny: Right.ViewChannel };
    const posters = { id: 'posters', allow: Right.ViewChannel, deny: 0n };
    const one = { id: 'u', allow: 0n, deny: Right.ViewChannel };
    expect(may(Right.ViewChannel, facts({ overwrites: [posters, everybody] }), ['posters'])).toBe(true);
    expect(may(Right.ViewChannel, facts({ overwrites: [one, posters, everybody] }), ['posters'])).toBe(false);
  });
});

describe('the first missing right', () => {
  const all =
    Right.ViewChannel | Right.SendMessages | Right.SendMessagesInThreads | Right.AttachFiles | Right.ReadMessageHistory;

  it.each([
    ['View Channel', Right.ViewChannel, false],
    ['Send Messages', Right.SendMessages, false],
    ['Send Messages in Threads', Right.SendMessagesInThreads, true],
    ['Attach Files', Right.AttachFiles, false],
    ['Read Message History', Right.ReadMessageHistory, false],
  ])('is called %s', (name, right, isThread) => {
    expect(missingAmong(all & ~right, isThread)?.right).toBe(name);
  });

  it('is none where all are there, or for an administrator', () => {
    expect(missingAmong(all, false)).toBeNull();
    expect(missingAmong(Right.Administrator, true)).toBeNull();
  });
});
