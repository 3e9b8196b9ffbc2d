import { expect } from 'vitest';
import { makeClipsDiffer } from '#test/fakes/clip.ts';
import { plainOf as discordText } from '#test/fakes/discord-house.ts';
import { keepRunning } from '#test/fakes/discord-program.ts';
import { plainOf as slackText } from '#test/fakes/slack-house.ts';
import { test } from './fixtures.ts';

// A channel is archived or deleted while its clips run: each end reaches its requester, once, over a kill.

test('on Slack, the takes of an archived channel go to their requester', async ({ upstream, slack, start }) => {
  const { botToken: SLACK_BOT_TOKEN, appToken: SLACK_APP_TOKEN, apiUrl: SLACK_API_URL } = slack;
  const env = { SLACK_BOT_TOKEN, SLACK_APP_TOKEN, SLACK_API_URL };
  const letGo = keepRunning(upstream);
  makeClipsDiffer(upstream);
  let dailies = await start(env);
  await slack.botReady();
  const { general } = slack.channels;
  const { alice } = slack.users;
  slack.people.slash('/video create a red fox --takes 2', { user: alice });
  const card = () => slack.messages(general).find((message) => slackText(message).includes('Take 2 · Running'));
  await expect.poll(card).toBeDefined();
  slack.archive(general);
  await dailies.kill();
  dailies = await start(env);
  letGo();
  const direct = () => slack.messages(slack.dm(alice));
  await expect.poll(() => direct().filter(({ fileIds }) => fileIds.length > 0)).toHaveLength(2);
  const texts = direct().map(slackText);
  for (const take of ['Take 1', 'Take 2']) expect(texts.filter((text) => text.includes(take))).toHaveLength(1);
  expect(texts.join('\n')).toContain(`<#${general}> is archived, so here is your clip “a red fox”.`);
  await expect.poll(() => direct().map(slackText).join('\n')).toContain('are ready.');
  expect(upstream.posts).toBe(2);
  await dailies.kill();
  dailies = await start(env);
  await expect.poll(() => direct().filter(({ fileIds }) => fileIds.length > 0)).toHaveLength(2);
});

test('on Discord, the takes of a deleted channel go to their requester', async ({ upstream, discord, start }) => {
  const env = { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl };
  const letGo = keepRunning(upstream);
  let dailies = await start(env);
  await discord.botReady();
  const { general } = discord.channels;
  const { alice } = discord.users;
  discord.people.slash('video create', { prompt: 'a red fox', takes: 2 }, { user: alice });
  await expect.poll(() => discord.messages(general).map(discordText).join('|')).toMatch(/Take 2\W+Running/u);
  discord.deleteChannel(general);
  await dailies.kill();
  dailies = await start(env);
  letGo();
  const direct = () => discord.messages(discord.dm(alice));
  await expect.poll(() => direct().flatMap(({ attachments }) => attachments)).toHaveLength(2);
  expect(direct().filter(({ attachments }) => attachments.length > 0)).toHaveLength(1);
  expect(direct().map(discordText).join('\n')).toContain('any more, so this goes to you alone.');
  await expect.poll(() => direct().map(discordText).join('\n')).toContain('are ready.');
  expect(upstream.posts).toBe(2);
});

test('on Slack, the failure of a clip goes to its requester where its channel is archived', async ({
  upstream,
  slack,
  start,
}) => {
  const { botToken: SLACK_BOT_TOKEN, appToken: SLACK_APP_TOKEN, apiUrl: SLACK_API_URL } = slack;
  const { general } = slack.channels;
  const { alice } = slack.users;
  const { retrieve } = upstream.handlers;
  keepRunning(upstream);
  await start({ SLACK_BOT_TOKEN, SLACK_APP_TOKEN, SLACK_API_URL });
  await slack.botReady();
  slack.people.slash('/video create a red fox', { user: alice });
  await expect.poll(() => slack.messages(general).map(slackText).join('|')).toContain('Running');
  slack.archive(general);
  upstream.handlers.retrieve = (call) => {
    const failure = { code: 'generation_failed', message: 'too dark' };
    if (call.task !== undefined) Object.assign(call.task, { status: 'failed', failure });
    retrieve(call);
  };
  const direct = () => slack.messages(slack.dm(alice)).map(slackText).join('\n');
  await expect.poll(direct).toContain('any more, so this goes to you alone.');
  await expect.poll(direct).toContain('could not be made.');
  expect(direct()).toContain('too dark');
});
