import { afterEach, beforeEach, expect, test } from 'vitest';
import { slackManifest } from '#adapters/slack/installation/manifest.ts';
import { makeClipsDiffer } from '#test/fakes/clip.ts';
import { keepRunning } from '#test/fakes/discord-program.ts';
import { freePort } from '#test/fakes/ports.ts';
import { type Envelope, type FakeSlack, type Message, startSlack, type View } from '#test/fakes/slack/index.ts';
import { buttonsOf, plainOf } from '#test/fakes/slack-house.ts';
import { type FakeVideoService, startVideoService } from '#test/fakes/video-service.ts';
import { makeDir, type RunningDailies, startDailies } from './dailies.ts';

let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let slack: FakeSlack;
let dailies: RunningDailies;

beforeEach(async () => {
  upstream = await startVideoService();
  dir = await makeDir();
  slack = await startSlack({ manifest: slackManifest(null) });
});

afterEach(async () => {
  await dailies.kill();
  expect(slack.violations).toEqual([]);
  await slack.close();
  await upstream.close();
  await dir.remove();
});

async function start(env: Readonly<Record<string, string>> = {}): Promise<void> {
  const { botToken, appToken, apiUrl } = slack;
  const own = { SLACK_BOT_TOKEN: botToken, SLACK_APP_TOKEN: appToken, SLACK_API_URL: apiUrl };
  dailies = await startDailies({ dir: dir.path, upstream, env: { ...own, ...env } });
  if (env['SLACK_APP_TOKEN'] !== '') await slack.botReady();
}

const everything = (channel = slack.channels.general): readonly Message[] =>
  slack.messages(channel).filter(({ visibleTo }) => visibleTo === null);
/** Returns the messages of tasks: those with buttons. */
const cards = (): readonly Message[] => everything().filter((message) => buttonsOf(message).length > 0);
const clips = (): readonly Message[] => everything().filter(({ fileIds }) => fileIds.length > 0);
const whispers = (): readonly string[] =>
  slack
    .messages(slack.channels.general)
    .filter(({ visibleTo }) => visibleTo === slack.users.alice)
    .map(plainOf);

/** Returns the newest task's message, once there are `count` of them. */
async function card(count = 1): Promise<Message> {
  await expect.poll(() => cards().length).toBe(count);
  return cards().at(-1) as Message;
}

async function says(message: Message, words: string): Promise<void> {
  await expect.poll(() => plainOf(slack.message(message.ts))).toContain(words);
}

/** Waits for the clip in the thread of a task's message, for its link in it, and for the number of mentions so far. */
async function delivered(message: Message, times = 1): Promise<void> {
  const root = message.threadTs ?? message.ts;
  await expect.poll(() => clips().filter(({ threadTs }) => threadTs === root).length).toBe(1);
  await expect.poll(() => JSON.stringify(slack.message(message.ts).blocks)).toContain('/permalinks/files/');
  await expect.poll(() => slack.pings.filter(({ id }) => id === slack.users.alice).length).toBe(times);
}

const buttonOf = (message: Message, label: string): string => {
  const found = buttonsOf(slack.message(message.ts)).find((button) => button.label.startsWith(label));
  if (found === undefined) throw new TypeError(`no button ${label}`);
  return found.id;
};

const wished = (): Record<string, unknown> =>
  JSON.parse(upstream.requests.find(({ method }) => method === 'POST')?.body ?? '{}') as Record<string, unknown>;

test('a command: progress in one message, the clip in its thread, one mention', async () => {
  const letGo = keepRunning(upstream);
  await start();
  const asked = slack.people.slash('/video a red fox in snow, *bold* <!channel> --seconds 6 --aspect 9:16');
  const message = await card();
  await says(message, 'Running · 33 %');
  expect(plainOf(message)).toContain('a red fox in snow, *bold* @channel');
  expect(plainOf(message)).toContain('Swift 1 · 6 s · 9:16 · 720p · $0.30 · alice');
  expect(plainOf(message)).toContain('██████░░░░░░░░░░░░░░');
  expect(slack.pings).toEqual([]);
  letGo();
  await delivered(message);
  expect(slack.files).toMatchObject([{ length: upstream.clip.length, altText: expect.stringContaining('a red fox') }]);
  expect(everything()).toHaveLength(2);
  expect(
    everything()
      .slice(1)
      .every(({ threadTs }) => threadTs === message.ts),
  ).toBe(true);
  expect(upstream.creates).toBe(1);

  const task = buttonOf(message, 'Details').split(':')[1];
  const questions = () =>
    slack.messages(slack.channels.general).filter((one) => one.visibleTo !== null && buttonsOf(one).length > 0);
  // Its outcome is in the chat a moment before that is recorded.
  await expect
    .poll(
      () => {
        if (questions().length === 0) slack.people.slash(`/video delete ${task}`);
        return questions().length;
      },
      { interval: 500 },
    )
    .toBeGreaterThan(0);
  const [question] = questions();
  slack.people.press(question?.ts ?? '', buttonsOf(question as Message)[0]?.id ?? '');
  await says(message, 'This clip was deleted');
  await expect.poll(() => slack.files.map(({ isDeleted }) => isDeleted)).toEqual([true]);
  expect(everything().filter((one) => plainOf(one).includes('a red fox'))).toEqual([]);
  slack.redeliver(asked);
  await expect.poll(() => asked.attempts.filter(({ ackedMs }) => ackedMs === null).length).toBe(0);
  expect(upstream.posts).toBe(1);
});

