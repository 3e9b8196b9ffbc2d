import { describe, expect, it } from 'vitest';
import type { Caller, Reply } from '#commands/bot-port.ts';
import { buttonId } from '#commands/ui/buttons.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import type { TaskEvent } from '#src/tasks/task.ts';
import { ada, BotHouse, bob, NOON_MS } from '#test/fakes/bot-house.ts';
import { replyText } from '#test/fakes/card-text.ts';
import { CATALOG } from '../videos/models.ts';

/** Caller whose platform rejects the acknowledgement, or accepts it if `isAccepted`. */
function late(changes: Partial<Caller> = {}, isAccepted = false): Caller {
  return ada({ acknowledged: async () => isAccepted, ...changes });
}

function offerOf(reply: Reply): Extract<Reply, { kind: 'offer' }> {
  if (reply.kind !== 'offer') throw new TypeError(replyText(reply));
  return reply;
}

const buttonOf = (reply: Reply, label: string): string =>
  offerOf(reply).card.buttons.find((one) => one.label.startsWith(label))?.id ?? '';

const order = (house: BotHouse, caller: Caller) => house.bot.command(caller, 'create', { prompt: ['a fox'] });

describe('order that the platform reported as failed', () => {
  it('offers it with its price instead of sending it, and claims it under its own key once confirmed', async () => {
    const house = new BotHouse(CATALOG);
    const reply = await order(house, late({ interaction: 'i1' }));
    expect(replyText(reply)).toBe(
      'You asked for this while I was unavailable · $0.20\n“‹a fox›”\n(Create · $0.20) (Discard)',
    );
    expect(house.orders).toEqual([]);
    const pressed = await house.bot.press(late({}, true), buttonOf(reply, 'Create'));
    expect(pressed).toMatchObject({ kind: 'task', task: taskIdOf('slack:i1') });
    expect(house.orders).toMatchObject([{ key: 'slack:i1', request: { prompt: 'a fox', seconds: 4 } }]);
  });

  it('saves the draft before the acknowledgement where the platform needs it, and claims the task after it', async () => {
    const house = new BotHouse(CATALOG);
    const acknowledged: Caller['acknowledged'] = async (isRepeated) => {
      expect(await isRepeated?.()).toBe(false);
      expect(await house.drafts.get(taskIdOf('slack:i1'))).toMatchObject({ request: { prompt: 'a fox' } });
      expect(house.records.size).toBe(0);
      return true;
    };
    expect((await order(house, ada({ interaction: 'i1', acknowledged }))).kind).toBe('task');
    expect.assertions(4);
  });

  it('saves no draft of an order that a platform accepts by itself', async () => {
    const house = new BotHouse(CATALOG);
    expect((await order(house, late({ interaction: 'i1' }, true))).kind).toBe('task');
    expect(await house.drafts.get(taskIdOf('slack:i1'))).toBeUndefined();
  });

  it('resumes after a crash between acknowledgement and claim, which was repeated then', async () => {
    const house = new BotHouse(CATALOG);
    const crash: Caller['acknowledged'] = async (isRepeated) => {
      await isRepeated?.();
      throw new Error('killed');
    };
    await order(house, ada({ interaction: 'i1', acknowledged: crash })).catch(() => undefined);
    expect(house.records.size).toBe(0);
    const asked: unknown[] = [];
    const acknowledged: Caller['acknowledged'] = async (isRepeated) => asked.push(await isRepeated?.()) > 0;
    expect((await order(house, ada({ interaction: 'i1', acknowledged }))).kind).toBe('task');
    // Once it is claimed, nothing is left to ask about.
    expect((await order(house, ada({ interaction: 'i1', acknowledged }))).kind).toBe('task');
    expect(asked).toEqual([true, false]);
  });

  it('acknowledges the confirmation, a separate interaction, as not repeated', async () => {
    const house = new BotHouse(CATALOG);
    const reply = await order(house, late({ interaction: 'i1' }));
    const asked: unknown[] = [];
    const acknowledged: Caller['acknowledged'] = async (isRepeated) => asked.push(await isRepeated?.()) > 0;
    await house.bot.press(ada({ acknowledged }), buttonOf(reply, 'Create'));
    expect(asked).toEqual([false]);
  });

  it('returns the task if an earlier delivery created it', async () => {
    const house = new BotHouse(CATALOG);
    const first = await order(house, late({ interaction: 'i1' }, true));
    expect(first).toMatchObject(await order(house, late({ interaction: 'i1' })));
    expect(house.records.size).toBe(1);
  });

  it('deduplicates equal orders of one user in a channel into one offer, including concurrent ones', async () => {
    const house = new BotHouse(CATALOG);
    await house.bot.text(bob({ mayAdminister: true }), 'style plain --seconds 4');
    const replies = await Promise.all([1, 2, 3].map(() => order(house, late())));
    expect(new Set(replies.map((reply) => offerOf(reply).id)).size).toBe(1);
    const others = [
      await order(house, late({ user: bob().user })),
      await order(house, late({ channel: 'elsewhere' })),
      await house.bot.command(late(), 'create', { prompt: ['a fox'], seconds: ['6'] }),
      await house.bot.command(late(), 'create', { prompt: ['a fox'], takes: ['3'] }),
      await house.bot.command(late(), 'create', { prompt: ['a fox'], takes: ['2'] }),
      await house.bot.command(late(), 'create', { prompt: ['a fox'], style: ['plain'] }),
    ];
    expect(new Set([...replies, ...others].map((reply) => offerOf(reply).id)).size).toBe(7);
    for (const reply of replies) await house.bot.press(late({}, true), buttonOf(reply, 'Create'));
    expect(house.records.size).toBe(1);
  });

  it.each(['Create', 'Discard'])('creates a new offer after the earlier one was answered by %s', async (label) => {
    const house = new BotHouse(CATALOG);
    const first = await order(house, late());
    await house.bot.press(late({}, true), buttonOf(first, label));
    expect(offerOf(await order(house, late())).id).not.toBe(offerOf(first).id);
  });

  it('refuses a redelivery of a discarded order', async () => {
    const house = new BotHouse(CATALOG);
    const caller = late({ interaction: 'i1' });
    await house.bot.press(late(), buttonOf(await order(house, caller), 'Discard'));
    expect((await order(house, caller)).kind).toBe('refused');
  });

  it('still refuses an invalid order', async () => {
    const house = new BotHouse(CATALOG);
    expect((await house.bot.command(late(), 'create', { prompt: ['a fox'], seconds: ['7'] })).kind).toBe('refused');
  });

  it('offers an order submitted by a form', async () => {
    const house = new BotHouse(CATALOG);
    expect((await house.bot.submit(late(), 'create', { prompt: 'a fox' })).kind).toBe('offer');
    expect(house.orders).toEqual([]);
  });
});

