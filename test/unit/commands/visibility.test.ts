import { describe, expect, it } from 'vitest';
import type { Caller } from '#commands/bot-port.ts';
import { buttonId } from '#commands/ui/buttons.ts';
import { ledgerOf } from '#src/tasks/indexes.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../videos/models.ts';

const SECRET = 'unreleased merger teaser';

/** Creates a clip of Ada in a private channel that Bob is not in. */
async function withSecret() {
  const house = new BotHouse(CATALOG);
  house.audiences.set('secret', 'channel').set('clips', 'team');
  const inSecret = (changes: Partial<Caller> = {}) => ada({ channel: 'secret', ...changes });
  const task = await house.seed(inSecret(), SECRET);
  return { house, task, inSecret };
}

describe('spend of a team, for a member of another organisation', () => {
  it('includes only the current channel', async () => {
    const { house, task } = await withSecret();
    const here = await house.seed(ada(), 'a red fox');
    house.entries.push(...ledgerOf(task), ...ledgerOf(here));
    expect(replyText(await house.bot.text(bob(), 'usage'))).toContain('$0.40');
    const usage = replyText(await house.bot.text(bob({ isExternal: true }), 'usage'));
    expect(usage).toContain('$0.20');
    expect(usage).not.toContain('$0.40');
    expect(replyText(await house.bot.text(bob({ isExternal: true, channel: 'other' }), 'usage'))).not.toContain('Ada');
  });
});

describe('task of a private channel', () => {
  it('has its audience from the order on', async () => {
    const { task } = await withSecret();
    expect(task.origin).toMatchObject({ channel: 'secret', audience: 'channel' });
  });

  it('is hidden from outsiders in all commands', async () => {
    const { house, task } = await withSecret();
    const short = task.id.slice(0, 8);
    for (const [text, unknown] of [
      [`status ${task.id}`, 'status zzzzzzzz'],
      [`status ${short}`, 'status zzzzzzzz'],
      [`retry ${task.id}`, 'retry zzzzzzzz'],
      [`retry ${short}`, 'retry zzzzzzzz'],
      [`cancel ${task.id}`, 'cancel zzzzzzzz'],
      [`cancel ${short}`, 'cancel zzzzzzzz'],
    ] as const) {
      const answer = replyText(await house.bot.text(bob({ mayManage: true }), text));
      const other = replyText(await house.bot.text(bob({ mayManage: true }), unknown));
      expect(answer.replaceAll(task.id, '…').replaceAll(short, '…')).toBe(other.replaceAll('zzzzzzzz', '…'));
    }
    for (const text of ['list', 'list merger', 'list --who @Ada', 'status', 'usage', 'usage @Ada']) {
      expect(replyText(await house.bot.text(bob(), text)), text).not.toContain('teaser');
    }
    expect(house.orders).toEqual([]);
    expect(house.task(task.id)).toEqual(task);
  });

  it('treats an outsider’s buttons, forms and reactions as those of an unknown task', async () => {
    const { house, task } = await withSecret();
    const manager = () => bob({ mayManage: true });
    const buttons = ['retry', 'edit', 'cancel', 'details', 'lookup', 'leave', 'show', 'refetch'];
    for (const action of [...buttons, 'again']) {
      const idOf = (id: string) => (action === 'again' ? `again:${id}:0` : `${action}:${id}`);
      const reply = await house.bot.press(manager(), idOf(task.id));
      expect(reply, action).toEqual(await house.bot.press(manager(), idOf('0000000000000000')));
      expect(reply.kind).toBe('refused');
    }
    for (const form of ['edit', 'lookup']) {
      const reply = await house.bot.submit(manager(), `${form}:${task.id}`, { prompt: 'mine now', id: 'up:1' });
      expect(reply.kind, form).toBe('refused');
    }
    for (const emoji of ['🔁', '❌']) {
      const message = { channel: 'secret', message: `m-${task.id}` };
      expect(await house.bot.react(manager(), message, emoji)).toBeNull();
    }
    expect(house.orders).toEqual([]);
    expect(house.task(task.id)).toEqual(task);
  });

  it('is not suggested to outsiders', async () => {
    const { house, task } = await withSecret();
    for (const command of ['status', 'retry', 'cancel']) {
      const caller = bob({ mayManage: true });
      expect(await house.bot.suggest(caller, command, 'id', '', {}), command).toEqual([]);
      expect(await house.bot.suggest(ada({ channel: 'secret' }), command, 'id', '', {})).toMatchObject([
        { value: task.id },
      ]);
    }
  });

  it('is visible to everyone in its channel, and to its requester everywhere', async () => {
    const { house, task } = await withSecret();
    for (const caller of [() => bob({ channel: 'secret' }), () => ada({ channel: 'dm' })]) {
      expect(replyText(await house.bot.text(caller(), `status ${task.id.slice(0, 8)}`))).toContain(SECRET);
      expect(replyText(await house.bot.text(caller(), 'list merger'))).toContain(SECRET);
      expect(replyText(await house.bot.press(caller(), `details:${task.id}`))).toContain(SECRET);
    }
    const elsewhere = await house.bot.text(ada({ channel: 'dm' }), 'list');
    expect(elsewhere.kind).toBe('private');
  });
});