test('the form: adapts to the model, and orders the submitted values', async () => {
  await start();
  slack.people.slash('/video');
  await expect.poll(() => slack.forms.shown(slack.users.alice)).not.toBeNull();
  const view = slack.forms.shown(slack.users.alice) as View;
  slack.forms.change(view, 'prompt', 'a red fox');
  slack.forms.change(view, 'model', 'epic-pro');
  await expect.poll(() => view.blocks.map((block) => block.block_id)).toContain('seconds:epic-pro');
  slack.forms.submit(view, { image: 'a picture' });
  await expect.poll(() => view.errors['image']).toContain('isn’t a link');
  slack.forms.submit(view, { seconds: '10', image: 'https://127.0.0.1/fox.png' });
  await delivered(await card());
  expect(wished()).toMatchObject({ model: 'epic-pro', prompt: 'a red fox' });
  expect(upstream.creates).toBe(1);
});

test('"Animate this" in a thread: passes the private image on as a signed link', async () => {
  const port = await freePort();
  await start({ PORT: `${port}`, PUBLIC_URL: `http://127.0.0.1:${port}`, LINK_SECRET: 'a secret of this test' });
  const picture = Buffer.from('a picture of a fox');
  const parent = slack.people.say('look at these');
  const file = slack.people.upload({ name: 'fox.png', content: picture });
  const reply = slack.people.say('this one', { files: [file], threadTs: parent.ts });
  slack.people.messageShortcut('animate_this', reply.ts);
  await expect.poll(() => slack.forms.shown(slack.users.alice)).not.toBeNull();
  slack.forms.submit(slack.forms.shown(slack.users.alice) as View, { prompt: 'it runs' });
  const message = await card();
  expect(message.threadTs).toBe(parent.ts);
  await expect.poll(() => slack.pings.length).toBe(1);
  const body = JSON.stringify(wished());
  for (const url of slack.privateUrls) expect(body).not.toContain(url);
  const address = new RegExp(`http://127\\.0\\.0\\.1:${port}/media/relay-[^"]+`).exec(body)?.[0] ?? '';
  expect(Buffer.from(await (await fetch(address)).arrayBuffer())).toEqual(picture);
});

test('a mention: the same in its thread', async () => {
  await start();
  const said = slack.people.mention('a red fox --seconds 4');
  const message = await card();
  expect(message.threadTs).toBe(said.ts);
  await delivered(message);
  expect(wished()).toMatchObject({ prompt: 'a red fox' });
});

test('retry and cancel, by button and by reaction', async () => {
  await start();
  slack.people.slash('/video a red fox');
  const first = await card();
  await delivered(first);
  slack.people.press(first.ts, buttonOf(first, 'Retry'));
  const second = await card(2);
  expect(second.threadTs).toBeNull();
  expect(JSON.stringify(second.blocks)).toContain(`p${first.ts.replace('.', '')}|Another take`);
  await delivered(second, 2);
  slack.people.react(second.ts, 'repeat');
  const third = await card(3);
  await delivered(third, 3);
  // The same reaction counts once, whatever the id of its event.
  slack.people.react(second.ts, 'repeat');
  keepRunning(upstream);
  slack.people.slash('/video a blue fox');
  const fourth = await card(4);
  await says(fourth, 'Running');
  slack.people.press(fourth.ts, buttonOf(fourth, 'Cancel'));
  await says(fourth, 'Cancelled in Dailies');
  slack.people.slash('/video a green fox');
  const fifth = await card(5);
  await says(fifth, 'Running');
  slack.people.react(fifth.ts, 'x', { user: slack.users.bob });
  slack.people.react(fifth.ts, 'x');
  await says(fifth, 'Cancelled in Dailies');
  expect(upstream.creates).toBe(5);
});

