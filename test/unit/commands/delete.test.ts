import { describe, expect, it } from 'vitest';
import type { Caller } from '#commands/bot-port.ts';
import { buttonId } from '#commands/ui/buttons.ts';
import { ledgerOf } from '#src/tasks/indexes.ts';
import type { Task, TaskEvent } from '#src/tasks/task.ts';
import { ada, BotHouse, bob } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { EVENTS } from '#test/fakes/tasks.ts';
import { CATALOG } from '../videos/models.ts';

const PROMPT = 'an unreleased teaser';
const DONE: readonly TaskEvent[] = [EVENTS.send, EVENTS.accepted, EVENTS.completed, EVENTS.fetched];

/** A delivered clip of Ada. */
async function delivered(...events: readonly TaskEvent[]) {
  const house = new BotHouse(CATALOG);
  const seeded = await house.seed(ada({ interaction: 'first' }), PROMPT, ...(events.length === 0 ? DONE : events));
  if (!seeded.presented) house.happen(seeded.id, { kind: 'presented', revision: seeded.revision });
  const task = house.task(seeded.id);
  const press = (caller: Caller, action: 'delete' | 'details' | 'edit' | 'refetch' | 'show') =>
    house.bot.press(caller, buttonId({ action: action, task: task.id }));
  return { house, task, press, text: (caller: Caller, words: string) => house.bot.text(caller, words) };
}

/** The same clip, removed with its content. */
async function removed(reason: 'expired' | 'deleted' = 'expired', keepsContent = false) {
  const all = await delivered();
  all.house.happen(all.task.id, { kind: 'remove', reason, keepsContent, atMs: all.house.clock.now() });
  return { ...all, task: all.house.task(all.task.id) };
}

describe('/video delete', () => {
  it('asks once, privately, and deletes nothing yet', async () => {
    const { house, task, text } = await delivered();
    const reply = await text(ada(), `delete ${task.id.slice(0, 8)}`);
    expect(reply).toMatchObject({ kind: 'private', card: { buttons: [{ id: `delete:${task.id}`, label: 'Delete' }] } });
    expect(replyText(reply)).toContain(PROMPT);
    expect(house.removed).toEqual([]);
    expect(house.task(task.id)).toEqual(task);
  });

  it('names who signed the clip off', async () => {
    const { house, task, text } = await delivered();
    house.happen(task.id, EVENTS.review);
    house.happen(task.id, { kind: 'presented', revision: house.task(task.id).revision });
    expect(replyText(await text(ada(), `delete ${task.id}`))).toContain('Signed off by Bob.');
  });

  it('deletes clip and prompt by the button; the amount stays', async () => {
    const { house, task, press } = await delivered();
    expect(replyText(await press(ada(), 'delete'))).toBe(`Deleted: \`${task.id.slice(0, 8)}\`.`);
    expect(house.removed).toEqual([{ reason: 'deleted', by: ada().user }]);
    const after = house.task(task.id);
    expect(after).toMatchObject({ request: { prompt: '' }, removal: { reason: 'deleted', hasContent: false } });
    expect(ledgerOf(after)).toEqual(ledgerOf(task));
  });

  it.each([
    [{ retracted: 1, kept: 1 }, 'One message still shows it'],
    [{ retracted: 0, kept: 2 }, '2 messages still show it'],
    [null, 'I’ll keep trying'],
  ])('says which messages stay: %j', async (retraction, words) => {
    const { house, press } = await delivered();
    house.retraction = retraction;
    expect(replyText(await press(ada(), 'delete'))).toContain(words);
  });

  it('deletes once: a second press, or the command again, says so, and hurries what a killed process left', async () => {
    const { house, task, press, text } = await delivered();
    await press(ada(), 'delete');
    await press(ada(), 'delete');
    expect(house.completed).toEqual([task.id]);
    for (const reply of [await press(ada(), 'delete'), await text(ada(), `delete ${task.id}`)])
      expect(reply).toEqual({ kind: 'refused', sentence: 'This clip was deleted.' });
    expect(house.removed).toHaveLength(1);
  });

  it.each([
    ['its requester', ada(), true],
    ['a manager of its channel', bob({ mayManage: true }), true],
    ['an administrator, from any channel', bob({ mayAdminister: true, channel: 'other' }), true],
    ['a manager of another channel', bob({ mayManage: true, channel: 'other' }), false],
    ['anyone else', bob(), false],
  ])('is for %s', async (_who, caller, isAllowed) => {
    const { house, task, press, text } = await delivered();
    const asked = await text(caller, `delete ${task.id}`);
    expect(asked.kind).toBe(isAllowed ? 'private' : 'refused');
    await press(caller, 'delete');
    expect(house.removed).toHaveLength(isAllowed ? 1 : 0);
    expect(house.task(task.id).removal !== undefined).toBe(isAllowed);
  });

  it.each([
    ['running', [EVENTS.send, EVENTS.accepted], 'still in progress'],
    ['unconfirmed', [EVENTS.send, EVENTS.lost], 'unconfirmed'],
  ] as const)('refuses one that is %s', async (_what, events, words) => {
    const { house, task, press, text } = await delivered(...events);
    for (const reply of [await text(ada(), `delete ${task.id}`), await press(ada(), 'delete')]) {
      expect(reply.kind).toBe('refused');
      expect(replyText(reply)).toContain(words);
    }
    expect(house.removed).toEqual([]);
  });

  it('refuses one that is being posted', async () => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(ada(), PROMPT, ...DONE);
    expect(task.presented).toBe(false);
    expect(replyText(await house.bot.text(ada(), `delete ${task.id}`))).toContain('is being posted');
  });

  it('does not find a clip of another team, and buys nothing for words that are no id', async () => {
    const { house, task, text } = await delivered();
    expect((await text(ada({ team: 'T2' }), `delete ${task.id}`)).kind).toBe('refused');
    expect((await text(ada(), 'delete abc123')).kind).toBe('refused');
    expect(replyText(await text(ada(), 'delete the first scene'))).toContain('Did you mean `/video delete`?');
    expect(house.orders).toEqual([]);
    expect(house.removed).toEqual([]);
  });

  it('is offered for an expired clip, whose messages are still there', async () => {
    const { task, press, house } = await removed();
    expect((await house.bot.text(ada(), `delete ${task.id}`)).kind).toBe('private');
    expect(replyText(await press(ada(), 'delete'))).toContain('Deleted');
    expect(house.task(task.id)).toMatchObject({ removal: { reason: 'deleted' } });
  });
});

