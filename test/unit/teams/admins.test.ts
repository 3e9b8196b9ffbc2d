import { expect, it } from 'vitest';
import { PLATFORM_CONFIGS } from '#adapters/registry.ts';
import { adminListOf } from '#src/teams/admins.ts';

const schema = adminListOf(PLATFORM_CONFIGS);

it.each(['slack:U1', 'slack:W0123ABC', 'discord:2', ' slack:U1 , discord:2 ', 'playground:Ada Lovelace', 'slack:U1,'])(
  'accepts %j',
  (text) => expect(schema.safeParse(text).success).toBe(true),
);

it.each(['', ',', 'U1', 'slack:', 'slack:T1', 'slack:ada', 'discord:ada', 'teams:1', 'slack:U1,ada', '*'])(
  'rejects %j',
  (text) => expect(schema.safeParse(text).success).toBe(false),
);

it('is split into persons', () => {
  expect(schema.parse('slack:U1, playground:a:b')).toEqual([
    { platform: 'slack', user: 'U1' },
    { platform: 'playground', user: 'a:b' },
  ]);
});