test('takes: one card with their clips in its thread; a reaction to one counts for that clip alone', async () => {
  makeClipsDiffer(upstream);
  const { retrieve } = upstream.handlers;
  upstream.handlers.retrieve = (call) => {
    const [first] = upstream.tasks.values();
    if (call.task !== undefined && call.task !== first) call.task.polls = 0;
    retrieve(call);
  };
  await start();
  slack.people.slash('/video a red fox --takes 2');
  const message = await card();
  await delivered(message, 0);
  const [clip] = clips();
  const name = plainOf(clip as Message);
  expect(['Take 1', 'Take 2']).toContain(name);
  // It is in the thread a moment before its message is recorded.
  const react = (emoji: string): void => slack.people.react(clip?.ts ?? '', emoji);
  const answered = () => {
    react('x');
    return whispers().join();
  };
  await expect.poll(answered, { interval: 500 }).toContain('Too late to cancel: the clip is finished.');
  react('repeat');
  await card(2);
  await expect.poll(() => upstream.creates).toBe(3);
  expect(plainOf(slack.message(message.ts))).toContain(`${name === 'Take 1' ? 'Take 2' : 'Take 1'} · Running`);
  upstream.handlers.retrieve = retrieve;
  await says(message, 'Take 1 · Take 2');
  await expect
    .poll(() =>
      clips()
        .filter(({ threadTs }) => threadTs === message.ts)
        .map(plainOf)
        .toSorted(),
    )
    .toEqual(expect.arrayContaining(['Take 1', 'Take 2']));
  await expect.poll(() => slack.pings.length).toBe(2);
});

test('killed midway, it continues with the same message', async () => {
  const letGo = keepRunning(upstream);
  await start();
  const asked = slack.people.slash('/video a red fox');
  const message = await card();
  await says(message, '33 %');
  await dailies.kill();
  letGo();
  await start();
  slack.redeliver(asked);
  await delivered(message);
  expect(cards()).toHaveLength(1);
  expect(upstream.creates).toBe(1);
});

test('duplicate events, before and after a restart: one task each', async () => {
  await start();
  const command = slack.people.slash('/video a red fox');
  slack.redeliver(command);
  const message = await card();
  await delivered(message);
  const press = slack.people.press(message.ts, buttonOf(message, 'Retry'));
  slack.redeliver(press);
  slack.people.mention('a blue fox in the snow');
  await card(3);
  const mention = slack.envelopes.find(({ type }) => type === 'app_mention') as Envelope;
  slack.redeliver(mention);
  // One for each clip, and the mention of the bot itself.
  await expect.poll(() => slack.pings.length).toBe(4);
  // A redelivery may still be in flight when the clip is posted.
  await expect.poll(() => mention.attempts.filter(({ ackedMs }) => ackedMs === null).length).toBe(0);
  await dailies.kill();
  await start();
  for (const envelope of [command, press, mention]) slack.redeliver(envelope, { number: 2 });
  const all = [command, press, mention].flatMap(({ attempts }) => attempts);
  await expect.poll(() => all.filter(({ ackedMs }) => ackedMs === null).length).toBe(0);
  expect(cards()).toHaveLength(3);
  expect(upstream.creates).toBe(3);
});

test('lost responses and rate limits on every method: one message, one clip, one mention', async () => {
  await start();
  slack.dropNextAnswer('chat.postMessage');
  slack.people.slash('/video a red fox');
  const message = await card();
  slack.rateLimit('files.getUploadURLExternal', 1);
  slack.dropNextAnswer('files.completeUploadExternal');
  slack.rateLimit('files.info', 1);
  slack.rateLimit('chat.update', 2);
  await delivered(message);
  slack.rateLimit('chat.postMessage', 1);
  slack.people.slash('/video a blue fox');
  await delivered(await card(2), 2);
  await expect.poll(() => slack.pings.length).toBe(2);
  expect(clips()).toHaveLength(2);
  expect(upstream.creates).toBe(2);
});

test('if Slack refuses the file, the message says why and links the clip', async () => {
  const port = await freePort();
  await start({ PORT: `${port}`, PUBLIC_URL: `http://127.0.0.1:${port}`, LINK_SECRET: 'a secret of this test' });
  slack.fail('files.getUploadURLExternal', 'file_uploads_disabled');
  slack.people.slash('/video a red fox');
  const message = await card();
  await says(message, 'uploads are turned off in this workspace');
  const [, address = ''] = /"(http[^"]+\/media\/[^"]+)"/.exec(JSON.stringify(slack.message(message.ts))) ?? [];
  const clip = await fetch(address);
  expect((await clip.arrayBuffer()).byteLength).toBe(upstream.clip.length);
  await expect.poll(() => slack.pings.length).toBe(1);
});

