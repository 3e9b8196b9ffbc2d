import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createForm } from '#commands/input/forms.ts';
import { layOut } from '#commands/ui/card.ts';
import { DailiesError } from '#src/errors.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { parseCatalog, priceFingerprint } from '#src/videos/catalog.ts';
import { privately } from '#test/fakes/scripted-bot.ts';
import type { Envelope, FakeSlack, View } from '#test/fakes/slack/index.ts';
import { plainOf, SlackHouse } from '#test/fakes/slack-house.ts';

const catalog = parseCatalog(sandboxCatalog);
const FORM = createForm(catalog);

describe.each(['socket', 'http'] as const)('interactions on Slack (%s)', (mode) => {
  let house: SlackHouse;
  let slack: FakeSlack;

  beforeEach(async () => {
    house = await SlackHouse.start({ mode });
    slack = house.slack;
  });

  afterEach(async () => {
    await house.remove();
    expect(slack.violations).toEqual([]);
  });

  const whispered = async (text: string, channel = slack.channels.general): Promise<void> =>
    slack.until(
      () => house.whispers(slack.users.alice, channel).some((message) => plainOf(message).includes(text)),
      `a whisper of ${text}`,
    );

  /** Opens the modal of an empty `/video` as alice. */
  const openForm = async (): Promise<View> => {
    house.bot.reply = FORM;
    slack.people.slash('/video');
    await slack.until(() => slack.forms.shown(slack.users.alice) !== null, 'a form');
    const view = slack.forms.shown(slack.users.alice);
    if (view === null) throw new TypeError('no form');
    return view;
  };

  it('passes on typed text unchanged, with user and channel', async () => {
    const typed = slack.people.slash('/video a fox & a <hen> https://example.com/a.png --seconds 6');
    const { caller, what } = await house.heard();
    expect(what).toBe('a fox & a <hen> https://example.com/a.png --seconds 6');
    expect(caller).toMatchObject({
      platform: 'slack',
      team: slack.team.id,
      channel: slack.channels.general,
      user: { id: slack.users.alice, name: 'alice' },
      interaction: typed.triggerId,
    });
    await whispered('Yes.');
  });

  it('passes on a thread with its channel, whose budget it counts towards', async () => {
    const parent = slack.people.say('our clips');
    const said = slack.people.mention('a blue fox', { threadTs: parent.ts });
    expect(said.threadTs).toBe(parent.ts);
    const { caller } = await house.heard();
    expect(caller).toMatchObject({ channel: slack.channels.general, address: { thread: parent.ts } });
    expect(caller.parentChannel).toBeUndefined();
  });

  it('accepts commands in direct messages', async () => {
    const channel = slack.dm(slack.users.alice);
    slack.people.slash('/video a fox', { channel });
    expect((await house.heard()).caller.channel).toBe(channel);
    await whispered('Yes.', channel);
  });

  it('deduplicates a retried command, and acknowledges both deliveries', async () => {
    const command = slack.people.slash('/video a fox');
    await house.heard();
    await slack.acknowledged(command);
    slack.redeliver(command);
    await slack.until(() => command.attempts.every(({ ackedMs }) => ackedMs !== null), 'both acknowledged');
    expect(house.bot.heard).toHaveLength(1);
  });

  it('deduplicates a retried command in flight', async () => {
    const gate = Promise.withResolvers<void>();
    house.bot.gate = gate.promise;
    const command = slack.people.slash('/video a fox');
    slack.redeliver(command);
    await slack.until(() => command.attempts.every(({ ackedMs }) => ackedMs !== null), 'both acknowledged');
    gate.resolve();
    await whispered('Yes.');
    expect(house.bot.heard).toHaveLength(1);
  });

  it('deduplicates a retried event; a restarted replica handles it under the same key', async () => {
    slack.people.mention('a red fox');
    await house.heard();
    const event = slack.envelopes.find(({ type }) => type === 'app_mention') as Envelope;
    await slack.acknowledged(event);
    slack.redeliver(event, { number: 1, reason: 'http_timeout' });
    await slack.until(() => event.attempts.every(({ ackedMs }) => ackedMs !== null), 'both acknowledged');
    expect(house.bot.heard).toHaveLength(1);
    await house.restart();
    slack.redeliver(event, { number: 2, reason: 'http_timeout' });
    await slack.until(() => event.attempts.every(({ ackedMs }) => ackedMs !== null), 'all acknowledged');
    expect(new Set(house.bot.heard.map(({ caller }) => caller.interaction)).size).toBe(1);
  });

  it('shows errors to the user only', async () => {
    house.bot.reply = new DailiesError('asking', { code: 'store_unavailable', retryable: true });
    slack.people.slash('/video a fox');
    await whispered('I can’t reach my database right now');
    expect(slack.messages(slack.channels.general).every(({ visibleTo }) => visibleTo === slack.users.alice)).toBe(true);
  });

  it('treats a leading mention as a command, and responds in its thread', async () => {
    const said = slack.people.mention('a red fox --seconds 4');
    const { caller, what, addressing } = await house.heard();
    expect([what, addressing]).toEqual(['a red fox --seconds 4', 'message']);
    expect(caller).toMatchObject({ user: { name: 'alice' }, address: { thread: said.ts } });
    const [event] = slack.envelopes.filter(({ type }) => type === 'app_mention');
    expect(caller.interaction).toBe(event?.payload['event_id']);
    await slack.until(() => house.whispers(slack.users.alice, slack.channels.general).length > 0, 'an answer');
    expect(house.whispers(slack.users.alice, slack.channels.general)[0]?.threadTs).toBe(said.ts);
  });

  it('looks up who may decide on others’ clips for a command and for a mention', async () => {
    const user = slack.users.bob;
    slack.setAdmin(user, 'is_admin');
    slack.people.slash('/video cancel 7f3a', { user });
    const typed = await house.heard(({ what }) => what === 'cancel 7f3a');
    slack.people.mention('delete 7f3a', { user });
    const said = await house.heard(({ what }) => what === 'delete 7f3a');
    slack.people.mention('a red fox', { user });
    const ordered = await house.heard(({ what }) => what === 'a red fox');
    expect([typed, said, ordered].map(({ caller }) => caller.mayManage)).toEqual([true, true, false]);
  });

  it.each(['edit:task-1', 'fix:draft'])('looks up who may decide for the form %s', async (id) => {
    const user = slack.users.bob;
    slack.setAdmin(user, 'is_admin');
    const prompt = { name: 'prompt', label: 'Prompt', value: 'a red fox', required: true, long: true };
    house.bot.reply = { kind: 'form', form: { id, title: 'Edit', submit: 'Create clip', fields: [prompt] } };
    slack.people.slash('/video', { user });
    await slack.until(() => slack.forms.shown(user) !== null, 'a form');
    house.bot.reply = privately('Again.');
    slack.forms.submit(slack.forms.shown(user) as View, { prompt: 'a blue fox' });
    expect((await house.heard(({ kind }) => kind === 'submit')).caller.mayManage).toBe(true);
  });

  it('treats a direct message as a command, and responds in place', async () => {
    const channel = slack.dm(slack.users.alice);
    slack.people.say('a red fox --seconds 4', { channel });
    const { caller, what, addressing } = await house.heard();
    expect([what, addressing]).toEqual(['a red fox --seconds 4', 'message']);
    expect(caller).toMatchObject({ channel, user: { name: 'alice' }, address: {} });
    const [event] = slack.envelopes.filter(({ kind }) => kind === 'events_api');
    expect(caller.interaction).toBe(event?.payload['event_id']);
    await whispered('Yes.', channel);
    slack.redeliver(event as Envelope, { number: 1, reason: 'http_timeout' });
    await slack.until(() => event?.attempts.every(({ ackedMs }) => ackedMs !== null) === true, 'both acknowledged');
    expect(house.bot.heard).toHaveLength(1);
  });

  it('accepts a direct message in a thread, with or without the bot’s name', async () => {
    const channel = slack.dm(slack.users.alice);
    const { ts } = slack.people.say('a red fox', { channel });
    slack.people.mention('a blue fox', { channel, threadTs: ts });
    const { caller } = await house.heard(({ what }) => what === 'a blue fox');
    expect(caller).toMatchObject({ channel, address: { thread: ts } });
  });

  it('ignores edits and its own messages in direct messages', async () => {
    const channel = slack.dm(slack.users.alice);
    house.bot.reply = { kind: 'public', card: { lines: [['Spoken.']], progress: null, buttons: [] } };
    const { ts } = slack.people.say('a red fox', { channel });
    await slack.until(() => slack.messages(channel).some((one) => plainOf(one).includes('Spoken.')), 'an answer');
    slack.people.edit(ts, 'a blue fox');
    slack.people.say('the last one', { channel });
    await house.heard(({ what }) => what === 'the last one');
    expect(house.bot.heard.map(({ what }) => what)).toEqual(['a red fox', 'the last one']);
  });

  it('ignores a message that mentions the bot elsewhere', async () => {
    slack.people.say(`thanks <@${slack.team.botUserId}> for the fox`);
    slack.people.slash('/video help');
    await house.heard(({ what }) => what === 'help');
    expect(house.bot.heard).toHaveLength(1);
  });

  it('passes on only meaningful reactions', async () => {
    const task = 'task-1' as TaskId;
    house.bot.reply = { kind: 'task', task };
    const { channel, message } = await posted(task);
    slack.people.react(message, 'thumbsup');
    slack.people.react(message, 'repeat');
    slack.people.react(message, 'x');
    await vi.waitFor(() => expect(house.bot.heard.filter(({ kind }) => kind === 'react')).toHaveLength(2), 300_000);
    const reacted = house.bot.heard.filter(({ kind }) => kind === 'react').map(({ what }) => what);
    expect(reacted).toEqual(
      expect.arrayContaining([
        { message: { channel, message }, emoji: 'repeat' },
        { message: { channel, message }, emoji: 'x' },
      ]),
    );
  });

  /** Posts a task's message with a button. */
  const posted = async (task: TaskId) => {
    slack.people.slash('/video a fox');
    const { caller: origin } = await house.heard();
    const { taskView } = await import('#test/fakes/views.ts');
    const ref = await house.platform.open(task, origin, taskView({ task }));
    house.bot.onShow = () => Promise.resolve(ref);
    return ref;
  };

  it('passes on button presses, and responds ephemerally', async () => {
    const { message } = await posted('task-1' as TaskId);
    house.bot.reply = privately('Pressed.');
    const press = slack.people.press(message, 'cancel:task-1', { user: slack.users.alice });
    const { what, caller } = await house.heard(({ kind }) => kind === 'press');
    expect(what).toBe('cancel:task-1');
    expect(caller.interaction).toBe(press.triggerId);
    await whispered('Pressed.');
  });

  it('only acknowledges the press of a link button', async () => {
    const message = { channel: slack.channels.general, message: '1700000000.000100' };
    const item = { kind: 'item', title: ['A clip'], small: [], accessory: { message, label: 'Open' } } as const;
    house.bot.reply = { kind: 'private', card: layOut([item]) };
    slack.people.slash('/video list');
    await whispered('A clip');
    const [list] = house.whispers(slack.users.alice, slack.channels.general);
    const heard = house.bot.heard.length;
    await slack.acknowledged(slack.people.press(list?.ts ?? '', 'open-0'));
    expect(house.bot.heard).toHaveLength(heard);
  });

  it('replaces the message when paging', async () => {
    const buttons = [{ id: 'page:list:10:0:', label: 'Older', style: 'plain' }] as const;
    house.bot.reply = { kind: 'private', card: { lines: [['One']], progress: null, buttons } };
    slack.people.slash('/video list');
    await whispered('One');
    const [page] = house.whispers(slack.users.alice, slack.channels.general);
    house.bot.reply = privately('Two');
    slack.people.press(page?.ts ?? '', 'page:list:10:0:');
    await whispered('Two');
    expect(house.whispers(slack.users.alice, slack.channels.general)).toHaveLength(1);
  });

  describe('modals', () => {
    it('open for an empty command, with the model’s options and prices', async () => {
      const view = await openForm();
      const text = JSON.stringify(view.blocks);
      expect(text).toContain('$0.05/s');
      expect(text).toContain('(default)');
      expect(view.blocks.map((block) => block.block_id.split(':')[0])).toEqual(
        expect.arrayContaining(['prompt', 'model', 'seconds', 'aspect', 'resolution']),
      );
    });

    it('update with the model, and keep the input', async () => {
      const view = await openForm();
      const other = catalog.models.find((model) => model !== catalog.defaultModel);
      slack.forms.change(view, 'prompt', 'a red fox');
      slack.forms.change(view, 'model', other?.name ?? '');
      await slack.until(() => view.blocks.some((block) => block.block_id === `seconds:${other?.name}`), 'a change');
      expect(view.values.get('prompt')?.get('prompt')).toMatchObject({ value: 'a red fox' });
    });

    it('show the price of the present choice, and submit it', async () => {
      const view = await openForm();
      const price = () => JSON.stringify(view.blocks.find(({ block_id: id }) => id === 'price'));
      expect(view.submit).toBe('Create clip · $0.20');
      slack.forms.change(view, 'seconds', '8');
      await slack.until(() => view.submit === 'Create clip · $0.40', 'the price of 8 s');
      expect(price()).toContain('Swift 1 · $0.05/s · 8 s = $0.40');
      slack.forms.change(view, 'takes', '3');
      await slack.until(() => view.submit === 'Create clip · $1.20', 'the price of three takes');
      expect(price()).toContain('Swift 1 · $0.05/s · 8 s · 3 takes = $1.20');
      slack.forms.change(view, 'model', 'sketch-480p');
      await slack.until(() => price().includes('Sketch'), 'the price of the other model');
      const shown = /= \$(\d\.\d\d)"/.exec(price())?.[1] ?? '';
      expect(view.submit).toBe(`Create clip · $${shown}`);
      house.bot.reply = privately('Ordered.');
      slack.forms.submit(view, { prompt: 'a red fox' });
      const { what, caller } = await house.heard(({ kind }) => kind === 'command');
      expect(what).toMatchObject({ given: { takes: ['3'] } });
      const cost = { amount: String(Number(shown)), currency: 'USD' };
      expect(caller.shown).toEqual({ price: cost, prices: priceFingerprint(catalog) });
    });

    it('show the price of the latest of two choices in quick succession', async () => {
      const view = await openForm();
      slack.forms.change(view, 'seconds', '6');
      slack.forms.change(view, 'seconds', '8');
      await slack.until(() => view.submit === 'Create clip · $0.40', 'the price of 8 s');
    });

    it('create the clip in the channel where they were opened', async () => {
      const view = await openForm();
      house.bot.reply = privately('Ordered.');
      slack.forms.submit(view, { prompt: 'a red fox' });
      const { what, caller } = await house.heard(({ kind }) => kind === 'command');
      expect(what).toMatchObject({
        name: 'create',
        given: { prompt: ['a red fox'], model: [catalog.defaultModel.name], seconds: [expect.any(String)] },
      });
      expect(caller.channel).toBe(slack.channels.general);
      await whispered('Ordered.');
      expect(view.isOpen).toBe(false);
    });

    it('open by the global shortcut, and create the clip in the selected channel', async () => {
      house.bot.reply = FORM;
      slack.people.globalShortcut('new_clip');
      await slack.until(() => slack.forms.shown(slack.users.alice) !== null, 'a form');
      const view = slack.forms.shown(slack.users.alice) as View;
      const other = 'reel-2';
      slack.forms.change(view, 'channel', slack.channels.clips);
      slack.forms.change(view, 'model', other);
      await slack.until(() => view.blocks.some((block) => block.block_id === `seconds:${other}`), 'a change');
      house.bot.reply = privately('Ordered.');
      slack.forms.submit(view, { prompt: 'a red fox' });
      const { what, caller } = await house.heard(({ kind }) => kind === 'command');
      expect(caller.channel).toBe(slack.channels.clips);
      expect((what as { given: object }).given).not.toHaveProperty('channel');
      await whispered('Ordered.', slack.channels.clips);
    });

    it('are refused by direct message for the global shortcut', async () => {
      house.bot.reply = { kind: 'refused', sentence: 'Not now.' };
      slack.people.globalShortcut('new_clip');
      const told = () => slack.messages(slack.dm(slack.users.alice)).map(plainOf);
      await slack.until(() => told().includes('Not now.'), 'a direct message');
    });

    it('show errors under their field, and accept the same input again', async () => {
      const view = await openForm();
      const problems = [
        { field: 'prompt', sentence: 'prompt: too long' },
        { field: 'seconds', sentence: 'seconds: not offered' },
      ];
      house.bot.reply = { kind: 'refused', sentence: 'prompt: too long\nseconds: not offered', problems };
      const first = slack.forms.submit(view, { prompt: 'a red fox' });
      await slack.acknowledged(first);
      expect(view.isOpen).toBe(true);
      const seconds = view.blocks.find(({ block_id: id }) => id.startsWith('seconds'))?.block_id ?? '';
      expect(view.errors).toEqual({ prompt: 'prompt: too long', [seconds]: 'seconds: not offered' });
      house.bot.reply = privately('Ordered.');
      expect(house.bot.heard.filter(({ kind }) => kind === 'command')).toHaveLength(1);
      const again = slack.forms.submit(view, { prompt: 'a red fox' });
      await slack.acknowledged(again);
      await whispered('Ordered.');
    });

    it('close for a saved request, and offer its button', async () => {
      const view = await openForm();
      const again = { id: 'order:7f3a:0.20USD', label: 'Try again · $0.20', style: 'plain' } as const;
      house.bot.reply = { kind: 'refused', sentence: 'I’m not in this channel yet.', buttons: [again] };
      slack.forms.submit(view, { prompt: 'a red fox' });
      await whispered('I’m not in this channel yet.');
      expect(view.isOpen).toBe(false);
      const [kept] = house.whispers(slack.users.alice, slack.channels.general);
      expect(JSON.stringify(kept?.blocks)).toContain(again.label);
    });

    it('are acknowledged when slow, and report errors later', async () => {
      const view = await openForm();
      const gate = Promise.withResolvers<void>();
      house.bot.gate = gate.promise;
      house.bot.reply = { kind: 'refused', sentence: 'seconds: not offered' };
      const sent = slack.forms.submit(view, { prompt: 'a red fox' });
      await slack.acknowledged(sent);
      expect(view.isOpen).toBe(false);
      gate.resolve();
      await whispered('seconds: not offered');
    });

    it('ask to press again if the trigger expired', async () => {
      house.bot.reply = FORM;
      const gate = Promise.withResolvers<void>();
      house.bot.gate = gate.promise;
      slack.people.slash('/video');
      await house.heard();
      slack.expireTriggers();
      gate.resolve();
      await whispered('Try again');
    });

    it('are prefilled for Edit & retry', async () => {
      const { message } = await posted('task-1' as TaskId);
      house.bot.reply = {
        kind: 'form',
        form: {
          id: 'edit:task-1',
          title: 'Edit & retry',
          submit: 'Create clip',
          fields: [
            { name: 'prompt', label: 'Prompt', value: 'a red fox', required: true, long: true },
            { name: 'model', label: 'Model', value: catalog.defaultModel.name, required: false, long: false },
          ],
        },
      };
      slack.people.press(message, 'details:task-1');
      await slack.until(() => slack.forms.shown(slack.users.alice) !== null, 'a form');
      const view = slack.forms.shown(slack.users.alice) as View;
      expect(JSON.stringify(view.blocks)).toContain('a red fox');
      house.bot.reply = privately('Again.');
      slack.forms.submit(view, { prompt: 'a blue fox' });
      const { what } = await house.heard(({ kind }) => kind === 'submit');
      expect(what).toMatchObject({ form: 'edit:task-1', values: { prompt: 'a blue fox' } });
    });
  });
});
