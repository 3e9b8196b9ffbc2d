import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ASSISTANT_WORDS } from '#commands/sentences/assistant.ts';
import { layOut } from '#commands/ui/card.ts';
import type { View } from '#src/chat/view.ts';
import { type Clock, systemClock } from '#src/clock.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import type { FakeSlack, Message } from '#test/fakes/slack/index.ts';
import { plainOf, SlackHouse } from '#test/fakes/slack-house.ts';
import { taskView } from '#test/fakes/views.ts';

let house: SlackHouse;
let slack: FakeSlack;
let dm: string;

beforeEach(async () => {
  house = await SlackHouse.start();
  slack = house.slack;
  dm = slack.dm(slack.users.alice);
  house.bot.catalogFor = async () => parseCatalog(sandboxCatalog);
});

afterEach(async () => {
  await house.remove();
  expect(slack.violations).toEqual([]);
});

const calls = (method: string) =>
  slack.calls.filter((call) => call.method === `assistant.threads.${method}`).map(({ args }) => args);
const prompts = () => calls('setSuggestedPrompts').map((args) => JSON.parse(String(args['prompts'])));
const opened = async (): Promise<Message> => {
  const thread = slack.people.openPane();
  await slack.until(() => calls('setTitle').length > 0, 'the title of the thread');
  return thread;
};
const replies = () => slack.messages(dm).filter(({ threadTs }) => threadTs !== null);

describe('a thread of the assistant pane', () => {
  it('that is opened gets four suggested prompts, the first with its price, and a title without a prompt', async () => {
    const { ts: thread_ts } = await opened();
    expect(prompts()).toEqual([
      [
        { title: 'Make a clip with Swift 1 · $0.20', message: 'a red fox running through snow, cinematic' },
        { title: 'What is running?', message: 'status' },
        { title: 'What did we spend this month?', message: 'usage' },
        { title: 'Show my latest clips', message: 'list --who me' },
      ],
    ]);
    expect(calls('setTitle')).toEqual([expect.objectContaining({ channel_id: dm, thread_ts, title: 'Clips' })]);
  });

  it('is left alone where its user goes to another channel, unless a price has changed', async () => {
    const thread = await opened();
    const elsewhere = async () => {
      const envelope = slack.people.lookElsewhere(thread, slack.channels.clips);
      if (envelope !== null) await slack.acknowledged(envelope);
    };
    await elsewhere();
    expect(prompts()).toHaveLength(1);
    const { models, ...rest } = sandboxCatalog;
    const dearer = parseCatalog({ ...rest, models: models.map((model) => ({ ...model, price: '0.10' })) });
    house.bot.catalogFor = async () => dearer;
    await elsewhere();
    expect(prompts()).toHaveLength(2);
    expect(prompts()[1]?.[0]?.title).toContain('$0.40');
    expect(calls('setTitle')).toHaveLength(1);
  });

  it('gets its prompts with the next look where they could not be set', async () => {
    slack.fail('assistant.threads.setSuggestedPrompts', 'internal_error');
    const thread = await opened();
    for (let times = 0; times < 2; times += 1) {
      const envelope = slack.people.lookElsewhere(thread, slack.channels.clips);
      if (envelope !== null) await slack.acknowledged(envelope);
    }
    expect(calls('setSuggestedPrompts')).toHaveLength(2);
  });

  it('of someone without access gets nothing', async () => {
    slack.people.openPane({ user: slack.users.gwen });
    const started = slack.envelopes.findLast(({ type }) => type === 'assistant_thread_started');
    if (started === undefined) throw new TypeError('no event');
    await slack.acknowledged(started);
    expect(calls('setSuggestedPrompts')).toEqual([]);
  });

  it('without the scope is one of direct messages, and no call is made in vain', async () => {
    slack.removeScopes(['assistant:write']);
    await house.platform.channels.missingRight({ team: slack.team.id, channel: slack.channels.general, address: {} });
    const parent = slack.people.say('hello', { channel: dm });
    slack.people.say('status', { channel: dm, threadTs: parent.ts });
    await house.heard(({ what }) => what === 'status');
    const { caller } = await house.heard(({ what }) => what === 'status');
    await house.platform.open('task-1' as TaskId, caller, taskView());
    expect(slack.calls.filter(({ method }) => method.startsWith('assistant.'))).toEqual([]);
  });
});

