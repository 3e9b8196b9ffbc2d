import { afterEach, beforeEach, expect, it } from 'vitest';
import { type FakeDiscord, startDiscord } from '#test/fakes/discord/index.ts';
import { RawBot } from './raw-bot.ts';

let discord: FakeDiscord;
let bot: RawBot;

beforeEach(async () => {
  discord = await startDiscord();
  bot = new RawBot(discord);
});
afterEach(() => discord.close());

const write = (commands: unknown, guild = '') =>
  bot.call(`PUT /applications/${discord.applicationId}${guild}/commands`, commands);
const command = (overrides: object) => [{ name: 'video', description: 'Makes videos', ...overrides }];
const option = (overrides: object) => ({ type: 3, name: 'prompt', description: 'What', ...overrides });

it.each([
  ['a name in capitals', command({ name: 'Video' })],
  ['a name with a space', command({ name: 'my video' })],
  ['a description of 101 characters', command({ description: 'x'.repeat(101) })],
  ['no description', command({ description: '' })],
  ['26 options', command({ options: Array.from({ length: 26 }, (_, index) => option({ name: `o${index}` })) })],
  ['two options of the same name', command({ options: [option({}), option({})] })],
  ['a required option after another', command({ options: [option({}), option({ name: 'b', required: true })] })],
  [
    '26 choices',
    command({
      options: [option({ choices: Array.from({ length: 26 }, (_, at) => ({ name: `${at}`, value: `${at}` })) })],
    }),
  ],
  [
    'choices with autocomplete',
    command({ options: [option({ autocomplete: true, choices: [{ name: 'a', value: 'a' }] })] }),
  ],
  ['choices of another type', command({ options: [option({ choices: [{ name: 'a', value: 1 }] })] })],
  ['a length limit on a number', command({ options: [option({ type: 4, max_length: 5 })] })],
  ['a subcommand beside an option', command({ options: [option({ type: 1 }), option({ name: 'b' })] })],
  ['a subcommand in a subcommand', command({ options: [option({ type: 1, options: [option({ type: 1 })] })] })],
  [
    'more than 8000 characters',
    command({
      options: Array.from({ length: 25 }, (_, at) =>
        option({
          name: `o${at}`,
          choices: Array.from({ length: 3 }, (_each, value) => ({ name: 'n'.repeat(90), value: `${value}` })),
          description: 'x'.repeat(99),
        }),
      ),
    }),
  ],
  [
    'more than 8000 characters in the longest localisations',
    command({
      options: Array.from({ length: 25 }, (_, at) =>
        option({
          name: `o${at}`,
          type: 1,
          options: Array.from({ length: 4 }, (_each, by) =>
            option({ name: `p${by}`, description_localizations: { de: 'x'.repeat(100) } }),
          ),
        }),
      ),
    }),
  ],
  ['an unknown locale', command({ name_localizations: { xx: 'video' } })],
  ['options of a message command', command({ type: 3, description: '', options: [option({})] })],
  ['two commands of the same name', [...command({}), ...command({})]],
  ['16 message commands', Array.from({ length: 16 }, (_, index) => ({ type: 3, name: `Do ${index}` }))],
])('are rejected with %s', async (_what, commands) => {
  expect((await write(commands)).json.code).toBe(50035);
  expect(discord.violations).toHaveLength(1);
  expect(discord.commandWrites).toBe(0);
});

it('of one server accept neither contexts nor integration types', async () => {
  const guild = `/guilds/${discord.guildId}`;
  expect((await write(command({ contexts: [0] }), guild)).status).toBe(400);
  expect((await write(command({}), guild)).status).toBe(200);
  expect(discord.commands(discord.guildId)).toMatchObject([{ name: 'video', guild_id: discord.guildId }]);
});

it('are available only where they are registered', async () => {
  await write(command({ contexts: [0], integration_types: [0], options: [option({ required: true, max_length: 5 })] }));
  const { elsewhere } = discord.channels;
  const channel = discord.dm(discord.users.alice);
  expect(() => discord.people.slash('video', { prompt: 'fox' }, { channel })).toThrow(/context 1/);
  expect(() => discord.people.slash('video', { prompt: 'fox' }, { channel: elsewhere })).toThrow(/not installed/);
  expect(() => discord.people.slash('video')).toThrow(/required/);
  expect(() => discord.people.slash('video', { prompt: 'a red fox' })).toThrow(/does not take/);
  expect(() => discord.people.slash('video', { prompt: 'fox', seconds: 4 })).toThrow(/option seconds/);
  expect(discord.people.slash('video', { prompt: 'fox' }).payload['data']).toMatchObject({
    name: 'video',
    options: [{ name: 'prompt', type: 3, value: 'fox' }],
  });
});

it('on a message contain its content, which the bot does not receive otherwise', async () => {
  await write([{ type: 3, name: 'Animate this' }]);
  const said = discord.people.say('my fox');
  const { json } = await bot.call(`GET /channels/${discord.channels.general}/messages/${said.id}`);
  expect(json['content']).toBe('');
  const { payload } = discord.people.messageCommand('Animate this', said.id);
  expect(payload['data']).toMatchObject({
    target_id: said.id,
    resolved: { messages: { [said.id]: { content: 'my fox' } } },
  });
});

it('take a user or a role as a mentionable option, with its name; members have their roles', async () => {
  const { alice, bob } = discord.users;
  const role = discord.addRole('directors');
  discord.setRoles(bob, [role]);
  await write(command({ options: [option({ type: 9, name: 'who' })] }));
  const resolvedFor = (who: string) => discord.people.slash('video', { who }, { user: bob }).payload;
  expect(resolvedFor(role)).toMatchObject({
    data: { options: [{ type: 9, value: role }], resolved: { roles: { [role]: { name: 'directors' } } } },
    member: { roles: [role] },
  });
  expect(resolvedFor(alice)['data']).toMatchObject({ resolved: { users: { [alice]: { username: 'alice' } } } });
});
