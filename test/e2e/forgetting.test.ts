import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pino } from 'pino';
import { expect, type TestContext, test, vi } from 'vitest';
import { slackManifest } from '#adapters/slack/installation/manifest.ts';
import { systemClock } from '#src/clock.ts';
import { openStore } from '#src/engine/store/open.ts';
import type { NamedSum } from '#src/engine/store/store.ts';
import { checkBooks } from '#src/money/books/check.ts';
import { FORGETTINGS, REMOVALS } from '#src/tasks/indexes.ts';
import { type FakeDiscord, fileOf, startDiscord } from '#test/fakes/discord/index.ts';
import { buttonsOf as buttonsOnDiscord, plainOf as discordText } from '#test/fakes/discord-house.ts';
import { keepRunning } from '#test/fakes/discord-program.ts';
import { RedisServer } from '#test/fakes/redis-server.ts';
import { type FakeSlack, type Message as SlackMessage, startSlack, type View } from '#test/fakes/slack/index.ts';
import { buttonsOf as buttonsOnSlack, plainOf as slackText, whispersTo } from '#test/fakes/slack-house.ts';
import { type FakeVideoService, startVideoService } from '#test/fakes/video-service.ts';
import { answered, buttonOf, makeDir, type RunningDailies, type ShownMessage, startDailies } from './dailies.ts';

// One person is forgotten on each platform: by themselves on Discord and the chat page, by an administrator on Slack.
// Whatever they leave is searched byte by byte for their prompts, names and ids.

const WITHIN = { timeout: 300_000, interval: 25 };
/** Waits until a value is as it should be; `expect.poll` does not work in concurrent tests. */
const becomes = <Value>(read: () => Value | Promise<Value>, wanted: Value | true = true) =>
  vi.waitFor(async () => expect(await read()).toBe(wanted), WITHIN);
const PICTURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** Word that every prompt and file name of theirs has, and nothing else. */
const WORD = 'quokka';

/** What a person leaves, on two stores that the tests take for granted. */
interface Deployment {
  readonly dir: string;
  readonly upstream: FakeVideoService;
  readonly discord: FakeDiscord;
  readonly slack: FakeSlack;
  readonly storeUrl: string;
  readonly redis: RedisServer | null;
  readonly start: () => Promise<RunningDailies>;
}

async function deploy({ onTestFinished }: TestContext, redis: RedisServer | null): Promise<Deployment> {
  const dir = await makeDir();
  onTestFinished(() => dir.remove());
  const upstream = await startVideoService();
  const right = upstream.handlers.create;
  // A service that quotes the prompt which it refuses.
  upstream.handlers.create = (call) =>
    call.request.body.includes('refused')
      ? call.refuse(400, 'content_policy_violation', `not allowed: ${call.request.body}`)
      : right(call);
  onTestFinished(() => upstream.close());
  const discord = await startDiscord();
  onTestFinished(() => discord.close());
  const slack = await startSlack({ manifest: slackManifest(null) });
  onTestFinished(() => slack.close());
  const storeUrl = redis?.url ?? `sqlite:${join(dir.path, 'data', 'dailies.db')}`;
  const env = {
    STORE_URL: storeUrl,
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    PLAYGROUND: 'on',
    ADMINS: `slack:${slack.users.bob}`,
    PUBLIC_URL: 'http://127.0.0.1:9',
    LINK_SECRET: 'a secret of this test',
    LOG_LEVEL: 'trace',
  };
  const start = async (): Promise<RunningDailies> => {
    const dailies = await startDailies({ dir: dir.path, upstream, env });
    onTestFinished(() => dailies.kill());
    return dailies;
  };
  return { dir: dir.path, upstream, discord, slack, storeUrl, redis, start };
}

/** Alice on Discord: a clip with a reference file, a private list, a subscription, a press on a clip of Bob. */
async function liveOnDiscord({ discord }: Deployment) {
  const { users, channels, people } = discord;
  await discord.botReady();
  const image = fileOf(`${WORD}.png`, 'image/png', PICTURE);
  const asked = people.slash('video create', { prompt: `a ${WORD} in snow`, image });
  await becomes(() => discord.messages(channels.general).some(({ attachments }) => attachments.length > 0));
  await becomes(() => discord.pings.length, 1);
  const his = people.slash('video create', { prompt: 'a blue whale' }, { user: users.bob });
  await becomes(() => discord.pings.length, 2);
  const card = discord.original(his)?.id ?? '';
  const details = buttonsOnDiscord(discord.message(card)).find(({ id }) => id.startsWith('details:'))?.id ?? '';
  for (const each of [people.press(card, details), people.slash('video list', {}), people.slash('video notify', {})])
    await discord.answered(each);
  return asked;
}

