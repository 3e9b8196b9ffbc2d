import { describe, expect, it } from 'vitest';
import { discordConnection } from '#adapters/discord/status-line.ts';
import { SlackHouse } from '#test/fakes/slack-house.ts';

describe('Discord connection', () => {
  const connection = { bot: 'Dailies', refused: 0, inviteLink: 'https://discord.com/oauth2/authorize?client_id=1' };
  const words = (servers: readonly string[], refused = 0) => discordConnection({ ...connection, servers, refused });

  it('lists the names of the servers', () => {
    expect(words(['Acme'])).toBe('Dailies in 1 server: Acme');
    expect(words(['Acme', 'Test'])).toBe('Dailies in 2 servers: Acme and Test');
    expect(words(['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toBe('Dailies in 7 servers: a, b, c, d, e and 2 more');
  });

  it('shows the invite link without any server', () => {
    expect(words([])).toBe(`Dailies, in no server yet. Invite it: ${connection.inviteLink}`);
  });

  it('counts the servers that may not use the bot', () => {
    expect(words(['Acme'], 2)).toBe('Dailies in 1 server: Acme (not allowed to use it: 2 servers; see ALLOW_TEAMS)');
  });

  it('removes control and directional characters from a name', () => {
    expect(words(['A\u001b[2Jcme\r\n\u202egpj'])).toBe('Dailies in 1 server: A [2Jcme gpj');
  });
});

it.each([
  ['socket', '@dailies in Acme, Socket Mode'],
  ['http', '@dailies in Acme, HTTP at /slack/events'],
  ['oauth', 'every workspace that installs it at /slack/install, Socket Mode'],
] as const)('describes a Slack connection by workspace, bot and transport: %s', async (mode, line) => {
  const house = await SlackHouse.start({ mode });
  expect(await house.platform.connection()).toBe(line);
  await house.remove();
});
