import type { Installation } from '@slack/bolt';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { Workspaces } from '#adapters/slack/installation/workspaces.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';

const ORGANISATION: Installation<'v2', true> = {
  team: undefined,
  enterprise: { id: 'E1', name: 'Acme' },
  isEnterpriseInstall: true,
  user: { id: 'U1', token: undefined, scopes: undefined },
  bot: { id: 'B1', userId: 'UB1', token: 'xoxb-of-all', scopes: [] },
};

function open(store = new MemoryStore()) {
  const identify = () => Promise.resolve({ id: 'T1', botUserId: 'UB1', botId: 'B1', url: null });
  const installation = { clientId: '1', clientSecret: 'another secret', stateSecret: 'a secret' };
  const access = { teams: 'all', admits: [] } as const;
  const logger = pino({ level: 'silent' });
  return { store, workspaces: new Workspaces({ store, installation, access, logger, identify }) };
}

describe('an organisation-wide installation', () => {
  it('is found by the workspace alone after its first request, also after a restart', async () => {
    const { store, workspaces } = open();
    await workspaces.storeInstallation(ORGANISATION);
    await expect(workspaces.of('T1')).rejects.toMatchObject({ code: 'unauthorised' });
    await workspaces.authorize({ teamId: 'T1', enterpriseId: 'E1', isEnterpriseInstall: true });
    expect(await workspaces.of('T1')).toMatchObject({ id: 'E1', botToken: 'xoxb-of-all' });
    expect(await open(store).workspaces.of('T1')).toMatchObject({ id: 'E1', botToken: 'xoxb-of-all' });
  });

  it('yields to an installation in the workspace itself', async () => {
    const { workspaces } = open();
    await workspaces.storeInstallation(ORGANISATION);
    await workspaces.authorize({ teamId: 'T1', enterpriseId: 'E1', isEnterpriseInstall: true });
    const bot = { ...ORGANISATION.bot, id: 'B1', userId: 'UB1', scopes: [], token: 'xoxb-of-one' };
    const team = { id: 'T1', name: 'Acme 1' };
    await workspaces.storeInstallation({
      ...ORGANISATION,
      team,
      enterprise: undefined,
      isEnterpriseInstall: false,
      bot,
    });
    expect(await workspaces.of('T1')).toMatchObject({ id: 'T1', botToken: 'xoxb-of-one' });
  });
});
