import { describe, expect, it } from 'vitest';
import { buttonId } from '#commands/ui/buttons.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import type { TaskEvent, TaskId } from '#src/tasks/task.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { ada, BotHouse, bob, NOON_MS } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../../videos/models.ts';

const send: TaskEvent = { kind: 'send', owner: 'o', atMs: 0 };
const accepted: TaskEvent = { kind: 'accepted', upstreamId: 'up:1' as UpstreamId, atMs: NOON_MS };
const completed: TaskEvent = { kind: 'completed', atMs: NOON_MS + 134_000 };
const fetched: TaskEvent = { kind: 'fetched', clip: { path: '/a', bytes: 1, contentType: 'video/mp4' } };
const cancel: TaskEvent = { kind: 'cancel', by: ada().user, atMs: NOON_MS };
const DONE = [send, accepted, completed, fetched];

async function seeded() {
  const house = new BotHouse(CATALOG);
  const { id, price } = await house.seed(ada(), 'a red fox --seconds 6', ...DONE);
  const press = (caller = ada()) => house.bot.press(caller, buttonId({ action: 'retry', task: id, price: price }));
  const react = (caller = ada()) => house.bot.react(caller, { channel: 'clips', message: `m-${id}` }, '🔁');
  const take = (number: number): TaskId => taskIdOf(number === 1 ? `retry:${id}` : `retry:${id}:${number}`);
  const end = (made: TaskId, ...events: readonly TaskEvent[]) => {
    for (const event of events.length === 0 ? DONE : events) house.happen(made, event);
    const { revision, presented } = house.task(made);
    if (!presented) house.happen(made, { kind: 'presented', revision });
  };
  return { house, id, press, react, take, end };
}

describe('Retry after a retry has ended', () => {
  it('makes the next take, and leads to it while that runs', async () => {
    const { house, id, press, take, end } = await seeded();
    for (const number of [1, 2, 3]) {
      expect(await press()).toMatchObject({ kind: 'task', task: take(number) });
      expect(replyText(await press())).toContain('Already on its way');
      expect(replyText(await press(bob({ mayManage: true })))).toContain('Already on its way');
      end(take(number));
    }
    expect(house.orders.filter(({ retryOf }) => retryOf === id).length).toBeGreaterThan(2);
    expect(house.records.size).toBe(4);
  });

  it.each<readonly [string, readonly TaskEvent[]]>([
    ['before it was sent', [cancel]],
    ['while it is polled on', [send, accepted, cancel]],
  ])('makes the next take of one that was cancelled %s', async (_when, events) => {
    const { press, take, end } = await seeded();
    await press();
    end(take(1), ...events);
    expect(await press()).toMatchObject({ kind: 'task', task: take(2) });
  });

  it('waits until its outcome is in the chat', async () => {
    const { house, press, take } = await seeded();
    await press();
    for (const event of DONE) house.happen(take(1), event);
    expect(replyText(await press())).toContain('Already retried');
    expect(house.records.size).toBe(2);
  });

  it('leads every redelivered press back to its own take, and buys nothing', async () => {
    const { house, press, take, end } = await seeded();
    const callers = [ada(), ada(), ada()];
    for (const [index, caller] of callers.entries()) {
      await press(caller);
      end(take(index + 1));
    }
    for (const [index, caller] of callers.entries())
      expect(await press(caller)).toMatchObject({ kind: 'task', task: take(index + 1) });
    expect(house.records.size).toBe(4);
  });

  it('leads a redelivered press back to the take in progress that it had led to', async () => {
    const { house, press, take, end } = await seeded();
    await press();
    const late = ada();
    await press(late);
    end(take(1));
    expect(replyText(await press(late))).toContain('Already retried');
    expect(house.records.size).toBe(2);
  });

  it('leads a redelivered press back to its take after the content of that was removed', async () => {
    const { house, press, take, end } = await seeded();
    const caller = ada();
    await press(caller);
    end(take(1));
    house.happen(take(1), { kind: 'remove', reason: 'deleted', keepsContent: false, atMs: house.clock.now() });
    await press(caller);
    expect(house.records.size).toBe(2);
    expect(await press()).toMatchObject({ kind: 'task', task: take(2) });
  });

  it('leads a redelivered press back to the take that was bought by the button of its question', async () => {
    const { house, id, take, end } = await seeded();
    const caller = ada();
    const asked = await house.bot.press(caller, `retry:${id}:0.10USD`);
    const [confirm] = asked.kind === 'private' ? asked.card.buttons : [];
    expect((await house.bot.press(ada(), confirm?.id ?? '')).kind).toBe('task');
    end(take(1));
    await house.bot.press(caller, `retry:${id}:0.10USD`);
    expect(house.records.size).toBe(2);
  });

  it('counts a reaction once per person and message, whatever the id of its event', async () => {
    const { house, react, take, end } = await seeded();
    expect(await react()).toMatchObject({ kind: 'task', task: take(1) });
    end(take(1));
    expect(await react()).toMatchObject({ kind: 'task', task: take(1) });
    expect(await react(bob({ mayManage: true }))).toMatchObject({ kind: 'task', task: take(2) });
    expect(house.records.size).toBe(3);
  });
});
