import {
  type APIInteraction,
  ApplicationIntegrationType,
  InteractionContextType,
  InteractionType,
  PermissionFlagsBits,
} from 'discord.js';
import { expect, it } from 'vitest';
import { callerOf } from '#adapters/discord/interactions/caller.ts';

/** A command of an owner of server 7, who has the app installed for themselves as well. */
const COMMAND = {
  id: '1',
  type: InteractionType.ApplicationCommand,
  guild_id: '7',
  channel_id: '70',
  context: InteractionContextType.Guild,
  authorizing_integration_owners: { [ApplicationIntegrationType.UserInstall]: '5' },
  member: { user: { id: '5', username: 'ben' }, roles: ['99'], permissions: `${PermissionFlagsBits.ManageGuild}` },
} as unknown as APIInteraction;

it('counts roles and the right to administer only in the server whose account is charged', async () => {
  const context = { token: null, isMemberOf: async () => false, cardChannel: null };
  const here = await callerOf(COMMAND, { ...context, team: '7' });
  expect([here.mayAdminister, here.roles]).toEqual([true, ['99']]);
  const elsewhere = await callerOf(COMMAND, { ...context, team: '8' });
  expect([elsewhere.mayAdminister, elsewhere.roles, elsewhere.rights]).toEqual([false, undefined, {}]);
});
