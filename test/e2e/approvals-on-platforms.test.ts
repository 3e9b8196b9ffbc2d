import { afterEach, beforeEach, expect, test } from 'vitest';
import { slackManifest } from '#adapters/slack/installation/manifest.ts';
import { startDiscord } from '#test/fakes/discord/index.ts';
import { buttonsOf as discordButtons, plainOf as discordText } from '#test/fakes/discord-house.ts';
import { type FakeSlack, startSlack, type View } from '#test/fakes/slack/index.ts';
import { buttonsOf as slackButtons, plainOf as slackText, whispersTo } from '#test/fakes/slack-house.ts';
import { type FakeVideoService, startVideoService } from '#test/fakes/video-service.ts';
import { answered, makeDir, type RunningDailies, startDailies } from './dailies.ts';

// The same course on every platform, over its own wire: five requests in one thread, each decision by the first press
// after a crash. Counted by the POSTs that reach the video service.

const ANIMALS = ['fox', 'wolf', 'owl', 'bear', 'hare'] as const;

const promptOf = (animal: string): string => `a red ${animal} in the snow`;

type Button = { readonly id: string; readonly label: string };

/** A chat platform with one requester, one approver and one administrator. */
interface Chat {
  readonly env: Readonly<Record<string, string>>;
  /** Sets the threshold and the approver, as the administrator. */
  readonly setUp: () => Promise<void>;
  /** Forbids a word in the thread's channel, as the administrator. */
  readonly forbid: (word: string) => Promise<void>;
  /** Orders a clip for $0.40 as the requester, in the one thread. */
  readonly order: (prompt: string) => Promise<void>;
  /** Returns the messages of the thread that name a prompt and are for everyone, oldest first. */
  readonly cards: (prompt: string) => Promise<readonly string[]>;
  /** Returns the messages to the approver that name a prompt. */
  readonly notices: (prompt: string) => Promise<readonly string[]>;
  readonly text: (message: string) => Promise<string>;
  readonly buttons: (message: string) => Promise<readonly Button[]>;
  readonly press: (who: 'requester' | 'approver', message: string, button: string) => Promise<void>;
  /** Presses **Deny** once, and sends the form that opens. */
  readonly deny: (message: string, button: string, reason: string) => Promise<void>;
  /** Gives a button the id that a version before had for it. */
  readonly makeOld: (message: string, from: string, to: string) => void;
  /** Returns the private messages to the approver, oldest first. */
  readonly offers: () => Promise<readonly string[]>;
  /** Returns the private messages to the requester in the thread. */
  readonly whispers: () => Promise<readonly string[]>;
  /** Returns whether a clip belongs to a message. */
  readonly hasClip: (message: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

let upstream: FakeVideoService;
let dir: Awaited<ReturnType<typeof makeDir>>;
let dailies: RunningDailies;
let chat: Chat;

beforeEach(async () => {
  upstream = await startVideoService();
  dir = await makeDir();
});

afterEach(async () => {
  await dailies.kill();
  await chat.close();
  await upstream.close();
  await dir.remove();
});

async function slackChat(): Promise<Chat & { readonly slack: FakeSlack }> {
  const slack = await startSlack({ manifest: slackManifest(null) });
  const { alice, bob, carol } = slack.users;
  const { botToken: SLACK_BOT_TOKEN, appToken: SLACK_APP_TOKEN, apiUrl: SLACK_API_URL } = slack;
  const channel = slack.channels.general;
  const parent = slack.people.say('clips of the day', { user: carol });
  const userOf = { requester: alice, approver: bob };
  const shown = () => slack.messages(channel).filter(({ visibleTo }) => visibleTo === null);
  const said = (text: string) => () => slack.messages(channel).map(slackText).join('\n').includes(text);
  const names = (prompt: string) => (message: Parameters<typeof slackText>[0]) => slackText(message).includes(prompt);
  return {
    slack,
    env: { SLACK_BOT_TOKEN, SLACK_APP_TOKEN, SLACK_API_URL },
    async setUp() {
      await slack.botReady();
      slack.setAdmin(carol, 'is_admin');
      slack.people.slash('/video settings --approve_above 0.20', { user: carol });
      await slack.until(said('$0.20'), 'the threshold');
      slack.people.slash(`/video approvers add <@${bob}|bob>`, { user: carol });
      await slack.until(said('may approve from now on'), 'the approver');
    },
    async forbid(word) {
      slack.people.slash(`/video policy --channel <#${channel}|general> --words ${word}, gore`, { user: carol });
      await slack.until(said(`${word}, gore`), 'the policy');
    },
    order: async (prompt) => void slack.people.mention(`create ${prompt} --seconds 8`, { threadTs: parent.ts }),
    cards: async (prompt) =>
      shown()
        .filter((message) => message.authorId !== alice && message.fileIds.length === 0 && names(prompt)(message))
        .map(({ ts }) => ts),
    notices: async (prompt) =>
      slack
        .messages(slack.dm(bob))
        .filter(names(prompt))
        .map(({ ts }) => ts),
    text: async (ts) => slackText(slack.message(ts)),
    buttons: async (ts) => slackButtons(slack.message(ts)),
    async press(who, ts, button) {
      await slack.botReady();
      slack.people.press(ts, button, { user: userOf[who] });
    },
    async deny(ts, button, reason) {
      await slack.botReady();
      slack.people.press(ts, button, { user: bob });
      await slack.until(() => slack.forms.shown(bob) !== null, 'the form');
      slack.forms.submit(slack.forms.shown(bob) as View, { reason });
    },
    makeOld(ts, from, to) {
      const message = slack.message(ts);
      message.blocks = JSON.parse(JSON.stringify(message.blocks).replaceAll(`"${from}"`, `"${to}"`));
    },
    offers: async () =>
      slack
        .messages(slack.dm(bob))
        .filter(({ visibleTo }) => visibleTo === bob)
        .map(({ ts }) => ts),
    whispers: async () => whispersTo(slack, alice, channel).map(({ ts }) => ts),
    hasClip: async (ts) => JSON.stringify(slack.message(ts).blocks).includes('/permalinks/files/'),
    async close() {
      expect(slack.violations).toEqual([]);
      await slack.close();
    },
  };
}

async function discordChat(): Promise<Chat> {
  // A process knows nothing of the limits that the one before it had used up.
  const plenty = { limit: 50, windowMs: 1_000 };
  const discord = await startDiscord({ limits: { send: plenty, edit: plenty, webhook: plenty } });
  const { alice, bob, carol } = discord.users;
  const channel = discord.channels.thread;
  const userOf = { requester: alice, approver: bob };
  const shown = () => discord.messages(channel).filter(({ visibleTo }) => visibleTo === null);
  const names = (prompt: string) => (message: Parameters<typeof discordText>[0]) =>
    discordText(message).includes(prompt);
  const administer = async (command: string, options: Readonly<Record<string, string>>, words: string) => {
    await discord.botReady();
    const asked = discord.people.slash(command, options, { user: carol, permissions: ['MANAGE_GUILD'] });
    const text = () => discordText(discord.original(asked) ?? { content: '', components: [] });
    await discord.until(() => text().includes(words), words);
  };
  const connected = () => discord.until(() => discord.gateway.isConnected, 'the connection');
  return {
    env: { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl },
    async setUp() {
      await administer('video-admin settings', { approve_above: '0.20' }, '$0.20');
      await administer('video-admin approvers', { who: bob }, 'may approve from now on');
    },
    async forbid(word) {
      const given = { channel: discord.channels.general, words: `${word}, gore` };
      await administer('video-admin policy', given, `${word}, gore`);
    },
    order: async (prompt) => void discord.people.slash('video create', { prompt, seconds: 8 }, { channel }),
    cards: async (prompt) =>
      shown()
        .filter(names(prompt))
        .map(({ id }) => id),
    notices: async (prompt) =>
      discord
        .messages(discord.dm(bob))
        .filter(names(prompt))
        .map(({ id }) => id),
    text: async (id) => discordText(discord.message(id)),
    buttons: async (id) => discordButtons(discord.message(id)),
    async press(who, id, button) {
      await connected();
      discord.people.press(id, button, { user: userOf[who] });
    },
    async deny(id, button, reason) {
      await connected();
      const opened = discord.people.press(id, button, { user: bob });
      expect((await discord.answered(opened)).type).toBe(9);
      discord.people.submitModal(opened, { reason });
    },
    makeOld(id, from, to) {
      const message = discord.message(id);
      message.components = JSON.parse(JSON.stringify(message.components).replaceAll(`"${from}"`, `"${to}"`));
    },
    offers: async () =>
      discord
        .messages(discord.dm(bob))
        .filter(({ visibleTo }) => visibleTo === bob)
        .map(({ id }) => id),
    whispers: async () =>
      discord
        .messages(channel)
        .filter(({ visibleTo }) => visibleTo === alice)
        .map(({ id }) => id),
    hasClip: async (id) => discord.message(id).attachments.length === 1,
    async close() {
      expect(discord.violations).toEqual([]);
      await discord.close();
    },
  };
}

/** The playground, which has neither threads nor direct messages: requester ana, approver ben. */
async function playgroundChat(): Promise<Chat> {
  const userOf = { requester: 'ana', approver: 'ben' };
  const old = new Map<string, string>();
  const shown = async () => (await dailies.messages()).filter(({ visibleTo }) => visibleTo === null);
  const press = async (user: string, message: string, button: string) =>
    dailies.press(message, old.get(`${message} ${button}`) ?? button, { user });
  return {
    env: {},
    async setUp() {
      for (const text of ['/video settings --approve_above 0.20', '/video approvers add @ben'])
        answered(await dailies.interact(text, { user: 'operator' }));
    },
    async forbid(word) {
      const text = `/video policy --channel #general --words ${word}, gore`;
      answered(await dailies.interact(text, { user: 'operator' }));
    },
    order: async (prompt) => void (await dailies.interact(`/video create ${prompt} --seconds 8`)),
    cards: async (prompt) =>
      (await shown()).filter(({ task, text }) => task !== null && text.includes(prompt)).map(({ id }) => id),
    notices: async (prompt) =>
      (await shown())
        .filter(({ task, text }) => task === null && text.includes(prompt) && text.includes('requests a clip'))
        .map(({ id }) => id),
    text: async (id) => (await dailies.message(id)).text,
    buttons: async (id) => (await dailies.message(id)).buttons,
    press: async (who, message, button) => void (await press(userOf[who], message, button)),
    async deny(message, button, reason) {
      const { form } = (await press('ben', message, button)).body;
      await dailies.post('/playground/forms', {
        id: 'denial',
        user: 'ben',
        message,
        form: form?.id,
        values: { reason },
      });
    },
    makeOld: (message, from, to) => void old.set(`${message} ${from}`, to),
    offers: async () => (await dailies.messages()).filter(({ visibleTo }) => visibleTo === 'ben').map(({ id }) => id),
    whispers: async () => (await dailies.messages()).filter(({ visibleTo }) => visibleTo === 'ana').map(({ id }) => id),
    hasClip: async (id) => (await dailies.message(id)).attachments.length === 1,
    close: async () => undefined,
  };
}

/** Returns a message once there is just one. */
async function only(find: () => Promise<readonly string[]>): Promise<string> {
  await expect.poll(find).toHaveLength(1);
  return (await find())[0] ?? '';
}

async function buttonOn(message: string, action: string): Promise<string> {
  const find = async () => (await chat.buttons(message)).find(({ id }) => id.startsWith(`${action}:`))?.id;
  await expect.poll(find).toBeDefined();
  return (await find()) ?? '';
}

const says = (message: string, words: string) => expect.poll(() => chat.text(message)).toContain(words);

/**
 * Presses **Approve** until the request is decided: a press that a busy machine handles after more than three seconds is
 * only offered, as in a chat.
 */
async function approve(notice: string): Promise<void> {
  await chat.press('approver', notice, await buttonOn(notice, 'approve'));
  const pressed = new Set<string>();
  const textOf = async () => {
    for (const offer of await chat.offers()) {
      const again = (await chat.buttons(offer)).find(({ id }) => id.startsWith('approve:'));
      if (again === undefined || pressed.has(offer)) continue;
      pressed.add(offer);
      await chat.press('approver', offer, again.id);
    }
    return chat.text(notice);
  };
  await expect.poll(textOf).toContain('Approved by');
}

async function restart(): Promise<void> {
  await dailies.kill();
  dailies = await startDailies({ dir: dir.path, upstream, env: chat.env });
}

test.each([
  ['the playground', playgroundChat],
  ['Slack', slackChat],
  ['Discord', discordChat],
] as const)(
  'on %s, each of five requests in one thread is decided by the first press after a crash',
  async (_, open) => {
    chat = await open();
    dailies = await startDailies({ dir: dir.path, upstream, env: chat.env });
    await chat.setUp();
    const all: { readonly card: string; readonly notice: string }[] = [];
    for (const animal of ANIMALS) {
      await chat.order(promptOf(animal));
      const card = await only(() => chat.cards(promptOf(animal)).then((ids) => ids.slice(0, 1)));
      await says(card, 'Waiting for approval by');
      all.push({ card, notice: await only(() => chat.notices(promptOf(animal))) });
    }
    const [fox, wolf, owl, bear] = all;
    if (fox === undefined || wolf === undefined || owl === undefined || bear === undefined)
      throw new Error('no requests');

    await restart();
    await approve(owl.notice);
    await says(owl.card, 'Approved by');
    await expect.poll(() => chat.hasClip(owl.card)).toBe(true);
    expect(upstream.posts).toBe(1);
    expect(upstream.requests.find(({ method }) => method === 'POST')?.body).toContain(promptOf('owl'));

    await restart();
    await chat.deny(fox.notice, await buttonOn(fox.notice, 'deny'), 'no foxes today');
    await says(fox.card, 'no foxes today.');
    await says(fox.notice, 'no foxes today.');

    await restart();
    await chat.press('requester', wolf.card, await buttonOn(wolf.card, 'withdraw'));
    await says(wolf.card, 'Withdrawn.');
    await says(wolf.notice, 'Withdrawn');

    // The others still wait, each on its own card.
    for (const { card, notice } of all.slice(3)) {
      expect(await chat.text(card)).toContain('Waiting for approval by');
      expect((await chat.buttons(notice)).map(({ label }) => label)).toEqual(['Approve · $0.40', 'Deny']);
    }
    expect(upstream.posts).toBe(1);

    // A card of the version before approvals, whose Retry names no price: it asks once, then requests an approval.
    const retry = await buttonOn(owl.card, 'retry');
    const [action, task] = retry.split(':');
    chat.makeOld(owl.card, retry, `${action}:${task}`);
    await restart();
    const whispered = new Set(await chat.whispers());
    await chat.press('requester', owl.card, await buttonOn(owl.card, 'retry'));
    const question = await only(async () => (await chat.whispers()).filter((id) => !whispered.has(id)));
    await says(question, '$0.40');
    await chat.press('requester', question, await buttonOn(question, 'order'));
    const others = async () => (await chat.notices(promptOf('owl'))).filter((notice) => notice !== owl.notice);
    const again = await only(others);
    expect((await chat.buttons(again)).map(({ label }) => label)).toEqual(['Approve · $0.40', 'Deny']);
    expect(upstream.posts).toBe(1);
    await approve(again);
    await expect.poll(() => upstream.posts).toBe(2);
    expect(await others()).toHaveLength(1);

    // A policy that came meanwhile: the request is not bought, and nothing of the kind can be ordered in the thread.
    await chat.forbid('bear');
    const before = new Set(await chat.whispers());
    await chat.press('approver', bear.notice, await buttonOn(bear.notice, 'approve'));
    await chat.order(promptOf('bear'));
    const refusal = await only(async () => (await chat.whispers()).filter((id) => !before.has(id)));
    await says(refusal, 'prompt: “bear” isn’t allowed here. Use another word');
    expect((await chat.buttons(refusal)).map(({ label }) => label)).toEqual(['Fix it']);
    expect(await chat.text(bear.card)).toContain('Waiting for approval by');
    expect(upstream.posts).toBe(2);
  },
);

test('on Slack, a denial by the form of the Home tab clears the tabs of all who could decide', async () => {
  const { slack, ...one } = await slackChat();
  chat = one;
  dailies = await startDailies({ dir: dir.path, upstream, env: chat.env });
  await chat.setUp();
  await chat.order(promptOf('fox'));
  const notice = await only(() => chat.notices(promptOf('fox')));
  const { alice, bob } = slack.users;
  const home = (user: string) => JSON.stringify(slack.forms.home(user)?.blocks ?? []);
  for (const user of [alice, bob]) slack.people.openHome({ user });
  const deny = await buttonOn(notice, 'deny');
  await slack.until(() => home(bob).includes(deny) && home(alice).includes('withdraw:'), 'the tabs');
  slack.forms.press(slack.forms.home(bob) as View, deny);
  await slack.until(() => slack.forms.shown(bob) !== null, 'the form');
  slack.forms.submit(slack.forms.shown(bob) as View, { reason: 'no foxes today' });
  await slack.until(() => !home(bob).includes(deny) && !home(alice).includes('withdraw:'), 'the decision');
  expect(upstream.posts).toBe(0);
});