test('in a channel without the bot, it asks for an invitation, and buys nothing', async () => {
  await start();
  slack.people.slash('/video a red fox', { channel: slack.channels.hidden });
  const hidden = (): string => slack.messages(slack.channels.hidden).map(plainOf).join();
  await expect.poll(hidden).toContain('/invite');
  expect(upstream.posts).toBe(0);
  slack.people.slash('/video a red fox --sekonds 6');
  await expect.poll(() => whispers().join()).toContain('--seconds');
  expect(upstream.posts).toBe(0);
});

test('works over HTTP with signed requests', async () => {
  await slack.close();
  const port = await freePort();
  slack = await startSlack({ manifest: slackManifest(`http://127.0.0.1:${port}`) });
  const { signingSecret: SLACK_SIGNING_SECRET } = slack;
  await start({ SLACK_APP_TOKEN: '', SLACK_SIGNING_SECRET, PORT: `${port}` });
  await slack.useHttp(`${dailies.url}/slack/events`);
  expect(await slack.forge({ kind: 'wrong' })).toBe(401);
  slack.people.slash('/video a red fox');
  const message = await card();
  await delivered(message);
  slack.people.press(message.ts, buttonOf(message, 'Details'));
  await expect.poll(() => whispers().join()).toContain('a red fox');
});

test('exits at once with a clear error if Slack rejects the token', async () => {
  const { runToEnd } = await import('./dailies.ts');
  const { appToken, apiUrl } = slack;
  const env = { SLACK_BOT_TOKEN: 'xoxb-wrong', SLACK_APP_TOKEN: appToken, SLACK_API_URL: apiUrl };
  const { code, output } = await runToEnd({ dir: dir.path, upstream, env });
  expect(code).toBe(1);
  expect(output).toContain('Slack does not accept SLACK_BOT_TOKEN (invalid_auth)');
  expect(output).not.toContain('xoxb-wrong');
  dailies = await startDailies({ dir: dir.path, upstream });
});

test('in the assistant pane, words are bought by one press, and the clip comes to their thread', async () => {
  const letGo = keepRunning(upstream);
  await start();
  const { alice } = slack.users;
  const dm = slack.dm(alice);
  const thread = slack.people.openPane();
  await slack.until(() => slack.calls.some(({ method }) => method === 'assistant.threads.setTitle'), 'the title');
  const here = () =>
    slack.messages(dm).filter(({ threadTs, authorId }) => threadTs === thread.ts && authorId !== alice);
  const shows = (words: string) => here().find((message) => plainOf(message).includes(words));
  slack.people.say('create a red fox that runs through snow', { channel: dm, threadTs: thread.ts });
  await expect.poll(() => shows('Should I make a clip of')?.ts).toBeDefined();
  const question = shows('Should I make a clip of') as Message;
  expect(upstream.posts).toBe(0);

  const order = buttonOf(question, 'Create');
  for (let press = 0; press < 2; press += 1) slack.people.press(question.ts, order);
  await expect.poll(() => slack.status(thread.ts)).toBe('is rendering…');
  letGo();
  await expect.poll(() => here().filter(({ fileIds }) => fileIds.length > 0).length).toBe(1);
  await expect.poll(() => slack.status(thread.ts)).toBe('');
  await expect.poll(() => shows('Done in')?.ts).toBeDefined();
  await expect.poll(() => plainOf(slack.message(question.ts))).not.toContain('Should I make');
  expect(upstream.posts).toBe(1);
});

test('a preview of a posted link to the gallery uses nothing up', async () => {
  await slack.close();
  slack = await startSlack({ manifest: slackManifest('https://dailies.example', 'socket') });
  await start({ PUBLIC_URL: 'https://dailies.example', LINK_SECRET: 'a secret of this test alone' });
  slack.people.slash('/video gallery');
  const link = () =>
    /https:\/\/dailies\.example\/gallery\/open\?key=[\w-]{43}/.exec(
      JSON.stringify(slack.messages(slack.channels.general)),
    );
  await expect.poll(link).not.toBeNull();
  const [url = ''] = link() ?? [];
  const posted = slack.people.say(`mine: ${url}`);
  await expect.poll(() => slack.message(posted.ts).unfurls.size).toBe(1);
  expect(plainOf({ blocks: slack.message(posted.ts).unfurls.get(url) ?? [], text: '' })).toContain('private');
  const body = new URLSearchParams({ key: new URL(url).searchParams.get('key') ?? '' });
  const redeem = () => fetch(`${dailies.url}/gallery/open`, { method: 'POST', body, redirect: 'manual' });
  expect((await redeem()).status).toBe(303);
  // One that was used gets none.
  const again = slack.people.say(`again: ${url}`);
  const told = slack.envelopes.findLast(({ type }) => type === 'link_shared') as Envelope;
  await slack.acknowledged(told);
  expect(slack.message(again.ts).unfurls.size).toBe(0);
  expect((await redeem()).status).toBe(410);
});
