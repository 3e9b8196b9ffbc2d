import { expect } from 'vitest';
import { fileOf } from '#test/fakes/discord/index.ts';
import { buttonsOf as buttonsOnDiscord, plainOf as plainOnDiscord } from '#test/fakes/discord-house.ts';
import { buttonsOf as buttonsOnSlack, plainOf as plainOnSlack, whispersTo } from '#test/fakes/slack-house.ts';
import { test } from './fixtures.ts';

// Two users: alice orders in a private channel and in direct messages, bob is in neither. No command of his may reveal
// anything of hers.

const LINKS = { PUBLIC_URL: 'https://dailies.example', LINK_SECRET: 'a secret of this test' };
const PICTURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** Texts and links of alice that must not be visible to others. */
const HERS = /unreleased|layoffs|relay-|signature=/;

/** Every command that an outsider may type; `id` is that of a task that must stay hidden. */
const attemptsOn = (id: string): readonly string[] => [
  'list',
  'list unreleased',
  'list --who @alice',
  'status',
  ...[id, id.slice(0, 8)].flatMap((one) => [`status ${one}`, `retry ${one}`, `cancel ${one}`, `delete ${one}`]),
  'usage',
  'notify',
];

const idOfTask = (buttons: readonly { readonly id: string }[]): string =>
  buttons.find(({ id }) => id.startsWith('details:'))?.id.slice('details:'.length) ?? '';

test('Slack: private channels and direct messages are visible to their members only', async ({
  upstream,
  slack,
  start,
}) => {
  const { users, channels, people } = slack;
  slack.leave(channels.secret, users.bob);
  await start({ ...slack.env, ...LINKS });
  await slack.botReady();
  const whispers = (user: string) => whispersTo(slack, user);
  const says = async (user: string, text: string): Promise<string> => {
    const before = whispers(user).length;
    people.slash(`/video ${text}`, { user });
    await expect.poll(() => whispers(user).length, { message: text }).toBe(before + 1);
    return plainOnSlack(whispers(user)[before] as ReturnType<typeof whispers>[number]);
  };
  const cards = (channel: string) =>
    slack.messages(channel).filter((one) => one.visibleTo === null && idOfTask(buttonsOnSlack(one)) !== '');

  expect(await says(users.bob, 'notify everyone --direct')).toContain('I’ll message you');
  const picture = people.upload({ name: 'unreleased.png', content: PICTURE });
  people.mention('the unreleased film in one long shot', { channel: channels.secret, files: [picture] });
  people.slash('/video rumours of layoffs, told by a raven', { channel: slack.dm(users.alice) });
  for (const channel of [channels.secret, slack.dm(users.alice)])
    await expect.poll(() => slack.messages(channel).some(({ fileIds }) => fileIds.length > 0)).toBe(true);
  expect(upstream.creates).toBe(2);
  const [card] = cards(channels.secret);
  if (card === undefined) throw new TypeError('no card in the private channel');
  const id = idOfTask(buttonsOnSlack(card));

  for (const text of attemptsOn(id)) await says(users.bob, text);
  people.openHome({ user: users.bob });
  const home = () =>
    slack.calls.filter(({ method, args }) => method === 'views.publish' && args['user_id'] === users.bob);
  await expect.poll(home).toHaveLength(1);
  const seen = [channels.general, channels.clips, channels.lobby, slack.dm(users.bob)].flatMap((channel) =>
    slack.messages(channel).filter(({ visibleTo }) => visibleTo === null || visibleTo === users.bob),
  );
  // His own input is echoed to him.
  expect(JSON.stringify([seen, home()[0]?.args]).replaceAll('“unreleased”', '')).not.toMatch(HERS);
  expect(upstream.creates).toBe(2);

  // Details show her file, and never our copy of it.
  const inSecret = () => slack.messages(channels.secret).filter(({ visibleTo }) => visibleTo === users.alice);
  people.press(card.ts, `details:${id}`, { user: users.alice, channel: channels.secret });
  await expect.poll(() => inSecret().map(plainOnSlack).join('\n')).toContain('unreleased.png');
  expect(JSON.stringify(inSecret())).not.toMatch(/relay-|signature=/);

  // She sees her own tasks elsewhere, in ephemeral messages only, and is asked before others can see them.
  expect(await says(users.alice, 'list')).toMatch(/unreleased[\s\S]*|layoffs/);
  expect(await says(users.alice, `retry ${id}`)).toContain('private channel');
  expect(upstream.creates).toBe(2);
  const question = whispers(users.alice).at(-1);
  const order = buttonsOnSlack(question ?? { blocks: [] }).find((button) => button.id.startsWith('order:'));
  people.press(question?.ts ?? '', order?.id ?? '', { user: users.alice });
  await expect.poll(() => upstream.creates).toBe(3);
  await expect.poll(() => cards(channels.general).length).toBe(1);
  // Once it is public, the channel's subscribers are notified.
  await expect.poll(() => slack.messages(slack.dm(users.bob)).map(plainOnSlack).join()).toContain('is ready');
});

