import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createCanvas, loadImage } from '@napi-rs/canvas';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FakeDiscord, type FakeDiscordOptions, fileOf, startDiscord } from '#test/fakes/discord/index.ts';
import { buttonsOf, plainOf } from '#test/fakes/discord-house.ts';
import { ffmpeg, keepRunning, Onlooker, realClip } from '#test/fakes/discord-program.ts';
import { type FakeVideoService, startVideoService } from '#test/fakes/video-service.ts';
import { PROGRAM_ENV } from '../fakes/program-env.ts';
import { makeDir, type RunningDailies, startDailies } from './dailies.ts';

let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let discord: FakeDiscord;
let look: Onlooker;
let dailies: RunningDailies;

beforeEach(async () => {
  upstream = await startVideoService();
  dir = await makeDir();
  await startFake();
});

afterEach(async () => {
  await dailies.kill();
  expect(discord.violations).toEqual([]);
  expect(discord.vanished).toEqual([]);
  await discord.close();
  await upstream.close();
  await dir.remove();
});

async function startFake(options: FakeDiscordOptions = {}): Promise<void> {
  discord = await startDiscord(options);
  look = new Onlooker(discord);
}

async function start(env: Readonly<Record<string, string>> = {}): Promise<void> {
  const own = { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl };
  dailies = await startDailies({ dir: dir.path, upstream, env: { ...own, ...env } });
}

const NOTHING = { content: '', components: [] };
const png = fileOf('fox.png', 'image/png', Buffer.from('89504e470d0a1a0a', 'hex'));
const mp3 = fileOf('wind.mp3', 'audio/mpeg', Buffer.from('ID3'));
const mp4 = fileOf('snow.mp4', 'video/mp4', Buffer.from('ftyp'));