/** Alice on Discord: two requests of Bob's, of which she denies one with a reason, and approves the other. */
async function decideOnDiscord({ discord }: Deployment): Promise<void> {
  const { people, users } = discord;
  const { alice, bob, carol } = users;
  const shownIn = (channel: string, words: string) => () =>
    discord.messages(channel).find((message) => discordText(message).includes(words));
  const administer = async (command: string, options: Readonly<Record<string, string>>, words: string) => {
    const asked = people.slash(command, options, { user: carol, permissions: ['MANAGE_GUILD'] });
    await becomes(() => discordText(discord.original(asked) ?? { content: '', components: [] }).includes(words));
  };
  await administer('video-admin settings', { approve_above: '0.20' }, '$0.20');
  for (const who of [alice, carol]) await administer('video-admin approvers', { who }, 'may approve from now on');
  const ask = async (prompt: string) => {
    people.slash('video create', { prompt, seconds: 8 }, { user: bob });
    for (const who of [alice, carol]) await becomes(() => shownIn(discord.dm(who), prompt)() !== undefined);
    const asked = shownIn(discord.dm(alice), prompt)();
    const buttons = asked === undefined ? [] : buttonsOnDiscord(asked);
    return (label: string) =>
      people.press(asked?.id ?? '', buttons.find((one) => one.label.startsWith(label))?.id ?? '', { user: alice });
  };
  const opened = (await ask('a grey heron'))('Deny');
  await discord.answered(opened);
  people.submitModal(opened, { reason: `too many ${WORD}s` });
  await becomes(() => discord.pings.length, 3);
  (await ask('a white stork'))('Approve');
  await becomes(() => discord.pings.length, 4);
  for (const words of ['Denied by', 'Approved by'])
    await becomes(() => shownIn(discord.dm(carol), words)() !== undefined);
}

/** Returns how often a person was mentioned; the bot is, too. */
const pingsOf = (slack: FakeSlack, user: string): number => slack.pings.filter(({ id }) => id === user).length;

/** Alice on Slack: a clip with a reference file, and one that is running when Bob erases her. */
async function liveOnSlack({ slack }: Deployment): Promise<void> {
  const { people, channels } = slack;
  await slack.botReady();
  const picture = people.upload({ name: `${WORD}.png`, content: PICTURE });
  people.mention(`a ${WORD} at dawn`, { channel: channels.general, files: [picture] });
  await becomes(() => slack.files.some(({ ownerId }) => ownerId === slack.team.botUserId));
  await becomes(() => pingsOf(slack, slack.users.alice), 1);
  people.openHome({ user: slack.users.alice });
  await becomes(() => JSON.stringify(slack.forms.home(slack.users.alice)?.blocks ?? []).includes('alice'));
  people.slash('/video list');
  await becomes(() => whispersTo(slack, slack.users.alice).length, 1);
}

/** Alice on Slack: a denial of a request by Carol, with a reason. */
async function denyOnSlack({ slack }: Deployment): Promise<void> {
  const { people, users, channels } = slack;
  const { alice, bob, carol } = users;
  const shownIn = (channel: string, words: string) => () =>
    slack.messages(channel).some((message) => slackText(message).includes(words));
  people.slash('/video settings --approve_above 0.20', { user: bob });
  await becomes(shownIn(channels.general, 'need an approval'));
  people.slash(`/video approvers add <@${alice}|alice>`, { user: bob });
  await becomes(shownIn(channels.general, 'may approve from now on'));
  people.slash('/video create a grey heron --seconds 8', { user: carol });
  await becomes(shownIn(slack.dm(alice), 'a grey heron'));
  const asked = slack.messages(slack.dm(alice)).find((message) => slackText(message).includes('a grey heron'));
  people.press(asked?.ts ?? '', buttonOnSlack(asked, 'Deny'), { user: alice });
  await becomes(() => slack.forms.shown(alice) !== null);
  slack.forms.submit(slack.forms.shown(alice) as View, { reason: `too many ${WORD}s` });
  await becomes(() => pingsOf(slack, carol), 1);
}