describe('a clip without its prompt', () => {
  it('is neither retried nor edited: a sentence says why, and nothing is bought', async () => {
    const { house, task, press, text } = await removed();
    const answers = [
      await text(ada(), `retry ${task.id}`),
      await house.bot.press(ada(), buttonId({ action: 'retry', task: task.id, price: task.price })),
      await press(ada(), 'edit'),
      await house.bot.press(ada(), `again:${task.id}:1:0.20USD`),
      await house.bot.submit(ada(), `edit:${task.id}`, { prompt: 'another prompt' }),
    ];
    for (const reply of answers)
      expect(reply).toEqual({ kind: 'refused', sentence: 'The prompt of this clip was removed.' });
    expect(house.orders).toEqual([]);
  });

  it.each(['show', 'refetch'] as const)('is not posted or fetched again by “%s”', async (action) => {
    const { house, task, press } = await removed();
    expect(await press(ada(), action)).toEqual({ kind: 'refused', sentence: 'This clip expired.' });
    expect(house.task(task.id)).toEqual(task);
  });

  it('is found by a redelivered interaction, which buys and posts nothing', async () => {
    const { house, task } = await removed('deleted');
    const again = await house.bot.text(ada({ interaction: 'first' }), PROMPT);
    expect(again).toEqual({ kind: 'refused', sentence: 'This clip was deleted.' });
    expect(house.task(task.id)).toEqual(task);
  });

  it('is shown with what is left of it', async () => {
    const { press, text, task } = await removed();
    const details = replyText(await press(ada(), 'details'));
    expect(details).toContain('$0.20');
    expect(details).toContain('This clip expired');
    const status = await text(ada(), `status ${task.id}`);
    expect(replyText(status)).toContain('Prompt removed');
    expect(status).toMatchObject({ card: { buttons: [{ label: 'Details' }] } });
  });

  it('leads a press of an earlier Retry to its take', async () => {
    const { house, task } = await delivered();
    const id = buttonId({ action: 'retry', task: task.id, price: task.price });
    const retried = await house.bot.press(ada({ interaction: 'press' }), id);
    if (retried.kind !== 'task') throw new TypeError(JSON.stringify(retried));
    const take: Task = house.task(retried.task);
    for (const event of DONE) house.happen(take.id, event);
    house.happen(take.id, { kind: 'presented', revision: house.task(take.id).revision });
    house.happen(take.id, { kind: 'remove', reason: 'deleted', keepsContent: false, atMs: 0 });
    const again = await house.bot.press(ada({ interaction: 'press' }), id);
    expect(again.kind).not.toBe('task');
    expect(replyText(again)).not.toContain(PROMPT);
    expect(house.task(take.id)).toMatchObject({ removal: { reason: 'deleted' } });
  });
});

describe('a clip whose file alone was removed', () => {
  it('can be retried, and is not offered or fetched again', async () => {
    const { house, task, press, text } = await removed('expired', true);
    expect(await press(ada(), 'show')).toEqual({ kind: 'refused', sentence: 'This clip expired.' });
    const status = await text(ada(), `status ${task.id}`);
    expect(replyText(status)).toContain(PROMPT);
    const labels = status.kind === 'private' ? status.card.buttons.map(({ label }) => label) : [];
    expect(labels).not.toContain('Show the clip');
    expect(labels.join()).toContain('Retry');
    expect((await house.bot.press(ada(), buttonId({ action: 'retry', task: task.id, price: task.price }))).kind).toBe(
      'task',
    );
  });
});
