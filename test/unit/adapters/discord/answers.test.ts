import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Form } from '#commands/bot-port.ts';
import type { Place } from '#src/chat/platform.ts';
import { DailiesError } from '#src/errors.ts';
import type { Origin, TaskId } from '#src/tasks/task.ts';
import { fileOf } from '#test/fakes/discord/files.ts';
import type { Interaction } from '#test/fakes/discord/index.ts';
import { buttonsOf, DiscordHouse, plainOf } from '#test/fakes/discord-house.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import { endNotice, taskView } from '#test/fakes/views.ts';

let house: DiscordHouse;
let clock: ManualClock;
const { promise: never } = Promise.withResolvers<void>();

beforeEach(async () => {
  clock = new ManualClock(Date.now());
  house = await DiscordHouse.start({ clock });
  house.bot.onShow = () => Promise.resolve({ channel: '', message: '' });
});

afterEach(async () => {
  house.bot.gate = Promise.resolve();
  expect(house.discord.violations).toEqual([]);
  await house.remove();
});

/** Sends a command while the store is slow, and advances the clock past the deferral. */
async function slowly(typed: string, options = {}): Promise<{ asked: Interaction; go: () => void }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  house.bot.gate = promise;
  const asked = house.discord.people.slash(typed, options);
  await house.heard(asked);
  clock.advance(1_600);
  await house.discord.answered(asked);
  return { asked, go: resolve };
}

const follow = (asked: Interaction) =>
  house.discord
    .until(() => asked.followupIds.length === 1, 'a follow-up')
    .then(() => house.discord.message(asked.followupIds[0] ?? ''));

describe('a slow response', () => {
  it('is deferred in time, publicly for a public command', async () => {
    house.bot.reply = { kind: 'public', card: { lines: [['Here it is.']], progress: null, buttons: [] } };
    const { asked, go } = await slowly('video create', { prompt: 'a fox' });
    expect(asked.answer?.type).toBe(5);
    expect((asked.answer?.atMs ?? 0) - asked.createdMs).toBeLessThan(2_000);
    expect(house.discord.original(asked)).toMatchObject({ visibleTo: null });
    go();
    await house.discord.until(
      () => plainOf(house.discord.original(asked) ?? EMPTY).includes('Here it is.'),
      'the words',
    );
  });

  it('is deferred ephemerally for a private command', async () => {
    const { asked, go } = await slowly('video models');
    expect(house.discord.original(asked)?.visibleTo).toBe(house.discord.users.alice);
    go();
    await house.discord.until(() => plainOf(house.discord.original(asked) ?? EMPTY).includes('Yes.'), 'the words');
  });

  it('deletes the public deferral on a refusal, and follows up ephemerally', async () => {
    house.bot.reply = { kind: 'refused', sentence: 'seconds: 30 is not offered' };
    const { asked, go } = await slowly('video create', { prompt: 'a fox' });
    go();
    const told = await follow(asked);
    expect(told.visibleTo).toBe(house.discord.users.alice);
    expect(plainOf(told)).toContain('seconds: 30 is not offered');
    expect(house.discord.messages(house.discord.channels.general)).toEqual([told]);
  });

  it('keeps a task message that the deferral has become meanwhile on a refusal', async () => {
    const { asked, go } = await slowly('video create', { prompt: 'a fox' });
    const { caller: origin } = await house.heard(asked);
    const { message } = await house.platform.open('task-1' as TaskId, origin, taskView());
    house.bot.reply = { kind: 'refused', sentence: 'I can’t reach my database' };
    go();
    const told = await follow(asked);
    expect(told.visibleTo).toBe(house.discord.users.alice);
    expect(house.discord.messages(house.discord.channels.general)).toEqual([house.discord.message(message), told]);
  });

  it('to autocomplete is an empty list', async () => {
    house.bot.suggestions = [{ value: 'a', label: 'A' }];
    let isHeard = false;
    house.bot.suggest = () => {
      isHeard = true;
      return never.then(() => []);
    };
    const asked = house.discord.people.autocomplete('video create', { model: '' }, 'model');
    while (!isHeard) await setImmediate();
    clock.advance(2_100);
    expect((await house.discord.answered(asked)).data).toEqual({ choices: [] });
  });
});

