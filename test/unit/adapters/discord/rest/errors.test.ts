import { DiscordAPIError } from 'discord.js';
import { expect, it } from 'vitest';
import { translate } from '#adapters/discord/rest/errors.ts';

function refusal(code: number, message: string): DiscordAPIError {
  return new DiscordAPIError({ code, message }, code, 403, 'POST', 'https://discord.test', {});
}

it.each([50_007, 50_278])('tells a person who takes no direct message, by %i', (code) => {
  const error = translate(refusal(code, 'Cannot send messages to this user'), 'posting');
  expect(error).toMatchObject({ code: 'missing_permission', isUnreachable: true });
});

it.each([
  [200_000, 'Message was blocked by automatic moderation'],
  [400_001, 'Access to file uploads has been limited for this guild'],
  [50_001, 'Missing Access'],
  [0, '403: Forbidden'],
])('takes other refusals, such as %i, for none of a person', (code, message) => {
  const error = translate(refusal(code, message), 'posting');
  expect(error).toMatchObject({ code: 'missing_permission', isUnreachable: false });
});
