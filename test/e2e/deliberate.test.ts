import { describe, expect } from 'vitest';
import { accessSentence } from '#commands/sentences/access.ts';
import type { FakeDiscord, Interaction } from '#test/fakes/discord/index.ts';
import { buttonsOf as buttonsOnDiscord, plainOf as plainOnDiscord } from '#test/fakes/discord-house.ts';
import { Onlooker } from '#test/fakes/discord-program.ts';
import type { FakeSlack } from '#test/fakes/slack/index.ts';
import { buttonsOf as buttonsOnSlack, plainOf as plainOnSlack, whispersTo } from '#test/fakes/slack-house.ts';
import { FLAGS_IN_PROMPTS, MISSPELT } from '#test/fakes/slips.ts';
import { test } from './fixtures.ts';

// Orders that were not intended, or not permitted, are never bought: counted by the POSTs that reach the video service.

const SLIPS = [...MISSPELT, ...FLAGS_IN_PROMPTS];

describe('on Slack', () => {
  const ephemeralsOf = (slack: FakeSlack) => (user: string) => whispersTo(slack, user);

  test('asks about misspelt commands and options, privately and with a next step', async ({
    upstream,
    slack,
    start,
  }) => {
    await start(slack.env);
    await slack.botReady();
    const { alice } = slack.users;
    const ephemeralTo = ephemeralsOf(slack);
    for (const [at, text] of SLIPS.entries()) {
      slack.people.slash(`/video ${text}`);
      await expect.poll(() => ephemeralTo(alice).length, { message: text }).toBe(at + 1);
      const answer = ephemeralTo(alice)[at] ?? { blocks: [], text: '' };
      expect([text, plainOnSlack(answer)]).toEqual([text, expect.stringMatching(/\/video|option|prompt|clip/i)]);
    }
    expect(upstream.posts).toBe(0);
    // Its button submits the text as a prompt after all.
    const { ts, blocks } = ephemeralTo(alice)[0] ?? { ts: '', blocks: [] };
    const create = buttonsOnSlack({ blocks }).find(({ id }) => id.startsWith('order:'));
    slack.people.press(ts, create?.id ?? '');
    await expect.poll(() => upstream.creates).toBe(1);
  });

  test('refuses guests and users of another organisation privately, for every command', async ({
    upstream,
    slack,
    start,
  }) => {
    await start(slack.env);
    await slack.botReady();
    const ephemeralTo = ephemeralsOf(slack);
    const { people, users, channels } = slack;
    people.slash('/video create a red fox in snow');
    const done = () =>
      slack
        .messages(channels.general)
        .map(({ ts, blocks }) => ({
          ts,
          retry: buttonsOnSlack({ blocks }).find(({ id }) => id.startsWith('retry:'))?.id,
        }))
        .find(({ retry }) => retry !== undefined);
    await expect.poll(done).toBeDefined();
    const { ts = '', retry = '' } = done() ?? {};
    for (const [user, reason] of [
      [users.gwen, 'guest'],
      [users.erin, 'external'],
    ] as const) {
      people.mention('a red fox running through snow', { user });
      people.press(ts, retry, { user });
      people.react(ts, 'repeat', { user });
      people.messageShortcut('animate_this', ts, { user });
      await expect.poll(() => ephemeralTo(user).length).toBe(4);
      expect(ephemeralTo(user).map((one) => plainOnSlack(one) || one.text)).toEqual(
        Array.from({ length: 4 }, () => accessSentence({ reason })),
      );
    }
    people.slash('/video create a red fox in snow', { user: users.gwen });
    await expect.poll(() => ephemeralTo(users.gwen).length).toBe(5);
    expect(upstream.posts).toBe(1);
    people.slash('/video create a lighthouse in fog');
    await expect.poll(() => upstream.posts).toBe(2);
  });
});

describe('on Discord', () => {
  const answer = async (discord: FakeDiscord, asked: Interaction): Promise<string> => {
    const said = () => plainOnDiscord(discord.original(asked) ?? { content: '', components: [] });
    await expect.poll(said).not.toBe('');
    expect(discord.original(asked)?.visibleTo).toBe(asked.userId);
    return said().trim();
  };

  test('asks about options inside a prompt, privately and with a next step', async ({ upstream, discord, start }) => {
    await start(discord.env);
    const look = new Onlooker(discord);
    for (const prompt of FLAGS_IN_PROMPTS) {
      const asked = await look.create({ prompt });
      expect([prompt, await answer(discord, asked)]).toEqual([prompt, expect.stringMatching(/option|seconds/)]);
      expect(buttonsOnDiscord(discord.original(asked) ?? { components: [] }).map(({ id }) => id)).toEqual(
        expect.arrayContaining([expect.stringMatching(/^(order|fix):/)]),
      );
    }
    expect(upstream.posts).toBe(0);
  });

  test('refuses other servers, a private installation and users of no allowed server privately', async ({
    upstream,
    discord,
    start,
  }) => {
    await start(discord.env);
    const look = new Onlooker(discord);
    const { channels, users, people } = discord;
    await discord.botReady();
    const prompt = 'a red fox in snow';
    const refused = [
      { channel: discord.channelOn(0) },
      { channel: discord.dm(users.dora), user: users.dora },
      { channel: channels.elsewhere, user: users.carol },
      { channel: channels.group, user: users.carol },
    ];
    // As an earlier start may have registered them: without restrictions.
    for (const command of discord.commands())
      Object.assign(command, { integration_types: [0, 1], contexts: [0, 1, 2] });
    for (const circumstances of refused) await answer(discord, people.slash('video create', { prompt }, circumstances));
    expect(upstream.posts).toBe(0);
    await look.delivered((await look.card(people.slash('video create', { prompt }))).id);
    expect(upstream.posts).toBe(1);
  });
});

test('in the playground, asks about misspelt commands and options, privately and with a next step', async ({
  upstream,
  start,
}) => {
  const dailies = await start();
  for (const text of SLIPS) {
    const { status, body } = await dailies.interact(`/video ${text}`);
    const message = body.message === undefined ? undefined : await dailies.message(body.message);
    expect([text, status, message?.visibleTo, message?.task]).toEqual([text, 202, 'ana', null]);
    expect([text, message?.text]).toEqual([text, expect.stringMatching(/\/video|option|prompt|clip/i)]);
  }
  expect(upstream.posts).toBe(0);
});