it('bounds the total wait of autocomplete for the membership check and the suggestions', async () => {
  const go = house.discord.hold('GET /guilds/:guild');
  house.bot.suggest = () => never.then(() => []);
  const { elsewhere: channel } = house.discord.channels;
  const asked = house.discord.people.autocomplete('video create', { model: '' }, 'model', { channel });
  await expect.poll(() => house.discord.held, { interval: 1 }).toBe(1);
  clock.advance(2_100);
  expect((await house.discord.answered(asked)).data).toEqual({ choices: [] });
  go();
});

describe('a response', () => {
  it('is sent once for an interaction delivered twice', async () => {
    const asked = house.discord.people.slash('video models');
    house.discord.redeliver(asked);
    await house.discord.answered(asked);
    house.discord.redeliver(asked);
    await house.discord.answered(house.discord.people.slash('video models'));
    expect(house.bot.heard.filter(({ caller }) => caller.interaction === asked.id)).toHaveLength(1);
  });

  it('is looked up instead of resent after a lost confirmation', async () => {
    house.discord.dropNextAnswer(CALLBACK);
    const asked = house.discord.people.slash('video models');
    await house.discord.answered(asked);
    const looks = () => house.discord.requests.filter(({ route }) => route === LOOK);
    await house.discord.until(() => looks().length === 1, 'a look');
    expect(house.discord.requests.filter(({ path }) => path.includes('/callback'))).toHaveLength(1);
  });

  it('is resent if it did not arrive', async () => {
    house.discord.fail(CALLBACK, 502);
    const asked = house.discord.people.slash('video models');
    expect((await house.discord.answered(asked)).type).toBe(4);
  });

  it.each(['does not arrive', 'loses its confirmation'])(
    'in place of a question is shown once if it %s',
    async (fault) => {
      const create = { id: 'order:draft-1:4USD', label: 'Create for $4.00', style: 'primary' } as const;
      house.bot.reply = { kind: 'private', card: { lines: [['It costs $4.00.']], progress: null, buttons: [create] } };
      const asked = await house.answerTo(house.discord.people.slash('video create', { prompt: 'a fox' }));
      const callbacks = () => house.discord.requests.filter(({ path }) => path.includes('/callback')).length;
      const before = callbacks();
      if (fault === 'does not arrive') house.discord.fail(CALLBACK, 502);
      else house.discord.dropNextAnswer(CALLBACK);
      house.bot.reply = privately('This was already requested.');
      const press = house.discord.people.press(asked.id, create.id);
      expect((await house.discord.answered(press)).type).toBe(7);
      await house.discord.until(() => house.discord.requests.some(({ route }) => route === LOOK), 'a look');
      await house.platform.stop();
      expect(callbacks() - before).toBe(fault === 'does not arrive' ? 2 : 1);
    },
  );

  it('reports an error to the caller only', async () => {
    house.bot.reply = new DailiesError('claiming', { code: 'store_unavailable', retryable: true });
    const message = await house.answerTo(house.discord.people.slash('video create', { prompt: 'a fox' }));
    expect(message.visibleTo).toBe(house.discord.users.alice);
    expect(plainOf(message)).toContain('I can’t reach my database');
  });

  it('to a page button replaces the page in place', async () => {
    const page = { id: 'page:list:10:0:', label: 'Older', style: 'plain' } as const;
    house.bot.reply = { kind: 'private', card: { lines: [['First']], progress: null, buttons: [page] } };
    const listed = await house.answerTo(house.discord.people.slash('video list'));
    house.bot.reply = privately('Second');
    const press = house.discord.people.press(listed.id, page.id);
    expect((await house.discord.answered(press)).type).toBe(7);
    expect(plainOf(house.discord.message(listed.id))).toContain('Second');
  });

  it('in flight is completed on shutdown, and no new one is started', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    house.bot.gate = promise;
    const asked = house.discord.people.slash('video models');
    await house.heard(asked);
    const stopped = house.platform.stop();
    resolve();
    await stopped;
    expect(asked.answer?.type).toBe(4);
  });
});

