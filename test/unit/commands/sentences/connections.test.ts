import { describe, expect, it } from 'vitest';
import { discordConnection, slackConnection } from '#commands/sentences/connections.ts';

describe('what Discord is connected to', () => {
  const connection = { bot: 'Dailies', refused: 0, inviteLink: 'https://discord.com/oauth2/authorize?client_id=1' };
  const words = (servers: readonly string[], refused = 0) => discordConnection({ ...connection, servers, refused });

  it('is told by the names of its servers', () => {
    expect(words(['Acme'])).toBe('Dailies in 1 server: Acme');
    expect(words(['Acme', 'Test'])).toBe('Dailies in 2 servers: Acme and Test');
    expect(words(['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toBe('Dailies in 7 servers: a, b, c, d, e and 2 more');
  });

  it('is how to invite it, where it is in none', () => {
    expect(words([])).toBe(`Dailies, in no server yet. Invite it: ${connection.inviteLink}`);
  });

  it('counts the servers that may not use it', () => {
    expect(words(['Acme'], 2)).toBe('Dailies in 1 server: Acme (not allowed to use it: 2 servers; see ALLOW_TEAMS)');
  });

  it('takes nothing from a name that moves a terminal’s cursor or turns words around', () => {
    expect(words(['A\u001b[2Jcme\r\n\u202egpj'])).toBe('Dailies in 1 server: A [2Jcme gpj');
  });
});

it('says of Slack which workspace, as whom and how', () => {
  const workspace = { name: 'Acme', bot: 'dailies' };
  expect(slackConnection({ workspace, mode: 'socket' })).toBe('@dailies in Acme, Socket Mode');
  expect(slackConnection({ workspace, mode: 'http' })).toBe('@dailies in Acme, HTTP at /slack/events');
  expect(slackConnection({ workspace: null, mode: 'http' })).toBe(
    'every workspace that installs it at /slack/install, HTTP at /slack/events',
  );
});