/** Evelyn on the chat page: clips, a set, a storyboard, a private list, drafts, a subscription, a reaction, a review. */
async function liveOnPage(dailies: RunningDailies) {
  const user = 'evelyn';
  const say = async (text: string) => answered(await dailies.interact(`/video ${text}`, { user }));
  await dailies.interact('/video review on', { user: 'operator' });
  const order = { id: 'the order of the page', user, text: `/video create a ${WORD} by night` };
  const message = answered(await dailies.interact(order.text, order));
  await dailies.reaches(message, 'completed');
  await dailies.reaches(await say(`create a ${WORD}, refused`), 'rejected');
  const board = await say(`storyboard a ${WORD} wakes up\na ${WORD} sleeps`);
  await dailies.press(board, buttonOf(await dailies.message(board), 'order'), { user });
  await say(`create two ${WORD}s --takes 2`);
  const theirs = async () => (await dailies.messages()).filter(({ text }) => text.includes(WORD));
  await becomes(async () => (await theirs()).flatMap(({ attachments }) => attachments).length >= 5);
  const his = answered(await dailies.interact('/video create a white owl', { user: 'ben' }));
  await dailies.reaches(his, 'completed');
  await dailies.react(his, '👍', { user });
  await dailies.press(his, buttonOf(await dailies.message(his), 'details'), { user });
  await dailies.interact('/video settings --approve_above 0.20', { user: 'operator' });
  await dailies.interact('/video approvers add @evelyn', { user: 'operator' });
  await dailies.interact('/video create a grey heron --seconds 8', { user: 'ben' });
  const request = async () =>
    (await dailies.messages()).find(({ buttons }) => buttons.some(({ id }) => id.startsWith('deny:')));
  await becomes(async () => (await request()) !== undefined);
  const found = (await request()) as ShownMessage;
  const reason = { id: 'her reason', user, message: found.id, form: buttonOf(found, 'deny') };
  await dailies.press(found.id, reason.form, { user });
  const values = { reason: `no ${WORD}s` };
  expect((await dailies.post('/playground/forms', { ...reason, values })).status).toBe(202);
  await becomes(async () => (await dailies.messages()).some(({ text }) => text.includes('denied by evelyn')));
  const changes = buttonOf(await dailies.message(his), 'changes');
  const note = { id: 'her note', user, message: his, form: changes, values: { at: '0:01', note: `more ${WORD}s` } };
  await dailies.press(his, changes, { user });
  expect((await dailies.post('/playground/forms', note)).status).toBe(202);
  await becomes(async () => (await dailies.message(his)).text.includes('evelyn'));
  for (const text of ['list', 'notify', `lst ${WORD}`, `statsu ${WORD}`, 'privacy export', `create x --model ${WORD}`])
    await dailies.interact(`/video ${text}`, { user });
  return order;
}

const buttonOnSlack = (message: SlackMessage | undefined, label: string): string =>
  buttonsOnSlack(message ?? { blocks: [] }).find((one) => one.label === label)?.id ?? '';

/** Has everyone forgotten, while a clip of Alice's on Slack is in progress. It ends afterwards. */
async function forgetAll({ discord, slack, upstream }: Deployment, dailies: RunningDailies): Promise<void> {
  const { users, people, channels } = slack;
  const finish = keepRunning(upstream);
  people.slash(`/video a ${WORD}, running`);
  await becomes(() => JSON.stringify(slack.messages(channels.general)).includes('33 %'));

  const asked = discord.people.slash('video privacy', { what: 'forget' });
  await becomes(() => (discord.original(asked)?.components.length ?? 0) > 0);
  await discord.answered(discord.people.press(discord.original(asked)?.id ?? '', 'privacy:forget'));
  const question = answered(await dailies.interact('/video privacy forget', { user: 'evelyn' }));
  await dailies.press(question, 'privacy:forget', { user: 'evelyn' });
  people.slash(`/video erase_person <@${users.alice}>`, { user: users.bob });
  const eraseOn = (card: SlackMessage) =>
    buttonsOnSlack(card).find(({ id }) => id.startsWith('privacy:erase:'))?.id ?? null;
  const found = () => whispersTo(slack, users.bob).find((card) => eraseOn(card) !== null);
  await becomes(() => found() !== undefined);
  const card = found() as SlackMessage;
  await slack.acknowledged(people.press(card.ts, eraseOn(card) ?? '', { user: users.bob }));

  finish();
  await becomes(() => pingsOf(slack, users.alice), 2);
}