test('every option and attachments: progress, then the clip, then one mention', async () => {
  const letGo = keepRunning(upstream);
  await start();
  const asked = await look.create({
    prompt: 'a red fox in snow, **bold** @everyone',
    model: 'epic-pro',
    seconds: 10,
    aspect: '16:9',
    resolution: '1080p',
    image: png,
    image2: png,
    audio: mp3,
    video: mp4,
    image_url: 'https://127.0.0.1/a.png https://127.0.0.1/b.png',
  });
  const card = await look.card(asked);
  const running = await look.says(card.id, 'Running · 33 %');
  expect(plainOf(running)).toContain('a red fox in snow, **bold** @everyone');
  const references = '4 reference images · 1 reference audio file · 1 reference video';
  expect(plainOf(running)).toContain(`Epic Pro · 10 s · 16:9 · 1080p · ${references} · $1.20 · alice`);
  expect(plainOf(running)).toContain('██████░░░░░░░░░░░░░░');
  letGo();
  const done = await look.delivered(card.id);
  expect(done.attachments[0]).toMatchObject({
    bytes: upstream.clip.length,
    description: expect.stringContaining('fox'),
  });
  const mention = await look.mentioned(discord.users.alice);
  expect(mention).toMatchObject({ replyTo: card.id });
  expect(discord.pings).toHaveLength(1);
  const sent = JSON.parse(upstream.requests.find(({ method }) => method === 'POST')?.body ?? '{}') as Record<
    string,
    unknown
  >;
  expect(JSON.stringify(sent)).toContain('https://127.0.0.1/b.png');
  expect(JSON.stringify(sent).match(/\/cdn\/attachments\//g)).toHaveLength(4);
  expect(upstream.creates).toBe(1);
});

test('the interaction token expires midway: continues with the bot token after one failed call', async () => {
  const letGo = keepRunning(upstream);
  await start();
  const card = await look.card(await look.create());
  await look.says(card.id, '33 %');
  discord.expireTokens();
  letGo();
  await look.delivered(card.id);
  await look.mentioned(discord.users.alice);
  expect(discord.interactions.map(({ usesAfterExpiry }) => usesAfterExpiry)).toEqual([1]);
});

test('killed midway, it continues with the same message', async () => {
  const letGo = keepRunning(upstream);
  await start();
  const card = await look.card(await look.create());
  await look.says(card.id, '33 %');
  await dailies.kill();
  discord.expireTokens();
  letGo();
  await start();
  await look.delivered(card.id);
  await look.mentioned(discord.users.alice);
  expect(upstream.creates).toBe(1);
  expect(discord.messages(discord.channels.general)).toHaveLength(2);
  expect(discord.commandWrites).toBe(1);
  expect(discord.gateway).toMatchObject({ identifies: 1, resumes: 1 });
});

test('stopped right after a command, it leaves nothing unanswered', async () => {
  await start();
  const asked = await look.create();
  expect(await dailies.stop()).toBe(0);
  expect(asked.answer).not.toBeNull();
  await start();
  await look.delivered((await look.card(asked)).id);
  await look.mentioned(discord.users.alice);
  expect(upstream.creates).toBe(1);
  expect(discord.gateway).toMatchObject({ identifies: 1, resumes: 1 });
});

test('12 MB with an upload limit of 10 MB: attaches a smaller copy', async () => {
  await upstream.close();
  upstream = await startVideoService({ clip: await realClip(dir.path, 12 * 1024 ** 2) });
  await start({ FFMPEG_PATH: ffmpeg });
  const card = await look.card(
    await look.create({ prompt: 'a red fox', seconds: 4 }, { attachmentSizeLimit: 10 * 1024 ** 2 }),
  );
  const done = await look.delivered(card.id);
  expect(done.attachments[0]?.bytes).toBeLessThanOrEqual(10 * 1024 ** 2);
  expect(plainOf(done)).toContain('a smaller copy');
  await look.mentioned(discord.users.alice);
});

/** Deletes the clip of a message as its requester: asks, then confirms. */
async function deleteClip(message: string): Promise<void> {
  const task =
    buttonsOf(discord.message(message))
      .find(({ id }) => id.startsWith('details:'))
      ?.id.split(':')[1] ?? '';
  // Its outcome is in the chat a moment before that is recorded.
  const ask = () => look.card(discord.people.slash('video delete', { id: task }));
  await expect.poll(async () => buttonsOf(await ask()).length, { timeout: 300_000, interval: 100 }).toBe(1);
  const question = await ask();
  expect(question.visibleTo).toBe(discord.users.alice);
  discord.people.press(question.id, buttonsOf(question)[0]?.id ?? '');
  await look.says(message, 'This clip was deleted');
}

test('the same interaction twice, a double press and two reactions: one task each; a deleted one is not made again', async () => {
  await start();
  const asked = await look.create();
  discord.redeliver(asked);
  const card = await look.card(asked);
  await look.delivered(card.id);
  await look.mentioned(discord.users.alice);
  expect(upstream.creates).toBe(1);
  const retry = buttonsOf(discord.message(card.id)).find(({ label }) => label.startsWith('Retry · $'))?.id ?? '';
  const presses = [discord.people.press(card.id, retry), discord.people.press(card.id, retry)];
  await Promise.all(presses.map((press) => discord.answered(press)));
  discord.people.react(card.id, '🔁');
  discord.people.react(card.id, '🔁', { user: discord.users.bob });
  discord.people.react(card.id, '🔁', { user: discord.users.bob });
  await look.mentioned(discord.users.alice, 2);
  expect(upstream.creates).toBe(2);

  await deleteClip(card.id);
  const replies = discord
    .messages(discord.channels.general)
    .filter(({ replyTo, visibleTo }) => replyTo === card.id && visibleTo === null);
  // The retry, which replies to it as well, is a clip of its own.
  const left = [discord.message(card.id), ...replies.filter(({ attachments }) => attachments.length === 0)];
  expect(left.filter((message) => plainOf(message).includes('a red fox'))).toEqual([]);
  expect(discord.message(card.id).attachments).toEqual([]);
  expect(discord.takeVanished().map(({ messageId }) => messageId)).toEqual([card.id]);
  discord.redeliver(asked);
  expect(buttonsOf(discord.message(card.id))).toEqual([]);
  // By the time of a later answer, the redelivered order is handled.
  expect(plainOf(await look.card(discord.people.slash('video usage')))).toContain('$0.40');
  expect(upstream.posts).toBe(2);
});

describe('the gateway', () => {
  test('resumes a broken connection, and answers the interactions of the meantime', async () => {
    await start();
    await look.delivered((await look.card(await look.create())).id);
    discord.breakGateway();
    const asked = discord.people.slash('video create', { prompt: 'an owl' });
    // A machine that takes over 3 s to reconnect is too late for a response: then the clip is offered.
    const offer = () => discord.messages(discord.channels.general).find((one) => plainOf(one).includes('You asked'));
    const isAnswered = () => plainOf(discord.original(asked) ?? { content: '', components: [] }) !== '';
    await discord.until(() => isAnswered() || offer() !== undefined, 'an answer or an offer');
    const late = offer();
    const create = late === undefined ? undefined : buttonsOf(late).find(({ label }) => label.startsWith('Create'));
    const ordered = late === undefined ? asked : discord.people.press(late.id, create?.id ?? '');
    await look.delivered((await look.card(ordered)).id);
    expect(discord.gateway).toMatchObject({ identifies: 1, resumes: 1 });
    await look.mentioned(discord.users.alice, 2);
  });

  test('keeps the session after a refused connection', async () => {
    await start();
    await look.create().then((asked) => look.card(asked));
    discord.closeGateway(4000, { refuse: 2 });
    await discord.until(() => discord.gateway.resumes === 1, 'a resumed session');
    expect(discord.gateway.identifies).toBe(1);
    await look.mentioned(discord.users.alice);
  });

  test('starts a new session when one is invalidated right after a resume', async () => {
    await start();
    await look.create().then((asked) => look.card(asked));
    discord.breakGateway();
    await discord.until(() => discord.gateway.resumes === 1, 'a resumed session');
    discord.invalidSession();
    await discord.until(() => discord.gateway.identifies === 2, 'a new session');
    const asked = discord.people.slash('video create', { prompt: 'an owl' });
    await look.delivered((await look.card(asked)).id);
    await look.mentioned(discord.users.alice, 2);
  });
});

describe('other channels', () => {
  test('works in a thread and in a direct message', async () => {
    await start();
    for (const channel of [discord.channels.thread, discord.dm(discord.users.bob)]) {
      const asked = await look.create({ prompt: 'an owl' }, { channel, user: discord.users.bob });
      const card = await look.card(asked);
      await look.delivered(card.id);
      await expect.poll(() => discord.messages(channel).length).toBe(2);
    }
    expect(discord.pings.map(({ id }) => id)).toEqual([discord.users.bob, discord.users.bob]);
  });

  test('counts a thread towards the budget of its channel', async () => {
    await start();
    const { general, thread } = discord.channels;
    const as = { permissions: ['MANAGE_GUILD'] as const };
    const administer = async (options: Readonly<Record<string, string | boolean>>) => {
      await discord.botReady();
      const asked = discord.people.slash('video-admin budget', options, as);
      return plainOf(await look.card(asked));
    };
    expect(await administer({ channel: general, amount: '0.30 USD' })).toContain('$0.30');
    expect(await administer({ channel: thread, amount: '5 USD' })).toContain('count towards the budget of its channel');
    const card = await look.card(await look.create({ prompt: 'an owl' }, { channel: thread }));
    await look.delivered(card.id);
    for (const channel of [general, thread]) {
      await look.create({ prompt: 'an owl' }, { channel });
      const said = () => discord.messages(channel).map(plainOf).join('\n');
      await expect.poll(said).toMatch(/this channel’s \w+ budget: \$0\.10 of \$0\.30 left/u);
    }
    expect(upstream.posts).toBe(1);
    expect(await administer({ channel: general, amount: '0.60 USD' })).toContain('$0.20 of $0.60 used');
    discord.people.react(card.id, '🔁', { channel: thread });
    await expect.poll(() => upstream.posts).toBe(2);
    await expect.poll(() => administer({})).toContain('$0.40 of $0.60 used');
  });

  test('user-installed: delivers clip and mention through the interaction alone', async () => {
    await start({ DISCORD_USER_INSTALL: 'on' });
    for (const channel of [discord.channels.group, discord.channels.elsewhere]) {
      const card = await look.card(await look.create({ prompt: 'an owl' }, { channel }));
      await look.delivered(card.id);
      await expect.poll(() => discord.messages(channel).length).toBe(2);
    }
    expect(discord.pings).toHaveLength(2);
  });

  test('without the Attach Files permission, it says so and buys nothing', async () => {
    await start();
    discord.deny(discord.channels.general, ['ATTACH_FILES']);
    const answer = await look.card(await look.create());
    expect(answer.visibleTo).toBe(discord.users.alice);
    expect(plainOf(answer)).toContain('Attach Files');
    expect(upstream.posts).toBe(0);
  });

  test('another channel without a permission: reported at the command, not when a clip is ready', async () => {
    await start();
    await discord.botReady();
    discord.deny(discord.channels.clips, ['SEND_MESSAGES']);
    const manager = { permissions: ['MANAGE_MESSAGES'] } as const;
    const asked = discord.people.slash('video notify', { channel: discord.channels.clips }, manager);
    expect(plainOf(await look.card(asked))).toContain('Send Messages');
    // Text needs no permission to attach files.
    discord.deny(discord.channels.clips, ['ATTACH_FILES']);
    await look.card(discord.people.slash('video notify', { channel: discord.channels.clips }, manager));
    await look.create();
    await expect.poll(() => discord.messages(discord.channels.clips).length).toBe(1);
    expect(discord.messages(discord.channels.clips)[0]?.content).toContain('is ready');
    // No user is mentioned there a second time.
    await look.mentioned(discord.users.alice);
  });
});

test('autocomplete suggests models with their prices, and the lengths of the model', async () => {
  await start();
  await discord.botReady();
  const models = discord.people.autocomplete('video create', { model: '' }, 'model');
  const { data } = await discord.answered(models);
  expect(JSON.stringify(data)).toContain('Swift 1');
  expect(JSON.stringify(data)).toContain('$0.05');
  const lengths = discord.people.autocomplete('video create', { model: 'epic-pro', seconds: '' }, 'seconds');
  expect((await discord.answered(lengths)).data).toMatchObject({
    choices: [{ value: 5 }, { value: 10 }, { value: 15 }],
  });
});

test('/clip: one clip, one mention, and a question about an option in the prompt, as /video create', async () => {
  await start();
  await discord.botReady();
  const { people, users } = discord;
  const card = await look.card(people.slash('clip', { prompt: 'a red fox', seconds: 4, image: png }));
  expect(plainOf(await look.delivered(card.id))).toMatch(/a red fox[\s\S]*Swift 1 · 4 s/);
  await look.mentioned(users.alice);
  const slip = people.slash('clip', { prompt: 'a red fox --seconds 4' });
  await discord.answered(slip);
  const question = discord.original(slip);
  expect(question?.visibleTo).toBe(users.alice);
  expect(buttonsOf(question ?? { components: [] }).map(({ label }) => label)).toContainEqual(
    expect.stringContaining('$'),
  );
  expect(upstream.creates).toBe(1);
  const help = people.slash('video help', { command: 'clip' });
  await discord.answered(help);
  const shown = plainOf(discord.original(help) ?? { content: '', components: [] });
  expect(shown).toContain('In short: `/clip`, with prompt, model, seconds, aspect and image.');
  expect(shown).toContain('For example: `/clip prompt:a red fox in snow seconds:6`');
});

test('Animate this: opens a form and creates a clip of that image', async () => {
  await start();
  await discord.botReady();
  const said = discord.people.say('look', [png], { user: discord.users.bob });
  const opened = discord.people.messageCommand('Animate this', said.id);
  await discord.answered(opened);
  const sent = discord.people.submitModal(opened, { prompt: 'it comes alive', seconds: ['8'] });
  const card = await look.card(sent);
  expect(plainOf(card)).toMatch(/it comes alive[\s\S]*Swift 1 · 8 s/);
  await look.delivered(card.id);
  expect(upstream.requests.find(({ method }) => method === 'POST')?.body).toContain('/cdn/attachments/');
  await look.mentioned(discord.users.alice);
  const none = discord.people.messageCommand('Animate this', discord.people.say('no picture').id);
  await discord.answered(none);
  expect(plainOf(discord.original(none) ?? { content: '', components: [] })).toContain('no image');
});

test('Make a storyboard of this: the form has the lines of a message and its text file, and leads to a question', async () => {
  await start();
  await discord.botReady();
  const { people, users } = discord;
  const file = fileOf('more.txt', 'text/plain', Buffer.from('it sleeps'));
  const said = people.say('1. a fox wakes\n2. it runs --seconds 4', [file, png], { user: users.bob });
  const opened = people.messageCommand('Make a storyboard of this', said.id);
  const { type, data } = await discord.answered(opened);
  expect(type).toBe(9);
  expect(JSON.stringify(data)).toContain(JSON.stringify('1. a fox wakes\n2. it runs --seconds 4\nit sleeps'));
  const sent = people.submitModal(opened);
  await discord.answered(sent);
  await discord.until(() => plainOf(discord.original(sent) ?? NOTHING).includes('$'), 'the price');
  const question = discord.original(sent);
  expect(question?.visibleTo).toBe(users.alice);
  expect(upstream.creates).toBe(0);
  const create = buttonsOf(question ?? NOTHING).find(({ label }) => label.includes('$'))?.id ?? '';
  people.press(question?.id ?? '', create);
  people.press(question?.id ?? '', create);
  await look.mentioned(users.alice);
  expect(upstream.creates).toBe(3);
});

test('Another take: asks its price, and makes one take; a message without a clip is refused', async () => {
  await start();
  await discord.botReady();
  const { people, users } = discord;
  const first = await look.delivered((await look.card(await look.create())).id);
  await look.mentioned(users.alice);
  const asked = people.messageCommand('Another take', first.id);
  await discord.answered(asked);
  const question = discord.original(asked);
  expect(question?.visibleTo).toBe(users.alice);
  expect(upstream.creates).toBe(1);
  const create = buttonsOf(question ?? NOTHING).find(({ label }) => label.includes('$'))?.id ?? '';
  people.press(question?.id ?? '', create);
  people.press(question?.id ?? '', create);
  await look.mentioned(users.alice, 2);
  expect(upstream.creates).toBe(2);
  // Of another person’s clip, as with Retry.
  const strange = people.messageCommand('Another take', first.id, { user: users.bob });
  await discord.answered(strange);
  expect(plainOf(discord.original(strange) ?? NOTHING)).toContain('/video retry');
  const none = people.messageCommand('Another take', people.say('no clip').id);
  await discord.answered(none);
  expect(plainOf(discord.original(none) ?? NOTHING)).toContain('isn’t the message of a clip');
  expect(upstream.creates).toBe(2);
});

test('Show this person’s clips: their clips, to the caller alone', async () => {
  await start();
  await discord.botReady();
  const { people, users } = discord;
  await look.delivered((await look.card(await look.create())).id);
  await look.mentioned(users.alice);
  const asked = people.userCommand('Show this person’s clips', users.alice, { user: users.bob });
  await discord.answered(asked);
  const shown = discord.original(asked);
  expect(shown?.visibleTo).toBe(users.bob);
  expect(plainOf(shown ?? NOTHING)).toMatch(/Clips by alice[\s\S]*a red fox in snow/);
  const nobody = people.userCommand('Show this person’s clips', users.bob);
  await discord.answered(nobody);
  expect(plainOf(discord.original(nobody) ?? NOTHING)).toContain('No clips found.');
});

test('Edit & retry: the form has the old values and creates a new task', async () => {
  await start();
  const card = await look.card(await look.create());
  await look.delivered(card.id);
  await look.mentioned(discord.users.alice);
  const edit = buttonsOf(discord.message(card.id)).find(({ label }) => label === 'Edit & retry')?.id ?? '';
  const opened = discord.people.press(card.id, edit);
  const { type, data } = await discord.answered(opened);
  expect(type).toBe(9);
  expect(JSON.stringify(data)).toContain('a red fox in snow');
  const again = await look.card(discord.people.submitModal(opened, { seconds: ['4'] }));
  expect(plainOf(again)).toMatch(/a red fox in snow[\s\S]*Swift 1 · 4 s/);
  await look.delivered(again.id);
  await look.mentioned(discord.users.alice, 2);
});

test('npm run commands registers all commands, even unchanged ones, and prints the invite link', async () => {
  await start();
  await discord.until(() => discord.commandWrites === 1, 'the commands');
  const script = new URL('../../adapters/discord/registration/cli.ts', import.meta.url).pathname;
  const env = { ...PROGRAM_ENV, DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl };
  const { stdout } = await promisify(execFile)(process.execPath, [script], { cwd: dir.path, env });
  const [first, , link = ''] = stdout.split('\n');
  expect(first).toBe('Discord: 7 commands are registered for all servers. Open this link to add the bot to a server:');
  const { searchParams } = new URL(link);
  expect(searchParams.get('client_id')).toBe(discord.applicationId);
  expect(searchParams.get('permissions')).toBe('309237746688');
  expect(searchParams.get('scope')).toBe('bot applications.commands');
  expect(discord.commandWrites).toBe(2);
});

test('relays Discord attachments when signed links are enabled', async () => {
  await start({ PUBLIC_URL: 'https://dailies.example', LINK_SECRET: 'a secret of this test' });
  await look.create({ prompt: 'a fox', image: png });
  await look.mentioned(discord.users.alice);
  const sent = upstream.requests.find(({ method }) => method === 'POST')?.body ?? '';
  const relayed = /https:\/\/dailies\.example(\/media\/relay-[^"\\]+)/.exec(sent)?.[1] ?? '';
  const file = await fetch(`${dailies.url}${relayed}`);
  expect(file.status).toBe(200);
  expect(file.headers.get('content-type')).toBe('image/png');
  expect(Buffer.from(await file.arrayBuffer())).toEqual(png.content);
});

test('pictures of a clip: signed links, in a list and under Details, that end with it', async () => {
  await upstream.close();
  upstream = await startVideoService({ clip: await realClip(dir.path, 300_000) });
  await start({ FFMPEG_PATH: ffmpeg, PUBLIC_URL: 'https://dailies.example', LINK_SECRET: 'a secret of this test' });
  const card = await look.card(await look.create());
  await look.delivered(card.id);
  await look.mentioned(discord.users.alice);
  const listed = async () => JSON.stringify((await look.card(discord.people.slash('video list'))).components);
  const pictureIn = (list: string) => /"type":11,"media":\{"url":"https:\/\/dailies\.example([^"]*)"/.exec(list)?.[1];
  await expect.poll(async () => pictureIn(await listed()), { interval: 100, timeout: 300_000 }).toBeDefined();
  const path = pictureIn(await listed()) ?? '';
  const picture = await fetch(`${dailies.url}${path}`);
  expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
  expect((await fetch(`${dailies.url}${path.replace('.jpg', '')}`)).status).toBe(404);
  const details = buttonsOf(discord.message(card.id)).find(({ id }) => id.startsWith('details:'))?.id ?? '';
  const shown = JSON.stringify((await look.card(discord.people.press(card.id, details))).components);
  const strip = /dailies\.example(\/media\/[^"]*\.strip\.jpg[^"]*)/.exec(shown)?.[1] ?? '';
  const frames = await fetch(`${dailies.url}${strip}`);
  expect(await loadImage(await frames.arrayBuffer())).toMatchObject({ width: 1280, height: 180 });
  await deleteClip(card.id);
  expect(discord.takeVanished().map(({ messageId }) => messageId)).toEqual([card.id]);
  for (const one of [path, strip]) expect((await fetch(`${dailies.url}${one}`)).status).toBe(404);
  expect(pictureIn(await listed())).toBeUndefined();
});

test('pictures of the library: a small copy of each image, by a link that ends', async () => {
  await start({ FFMPEG_PATH: ffmpeg, PUBLIC_URL: 'https://dailies.example', LINK_SECRET: 'a secret of this test' });
  await discord.botReady();
  const image = fileOf('mug.png', 'image/png', createCanvas(1000, 800).toBuffer('image/png'));
  const said = (options: Parameters<FakeDiscord['people']['slash']>[1] = {}) =>
    look.card(discord.people.slash('video library', options));
  expect(plainOf(await said({ change: 'add @mug', image }))).toContain('Added');
  const path = /dailies\.example(\/media\/relay-[^"]*)/.exec(JSON.stringify((await said()).components))?.[1] ?? '';
  const picture = await fetch(`${dailies.url}${path}`);
  expect(await loadImage(await picture.arrayBuffer())).toMatchObject({ width: 320, height: 256 });
  expect((await fetch(`${dailies.url}${path.replace('.jpg', '')}`)).status).toBe(404);
  expect(plainOf(await said({ change: 'remove @mug' }))).toContain('Removed');
  expect(JSON.stringify((await said()).components)).not.toContain('/media/');
});