describe('button press that the platform reported as failed', () => {
  const uncertain: readonly TaskEvent[] = [
    { kind: 'send', owner: 'o', atMs: 0 },
    { kind: 'lost', failure: { code: 'lost_answer', words: null } },
  ];

  it('offers Retry under the key of the retry', async () => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(ada(), 'a fox');
    const reply = await house.bot.press(late(), buttonId({ action: 'retry', task: task.id, price: task.price }));
    expect(house.orders).toEqual([]);
    await house.bot.press(late({}, true), buttonOf(reply, 'Create'));
    expect(house.orders).toMatchObject([{ key: `retry:${task.id}`, retryOf: task.id }]);
  });

  it('offers Send again with the same button', async () => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(ada(), 'a fox', ...uncertain);
    const reply = await house.bot.press(late(), `again:${task.id}:1`);
    expect(house.task(task.id).state).toBe('uncertain');
    await house.bot.press(late({}, true), buttonOf(reply, 'Send again'));
    expect(house.task(task.id).state).toBe('claimed');
  });

  it('carries out Cancel', async () => {
    const house = new BotHouse(CATALOG);
    const task = await house.seed(ada(), 'a fox');
    await house.bot.press(late(), `cancel:${task.id}`);
    expect(house.task(task.id).state).toBe('cancelled');
  });

  it('offers an offer again', async () => {
    const house = new BotHouse(CATALOG);
    const reply = await order(house, late());
    const again = await house.bot.press(late(), buttonOf(reply, 'Create'));
    expect(offerOf(again).id).toBe(offerOf(reply).id);
    expect(house.orders).toEqual([]);
  });
});

it('does not wait on a platform that never reports an interaction as failed', async () => {
  const house = new BotHouse(CATALOG);
  expect((await order(house, ada())).kind).toBe('task');
  expect(house.clock.now()).toBe(NOON_MS);
});