/** Makes what waits in a store due, as if a few minutes had passed. @returns its sums, and what is left to forget */
async function inStore({ storeUrl, redis }: Deployment, isLater: boolean) {
  // Those of a killed process.
  for (const lease of isLater ? await keysIn(redis, 'dailies:lease:*') : []) await redis?.command('DEL', lease);
  const store = await openStore(storeUrl, { logger: pino({ level: 'silent' }), clock: systemClock });
  try {
    const sums = (await Array.fromAsync(store.contents.sums())).flat();
    const waiting = await store.scan(FORGETTINGS);
    for (const index of isLater ? [FORGETTINGS, REMOVALS] : [])
      for (const { member, score } of await store.scan(index))
        await store.commit({ records: [], index: [{ index, member, score: score - 300_000 }] });
    return { sums, waiting, books: await checkBooks(store) };
  } finally {
    await store.close();
  }
}

/** Returns the bytes that an attacker finds in a folder, by file, names included. */
async function filesIn(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  // A part of a file may have been renamed since.
  const contents = await Promise.all(paths.map((path) => readFile(path).catch(unlessMissing)));
  return new Map(paths.map((path, at) => [relative(folder, path), contents[at] ?? Buffer.of()] as const));
}

function unlessMissing(thrown: unknown): undefined {
  if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown;
}

const READ_BY_TYPE: ReadonlyMap<string, readonly string[]> = new Map([
  ['string', ['GET']],
  ['hash', ['HGETALL']],
  ['list', ['LRANGE', '0', '-1']],
  ['set', ['SMEMBERS']],
  ['zset', ['ZRANGE', '0', '-1']],
  ['stream', ['XRANGE', '-', '+']],
]);

async function keysIn(redis: RedisServer | null, pattern: string): Promise<readonly string[]> {
  return redis === null ? [] : ((await redis.command('KEYS', pattern)) as readonly string[]);
}

/** Returns every key of a Redis, with its value. */
async function dumpOf(redis: RedisServer): Promise<string> {
  const keys = await keysIn(redis, '*');
  const parts: unknown[] = [];
  for (const key of keys) {
    // It may have expired since it was listed.
    const [name, ...range] = READ_BY_TYPE.get(String(await redis.command('TYPE', key))) ?? [];
    if (name !== undefined) parts.push([key, await redis.command(name, key, ...range)]);
  }
  return JSON.stringify(parts);
}

const sharedOf = (sums: readonly NamedSum[]) =>
  sums.filter(({ sum }) => !sum.startsWith('person:')).toSorted((a, b) => (a.sum < b.sum ? -1 : 1));

/** Returns where a word occurs, in any case. */
function tracesIn(found: ReadonlyMap<string, Buffer | string>, words: readonly string[]): readonly string[] {
  return [...found].flatMap(([name, content]) => {
    const text = `${name}\n${content.toString('latin1' as never)}`.toLowerCase();
    return words
      .filter((word) => text.includes(word.toLowerCase()))
      .map((word) => {
        const at = text.indexOf(word.toLowerCase());
        return `${word} in ${name}: …${text.slice(Math.max(0, at - 120), at + 80).replaceAll(/[^ -~]+/g, '·')}…`;
      });
  });
}