describe('where the bot is not a member', () => {
  const ask = () => {
    const { group: channel } = house.discord.channels;
    return house.discord.people.slash('video create', { prompt: 'a fox' }, { channel });
  };

  it.each([
    ['is too late', [[404, { code: 10_062 }]]],
    ['does not arrive', [[502], [502]]],
  ] as const)('starts nothing if the response %s', async (_how, failures) => {
    for (const [status, options] of failures) house.discord.fail(CALLBACK, status, options);
    ask();
    const isDone = () => house.discord.requests.some(({ route, status }) => route === LOOK && status === 404);
    await house.discord.until(isDone, 'a look for the answer');
    await house.platform.stop();
    expect(house.bot.heard).toEqual([]);
  });

  it('continues a redelivered interaction as long as its response exists', async () => {
    house.bot.reply = { kind: 'task', task: 'task-1' as TaskId };
    const asked = ask();
    await house.heard(asked);
    await house.restart();
    clock.advance(5_000);
    house.discord.redeliver(asked);
    await expect.poll(() => house.bot.heard.length).toBe(2);
  });
});

describe('the input of a user', () => {
  it('is converted for the bot', async () => {
    const { alice, bob } = house.discord.users;
    await house.answerTo(house.discord.people.slash('video list', { search: 'fox', who: bob }, { user: alice }));
    expect(house.bot.heard.at(-1)).toMatchObject({
      caller: {
        platform: 'discord',
        team: house.discord.guildId,
        user: { id: alice, name: 'alice' },
        mayManage: false,
      },
      what: { name: 'list', given: { search: ['fox'], who: [`<@${bob}|bob>`] } },
    });
    const { clips } = house.discord.channels;
    const asked = house.discord.people.slash(
      'video notify',
      { channel: clips, off: true },
      { permissions: ['MANAGE_MESSAGES'] },
    );
    await house.answerTo(asked);
    expect(house.bot.heard.at(-1)).toMatchObject({ caller: { mayManage: true }, what: { given: { off: [''] } } });
    expect(JSON.stringify(house.bot.heard.at(-1)?.what)).toContain(`<#${clips}`);
  });

  it('carries roles and the right to administer in the server, not in a direct message', async () => {
    const { people, users } = house.discord;
    const permissions = ['MANAGE_GUILD'] as const;
    await house.answerTo(people.slash('video models', {}, { permissions }));
    expect(house.bot.heard.at(-1)?.caller).toMatchObject({ mayAdminister: true, roles: [] });
    await house.answerTo(people.slash('video models', {}, { channel: house.discord.dm(users.alice), permissions }));
    expect(house.bot.heard.at(-1)?.caller).toMatchObject({ mayAdminister: false, roles: undefined });
  });

  it('in a direct message belongs to a team of its own', async () => {
    const channel = house.discord.dm(house.discord.users.bob);
    await house.answerTo(house.discord.people.slash('video models', {}, { channel, user: house.discord.users.bob }));
    expect(house.bot.heard.at(-1)?.caller).toMatchObject({
      team: house.discord.guildId,
      address: { access: 'bot', direct: 'yes' },
    });
  });
});

it('turns files uploaded with a form into URLs, and refuses one of the wrong kind', async () => {
  const { people } = house.discord;
  const upload = { kind: 'image', label: 'Reference images', note: 'It needs 1.', max: 2 } as const;
  const prompt = { name: 'prompt', label: 'Prompt', value: 'a fox', required: true, long: true };
  const form: Form = {
    id: 'fix:0123456789abcdef',
    title: 'Fix it',
    submit: 'Create',
    fields: [prompt],
    upload,
    prices: '1a2b3c4d',
  };
  const card = {
    lines: [['No.']],
    progress: null,
    buttons: [{ id: 'fix:1', label: 'Fix it', style: 'plain' }],
  } as const;
  house.bot.reply = { kind: 'private', card };
  const shown = await house.answerTo(people.slash('video models'));
  house.bot.reply = { kind: 'form', form };
  const opened = people.press(shown.id, 'fix:1');
  await house.discord.answered(opened);
  house.bot.reply = privately('Yes.');
  const file = (name: string, type: string) => fileOf(name, type, Buffer.from('x'));
  await house.answerTo(people.submitModal(opened, { image: [file('fox.png', 'image/png')] }));
  await house.answerTo(people.submitModal(opened, { image: [file('fox.pdf', 'application/pdf')] }));
  expect(house.bot.heard.filter(({ kind }) => kind === 'submit')).toMatchObject([
    {
      caller: { shown: { prices: '1a2b3c4d' } },
      what: { form: form.id, values: { prompt: 'a fox', image: expect.stringContaining('fox.png') } },
    },
  ]);
});