describe('a message in the assistant pane', () => {
  it('is no order by itself, and is answered in its thread; other direct messages are as before', async () => {
    const thread = await opened();
    slack.people.say('a red fox in the snow', { channel: dm, threadTs: thread.ts });
    const heard = await house.heard(({ what }) => what === 'a red fox in the snow');
    expect(heard).toMatchObject({ addressing: 'assistant', caller: { channel: dm, address: { thread: thread.ts } } });
    slack.people.say('a wolf in the snow', { channel: dm });
    expect(await house.heard(({ what }) => what === 'a wolf in the snow')).toMatchObject({ addressing: 'message' });
    slack.people.mention('an owl in the snow', { threadTs: slack.people.say('our clips').ts });
    expect(await house.heard(({ what }) => what === 'an owl in the snow')).toMatchObject({ addressing: 'message' });
  });

  it('gets a question about an order that stays, and other answers as in a direct message', async () => {
    const thread = await opened();
    const order = { id: 'order:d1:0.30USD', label: 'Create · $0.30', style: 'plain' } as const;
    house.bot.reply = { kind: 'private', card: layOut([['Should I make it?']], { buttons: [order] }) };
    slack.people.say('a red fox', { channel: dm, threadTs: thread.ts });
    const said = (text: string) => replies().find((message) => plainOf(message).includes(text));
    await slack.until(() => said('Should I make it?') !== undefined, 'the question');
    expect(said('Should I make it?')).toMatchObject({ threadTs: thread.ts, visibleTo: null });
    house.bot.reply = privately('Nothing is running.');
    slack.people.say('status', { channel: dm, threadTs: thread.ts });
    await slack.until(() => said('Nothing is running.') !== undefined, 'an answer');
    expect(said('Nothing is running.')).toMatchObject({ threadTs: thread.ts, visibleTo: slack.users.alice });
  });
});

describe('the status of a thread', () => {
  const TASK = 'task-1' as TaskId;
  const running = taskView({ task: TASK });
  const done: View = { ...running, phase: 'done' };

  const ordered = async () => {
    const thread = await opened();
    slack.people.say('status', { channel: dm, threadTs: thread.ts });
    const { caller } = await house.heard(({ what }) => what === 'status');
    return { thread, caller, message: await house.platform.open(TASK, caller, running) };
  };

  it('says that a clip is made there, and is cleared at its end', async () => {
    const { thread, caller, message } = await ordered();
    expect(slack.message(message.message).threadTs).toBe(thread.ts);
    await slack.until(() => slack.status(thread.ts) === ASSISTANT_WORDS.rendering, 'the status');
    // Progress alone sets it again only after a minute.
    await house.platform.edit(message, caller, running, 'progress');
    await house.platform.edit(message, caller, done, 'final');
    await slack.until(() => slack.status(thread.ts) === '', 'the end of the status');
    expect(calls('setStatus').map(({ status }) => status)).toEqual([ASSISTANT_WORDS.rendering, '']);
  });

  it('stays until the last of several clips has ended', async () => {
    const { thread, caller, message } = await ordered();
    const other = await house.platform.open('task-2' as TaskId, caller, running);
    await house.platform.edit(message, caller, done, 'final');
    await slack.until(() => calls('setStatus').length === 3, 'the status after one');
    expect(slack.status(thread.ts)).toBe(ASSISTANT_WORDS.rendering);
    await house.platform.edit(other, caller, done, 'final');
    await slack.until(() => slack.status(thread.ts) === '', 'the end of the status');
  });

  it('is cleared by a process that did not set it', async () => {
    const { thread, caller, message } = await ordered();
    await slack.until(() => slack.status(thread.ts) === ASSISTANT_WORDS.rendering, 'the status');
    await house.restart();
    await house.platform.edit(message, caller, done, 'final');
    await slack.until(() => calls('setStatus').length === 2, 'the end of the status');
    expect(slack.status(thread.ts)).toBe('');
  });

  it('is cleared although an earlier clip, of which nothing was seen for two minutes, ended elsewhere', async () => {
    let skippedMs = 0;
    const clock: Clock = {
      now: () => systemClock.now() + skippedMs,
      monotonic: () => systemClock.monotonic() + skippedMs,
      after: (delayMs, run) => systemClock.after(delayMs, run),
    };
    await house.remove();
    house = await SlackHouse.start({ clock, shortlyMs: 300_000 });
    slack = house.slack;
    dm = slack.dm(slack.users.alice);
    house.bot.catalogFor = async () => parseCatalog(sandboxCatalog);
    const { caller } = await ordered();
    skippedMs = 120_000;
    const next = await house.platform.open('task-2' as TaskId, caller, running);
    await house.platform.edit(next, caller, done, 'final');
    await slack.until(() => calls('setStatus').length === 3, 'the end of the next clip');
    expect(calls('setStatus').at(-1)).toMatchObject({ status: '' });
  });

  it('touches no order where it fails', async () => {
    slack.fail('assistant.threads.setStatus', 'internal_error');
    const { caller, message } = await ordered();
    await slack.until(() => calls('setStatus').length === 1, 'the failure');
    await house.platform.edit(message, caller, done, 'final');
    await slack.until(() => calls('setStatus').length === 2, 'the next try');
    expect(slack.message(message.message).edits).toBe(1);
  });

  it('is not set in channels, nor in a direct message outside of threads', async () => {
    slack.people.slash('/video list', { channel: dm });
    const { caller } = await house.heard(({ what }) => what === 'list');
    await house.platform.open(TASK, caller, running);
    const inThread = { ...caller, channel: slack.channels.general, address: { thread: slack.people.say('hi').ts } };
    await house.platform.open('task-2' as TaskId, inThread, running);
    expect(calls('setStatus')).toEqual([]);
  });
});