/** Everything that is left: in the store, the data folder, the output and the chats. */
async function leftIn(at: Deployment, dailies: readonly RunningDailies[], isRunning = true) {
  const { discord, slack, redis, dir } = at;
  const { alice, carol } = discord.users;
  const inChannels = [discord.channels.general, discord.dm(alice), discord.dm(carol)].flatMap((id) =>
    discord.messages(id),
  );
  const onDiscord = inChannels.filter(
    (message) =>
      message.author.isBot &&
      message.visibleTo !== alice &&
      // Told to Carol alone, in a message that ends with her session.
      !discordText(message).includes('may approve from now on'),
  );
  const onSlack = [slack.channels.general, slack.dm(slack.users.alice)]
    .flatMap((id) => slack.messages(id))
    .filter(({ authorId, visibleTo }) => authorId === slack.team.botUserId && visibleTo !== slack.users.alice);
  // Asked of her alone, under her id; told to Bob alone, until he loads the channel again.
  const shownOnSlack = onSlack
    .filter((message) => !slackText(message).includes('may approve from now on'))
    .map((message) => ({ ...message, metadata: null }));
  const files = slack.files.filter(({ isDeleted, ownerId }) => !isDeleted && ownerId === slack.team.botUserId);
  return new Map<string, Buffer | string>([
    ...(await filesIn(dir)),
    ...(redis === null ? [] : [['redis', await dumpOf(redis)] as const]),
    ...dailies.map((one, run) => [`output ${run}`, one.output()] as const),
    ['discord', JSON.stringify(onDiscord)],
    [
      'slack',
      JSON.stringify([
        shownOnSlack,
        slack.forms.home(slack.users.alice)?.blocks,
        files.map((one) => ({ ...one, content: null })),
      ]),
    ],
    ['page', JSON.stringify(isRunning ? await dailies.at(-1)?.messages() : [])],
  ]);
}

/** @returns what must not be found any more */
async function forgets(context: TestContext, redis: RedisServer | null): Promise<readonly string[]> {
  const at = await deploy(context, redis);
  const { discord, slack, upstream } = at;
  const first = await at.start();
  const onDiscord = async () => {
    const asked = await liveOnDiscord(at);
    await decideOnDiscord(at);
    return asked;
  };
  const onSlack = async () => {
    await liveOnSlack(at);
    await denyOnSlack(at);
  };
  const [order, onPage] = await Promise.all([onDiscord(), liveOnPage(first), onSlack()]);
  const words = [WORD, 'alice', 'evelyn', discord.users.alice, slack.users.alice];
  const names = (left: ReadonlyMap<string, unknown>) => [...left.keys()];
  const before = await leftIn(at, [first]);
  expect(tracesIn(before, [WORD]).length, names(before).join()).toBeGreaterThan(4);

  // Killed while a message is being retracted, and continued by the next process.
  const release = discord.hold('PATCH /channels/:channel/messages/:message');
  await forgetAll(at, first);
  await becomes(() => discord.held, 1);
  await first.kill();
  release();
  const killed = await inStore(at, true);
  expect(killed.waiting.length).toBeGreaterThan(0);
  const [calls, requests] = [slack.calls.length, discord.requests.length];
  const second = await at.start();
  const done = () => second.output().split('person_forgotten').length - 1;
  await becomes(done, killed.waiting.length);
  const isOverwritten = () =>
    second.output().lastIndexOf('deleted_overwritten') > second.output().lastIndexOf('person_forgotten');
  await becomes(isOverwritten);

  const running = await leftIn(at, [first, second]);
  expect(tracesIn(running, words)).toEqual([]);
  const sent = new Map([
    [
      'to Slack',
      JSON.stringify(slack.calls.slice(calls).map(({ method, args }) => [method, { ...args, user_id: null }])),
    ],
    ['to Discord', JSON.stringify(discord.requests.slice(requests))],
  ]);
  expect(tracesIn(sent, words)).toEqual([]);

  const { posts } = upstream;
  discord.redeliver(order);
  expect((await second.interact(onPage.text, onPage)).status).toBe(202);
  await second.stop();
  expect(upstream.posts).toBe(posts);
  const after = await inStore(at, false);
  expect(sharedOf(after.sums)).toEqual(sharedOf(killed.sums));
  expect(after.books).toMatchObject({ stale: [], disagreements: [], busy: [] });
  expect(tracesIn(await leftIn(at, [first, second], false), words)).toEqual([]);
  return words;
}

// Most of the time, they wait until the work begins.
test.concurrent('nothing of a forgotten person is left in the SQLite file, folder, log and chats', (context) =>
  forgets(context, null));

test.concurrent('nothing is left in Redis, and in its files once they are rewritten', async (context) => {
  const redis = await RedisServer.start('--rdbcompression', 'no');
  context.onTestFinished(() => redis.remove());
  const words = await forgets(context, redis);
  // Until then, its append-only file has the writes themselves.
  expect(tracesIn(await filesIn(redis.directory), words)).not.toEqual([]);
  await redis.command('BGREWRITEAOF');
  const info = async () => String(await redis.command('INFO', 'persistence'));
  await becomes(async () => /aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0/.test(await info()));
  await becomes(async () => tracesIn(await filesIn(redis.directory), words).length, 0);
});
