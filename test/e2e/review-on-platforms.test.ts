import { expect } from 'vitest';
import { buttonsOf as discordButtons, plainOf as discordText } from '#test/fakes/discord-house.ts';
import type { View } from '#test/fakes/slack/index.ts';
import { buttonsOf as slackButtons, plainOf as slackText } from '#test/fakes/slack-house.ts';
import { test } from './fixtures.ts';

// A review over the wire of each chat: its form, its thread, its files. The chat page is in `gallery-page.test.ts`.

const PROMPT = 'a red fox in the fog';

test('on Discord, a note is a reply that pings the requester, and the signed-off clip is posted once', async ({
  discord,
  start,
}) => {
  const { alice, bob, carol } = discord.users;
  const { general, clips } = discord.channels;
  await start(discord.env);
  await discord.botReady();
  const asked = discord.people.slash(
    'video-admin review',
    { state: 'on', post_to: clips },
    { user: carol, permissions: ['MANAGE_GUILD'] },
  );
  const answer = () => discordText(discord.original(asked) ?? { content: '', components: [] });
  await discord.until(() => answer().includes('Saved.'), 'the settings');
  discord.people.slash('video create', { prompt: PROMPT, seconds: 4 }, { user: alice });
  const shown = (channel = general) => discord.messages(channel).filter(({ visibleTo }) => visibleTo === null);
  const find = (label: string) =>
    shown().flatMap((message) =>
      discordButtons(message).flatMap((button) => (button.label === label ? [{ message, button }] : [])),
    )[0];
  await discord.until(() => find('Sign off') !== undefined, 'the clip');
  const { message, button } = find('Request changes') ?? { message: undefined, button: undefined };
  const opened = discord.people.press(message?.id ?? '', button?.id ?? '', { user: bob });
  expect((await discord.answered(opened)).type).toBe(9);
  discord.people.submitModal(opened, { at: '0:03', note: 'too *dark*' });
  const notes = () => shown().filter(({ replyTo, content }) => replyTo === message?.id && content.includes('dark'));
  await discord.until(() => notes().length === 1, 'the note');
  expect(discord.pings.filter(({ messageId }) => messageId === notes()[0]?.id)).toMatchObject([{ id: alice }]);
  await discord.until(() => discordText(discord.message(message?.id ?? '')).includes('requested changes'), 'the card');
  const { button: sign } = find('Sign off') ?? { button: undefined };
  discord.people.press(message?.id ?? '', sign?.id ?? '', { user: bob });
  await discord.until(() => shown(clips).length === 1, 'the signed-off clip');
  expect(shown(clips)[0]).toMatchObject({ attachments: [{ contentType: 'video/mp4' }] });
  await discord.until(() => find('Sign off') === undefined, 'the card');
});

test('on Slack, a note is in the clip’s thread, its form keeps what is refused, and the signed-off clip is posted once', async ({
  slack,
  start,
}) => {
  const { alice, bob, carol } = slack.users;
  const { general, clips } = slack.channels;
  slack.setAdmin(carol, 'is_admin');
  await start(slack.env);
  await slack.botReady();
  slack.people.slash(`/video review on --post_to <#${clips}|clips>`, { user: carol });
  await slack.until(() => slack.messages(general).map(slackText).join('\n').includes('Saved.'), 'the settings');
  slack.people.slash(`/video create ${PROMPT} --seconds 4`, { user: alice });
  const find = (label: string) =>
    slack
      .messages(general)
      .flatMap((message) =>
        slackButtons(message).flatMap((button) => (button.label === label ? [{ message, button }] : [])),
      )[0];
  await slack.until(() => find('Sign off') !== undefined, 'the clip');
  const { message, button } = find('Request changes') ?? { message: undefined, button: undefined };
  slack.people.press(message?.ts ?? '', button?.id ?? '', { user: bob });
  await slack.until(() => slack.forms.shown(bob) !== null, 'the form');
  const view = slack.forms.shown(bob) as View;
  slack.forms.submit(view, { note: '0:09 too *dark*' });
  await expect.poll(() => view.errors['note']).toContain('0:09 is after the end of this clip.');
  slack.forms.submit(view, { note: '0:03 too *dark*' });
  const notes = () =>
    slack.messages(general).filter((one) => slackText(one).includes('dark') && one.ts !== message?.ts);
  await slack.until(() => notes().some(({ visibleTo }) => visibleTo === null), 'the note');
  expect(notes()).toMatchObject([{ threadTs: message?.ts }]);
  expect(slack.pings.at(-1)).toMatchObject({ id: alice });
  const signOff = () => find('Sign off')?.button.id ?? '';
  await slack.until(() => signOff().endsWith(':1'), 'the card');
  slack.people.press(message?.ts ?? '', signOff(), { user: bob });
  const posted = () => slack.messages(clips).filter(({ fileIds }) => fileIds.length === 1);
  await slack.until(() => posted().length === 1, 'the signed-off clip');
  expect(slack.messages(clips).map(slackText).join('\n')).toContain(`Signed off: v1 of “${PROMPT}”`);
  await slack.until(() => find('Sign off') === undefined, 'the card');
});