describe('task without an audience', () => {
  it('is visible to its channel only', async () => {
    const { house, task } = await withSecret();
    const { audience: _audience, ...origin } = task.origin;
    house.records.set(task.id, { ...task, origin: { ...origin, channel: 'gone' } });
    expect((await house.bot.text(bob(), `status ${task.id}`)).kind).toBe('refused');
    house.audiences.set('gone', 'team');
    expect((await house.bot.text(bob(), `status ${task.id}`)).kind).toBe('refused');
  });
});

describe('member of another organisation', () => {
  it('sees the tasks of the current channel only', async () => {
    const house = new BotHouse(CATALOG);
    const [here, elsewhere] = [
      await house.seed(ada(), 'a red fox'),
      await house.seed(ada({ channel: 'general' }), 'a grey wolf'),
    ];
    const stranger = () => bob({ isExternal: true });
    const list = replyText(await house.bot.text(stranger(), 'list'));
    expect(list).toContain('a red fox');
    expect(list).not.toContain('wolf');
    expect((await house.bot.press(stranger(), `details:${here.id}`)).kind).toBe('private');
    expect((await house.bot.press(stranger(), `details:${elsewhere.id}`)).kind).toBe('refused');
  });
});

describe('Details', () => {
  it('names a file attached in the chat and links it on its platform only', async () => {
    const house = new BotHouse(CATALOG);
    const ours = 'https://ours.example/media/relay-0a1b?expires=1&signature=secret';
    const task = await house.seed(ada(), `a fox --image ${ours} --image https://a.test/fox.png`);
    const permalink = 'https://team.slack.com/files/U1/F1/unreleased.png';
    house.fileBehind = async (url) => (url === ours ? { name: 'unreleased.png', permalink } : null);
    const shown = replyText(await house.bot.press(ada(), `details:${task.id}`));
    expect(shown).toContain('image: ‹unreleased.png› · [Open');
    expect(shown).toContain(permalink);
    expect(shown).toContain('image: ‹https://a.test/fox.png›');
    expect(shown).not.toMatch(/relay-|signature/);
    house.fileBehind = async () => ({ name: null, permalink: null });
    expect(replyText(await house.bot.press(ada(), `details:${task.id}`))).toContain('image: a file given in the chat');
  });
});

describe('retry of one’s own private clip in another channel', () => {
  it('asks for confirmation before showing the prompt, by command, button and form', async () => {
    const { house, task } = await withSecret();
    house.happen(task.id, { kind: 'cancel', by: task.origin.user, atMs: house.clock.now() });
    const edited = { prompt: 'the teaser, brighter', model: 'swift-1', seconds: '6' };
    for (const ask of [
      (caller: Caller) => house.bot.text(caller, `retry ${task.id}`),
      (caller: Caller) => house.bot.press(caller, buttonId({ action: 'retry', task: task.id, price: task.price })),
      (caller: Caller) => house.bot.submit(caller, `edit:${task.id}`, edited),
    ]) {
      const reply = await ask(ada());
      expect(reply.kind).toBe('private');
      expect(replyText(reply)).toMatch(/private channel.*teaser/);
      expect(house.orders).toEqual([]);
      const [button] = reply.kind === 'private' ? reply.card.buttons : [];
      expect((await house.bot.press(ada(), button?.id ?? '')).kind).toBe('task');
      const [order] = house.orders.splice(0);
      expect(order).toMatchObject({ retryOf: task.id, origin: { channel: 'clips', audience: 'team' } });
      expect((await ask(ada({ channel: 'secret' }))).kind).toBe('task');
      house.orders.length = 0;
    }
  });

  it('does not reveal its channel to other users', async () => {
    const house = new BotHouse(CATALOG);
    house.audiences.set('secret', 'channel');
    const task = await house.seed(ada(), 'a red fox');
    house.happen(task.id, { kind: 'cancel', by: task.origin.user, atMs: house.clock.now() });
    const again = await house.bot.press(
      ada({ channel: 'secret' }),
      buttonId({ action: 'retry', task: task.id, price: task.price }),
    );
    expect(again.kind).toBe('task');
    const manager = bob({ mayManage: true });
    const answer = replyText(
      await house.bot.press(manager, buttonId({ action: 'retry', task: task.id, price: task.price })),
    );
    expect(answer).not.toContain(again.kind === 'task' ? `m-${again.task}` : '');
  });
});