describe('reactions', () => {
  const reacted = () => house.bot.heard.filter(({ kind }) => kind === 'react');
  const noticed = async (place: Place) => {
    const user = { id: house.discord.users.alice, name: 'alice' };
    const origin: Origin = { ...place, platform: 'discord', user, interaction: 'reaction:1:2:🔁' };
    const task = 'task0123456789ab' as TaskId;
    const message = await house.platform.open(task, origin, taskView({ task }));
    const view = endNotice(origin, { task });
    const notice = await house.platform.notify({ key: 'end:1', place, replyTo: message, mention: origin.user, view });
    house.bot.reply = null;
    return { message, notice };
  };

  it('are to a message that made no sound, and to a mention that did', async () => {
    const { message, notice } = await noticed({ team: '1', channel: house.discord.channels.general, address: {} });
    const isSilent = ({ message: id }: { readonly message: string }) =>
      (house.discord.message(id).flags & (1 << 12)) !== 0;
    expect([message, notice].map(isSilent)).toEqual([true, false]);
  });

  it('to the final mention apply to its task, even after a restart', async () => {
    const { message, notice } = await noticed({ team: '1', channel: house.discord.channels.general, address: {} });
    house.discord.people.react(notice.message, '🔁');
    await house.hears(({ kind }) => kind === 'react');
    expect(reacted()).toMatchObject([{ what: { message, emoji: '🔁' } }]);
    await house.restart();
    house.discord.people.react(notice.message, '❌');
    await house.hears(({ what }) => JSON.stringify(what).includes('❌'));
    expect(reacted()).toMatchObject([{}, { what: { message, emoji: '❌' } }]);
  });

  it('get a message with the button where they need a confirmation', async () => {
    const channel = house.discord.channels.general;
    const { message } = await noticed({ team: '1', channel, address: {} });
    const buttons = [{ id: 'order:draft-1:4USD', label: 'Create for $4.00', style: 'primary' as const }];
    const card = (line: string) => ({ lines: [[line]], progress: null, buttons });
    house.bot.reply = { kind: 'offer', id: 'draft-1', card: card('It costs $4.00.'), private: card('$36.20 is left.') };
    house.discord.people.react(message.message, '🔁');
    const offered = () =>
      house.discord.messages(channel).filter((one) => buttonsOf(one).some(({ id }) => id === 'order:draft-1:4USD'));
    await house.discord.until(() => offered().length > 0, 'the offer');
    const [offer = EMPTY] = offered();
    expect(plainOf(offer)).toContain(`<@${house.discord.users.alice}>`);
    expect(plainOf(offer)).toContain('It costs $4.00.');
    expect(plainOf(offer)).not.toContain('left');
  });

  it('in a direct message come with the name of the user', async () => {
    const channel = house.discord.dm(house.discord.users.alice);
    const { message } = await noticed({ team: `dm:${channel}`, channel, address: {} });
    house.discord.people.react(message.message, '🔁', { channel });
    expect(await house.hears(({ kind }) => kind === 'react')).toMatchObject({
      caller: { user: { id: house.discord.users.alice, name: 'alice' } },
    });
  });
});

it('passes only reactions to the bot’s own messages on', async () => {
  const { people, channels, users } = house.discord;
  house.bot.reply = { kind: 'public', card: { lines: [['Here.']], progress: null, buttons: [] } };
  const asked = people.slash('video create', { prompt: 'a fox' });
  const answer = await house.answerTo(asked);
  people.react(people.say('hello').id, '🔁');
  people.react(answer.id, '👍');
  people.react(answer.id, '🔁', { user: users.bob });
  await house.hears(({ kind }) => kind === 'react');
  expect(house.bot.heard.filter(({ kind }) => kind === 'react')).toMatchObject([
    {
      caller: { user: { id: users.bob, name: 'bob' }, channel: channels.general, mayManage: false },
      what: { emoji: '🔁' },
    },
  ]);
});

const CALLBACK = 'POST /interactions/:interaction/:token/callback';
const LOOK = 'GET /webhooks/:application/:token/messages/:message';
const EMPTY = { content: '', components: [] };