test('Discord: private channels and direct messages are visible to their members only', async ({
  upstream,
  discord,
  start,
}) => {
  const { users, channels, people } = discord;
  discord.makePrivate(channels.clips, [users.alice]);
  await start({ ...discord.env, ...LINKS });
  await discord.botReady();
  const bob = { user: users.bob };
  const answer = async (asked: ReturnType<typeof people.slash>): Promise<string> => {
    await discord.answered(asked);
    await expect.poll(() => plainOnDiscord(discord.original(asked) ?? { content: '', components: [] })).not.toBe('');
    return plainOnDiscord(discord.original(asked) ?? { content: '', components: [] });
  };
  const manager = { ...bob, permissions: ['MANAGE_MESSAGES'] } as const;
  expect(await answer(people.slash('video notify', { channel: channels.general }, manager))).toContain('I’ll post in');

  const image = fileOf('unreleased.png', 'image/png', PICTURE);
  const asked = people.slash('video create', { prompt: 'the unreleased film', image }, { channel: channels.clips });
  people.slash('video create', { prompt: 'rumours of layoffs' }, { channel: discord.dm(users.alice) });
  for (const channel of [channels.clips, discord.dm(users.alice)])
    await expect.poll(() => discord.messages(channel).some(({ attachments }) => attachments.length > 0)).toBe(true);
  await expect.poll(() => discord.pings.length).toBe(2);
  expect(upstream.creates).toBe(2);
  const card = discord.original(asked);
  if (card === null) throw new TypeError('no card in the private channel');
  const id = idOfTask(buttonsOnDiscord(card));

  for (const text of attemptsOn(id).filter((one) => !one.includes('--'))) {
    const [command = '', value] = text.split(' ');
    const option = command === 'list' ? 'search' : 'id';
    await answer(people.slash(`video ${command}`, value === undefined ? {} : { [option]: value }, manager));
  }
  await answer(people.slash('video list', { who: users.alice }, bob));
  for (const command of ['status', 'retry', 'cancel']) {
    const offered = people.autocomplete(`video ${command}`, { id: '' }, 'id', manager);
    expect((await discord.answered(offered)).data).toEqual({ choices: [] });
  }
  const seen = [channels.general, channels.thread, discord.dm(users.bob)].flatMap((channel) =>
    discord.messages(channel).filter(({ visibleTo }) => visibleTo === null || visibleTo === users.bob),
  );
  expect(JSON.stringify(seen).replaceAll('“unreleased”', '')).not.toMatch(HERS);
  expect(upstream.creates).toBe(2);

  const details = people.press(card.id, `details:${id}`);
  expect(await answer(details)).toContain('unreleased.png');
  expect(JSON.stringify(discord.original(details))).not.toMatch(/relay-|signature=/);

  expect(await answer(people.slash('video list', {}))).toContain('unreleased');
  const again = people.slash('video retry', { id });
  expect(await answer(again)).toContain('private channel');
  expect(upstream.creates).toBe(2);
  expect(discord.original(again)?.visibleTo).toBe(users.alice);
});
