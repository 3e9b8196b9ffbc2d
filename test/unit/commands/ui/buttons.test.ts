import { describe, expect, it } from 'vitest';
import {
  approveButtonId,
  elsewhereButtonId,
  isAnsweredInPlace,
  parseButton,
  resendButtonId,
  retryButtonId,
  signOffButtonId,
  taskButtonId,
} from '#commands/ui/buttons.ts';
import { pageButtonId } from '#commands/ui/page-buttons.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';

const task = taskIdOf('slack:i1');

describe('button ids', () => {
  it.each(['edit', 'cancel', 'details', 'lookup', 'leave', 'show', 'refetch'] as const)('%s', (action) => {
    expect(taskButtonId(action, task)).toBe(`${action}:${task}`);
    expect(parseButton(`${action}:${task}`)).toEqual({ action, task });
  });

  it('retry includes its price; ids of earlier versions have none', () => {
    const price = { amount: '0.30', currency: 'USD' };
    expect(parseButton(retryButtonId(task, price))).toEqual({ action: 'retry', task, price });
    expect(parseButton(`retry:${task}`)).toEqual({ action: 'retry', task, price: null });
    expect(retryButtonId(task, null)).toBe(`retry:${task}`);
    expect(parseButton(`retry:${task}:cheap`)).toBeNull();
  });

  it('elsewhere includes the model and its price', () => {
    const price = { amount: '0.30', currency: 'USD' };
    const named = elsewhereButtonId(task, { model: '9f86d081', price });
    expect(parseButton(named)).toEqual({ action: 'elsewhere', task, model: '9f86d081', price });
    expect(named.length).toBeLessThanOrEqual(100);
    for (const id of [`elsewhere:${task}`, `elsewhere:${task}:9f86d081`, `elsewhere:${task}:swift:0.30USD`]) {
      expect(parseButton(id)).toBeNull();
    }
  });

  it('again includes the number of submissions so far and its price; ids of earlier versions have no price', () => {
    const price = { amount: '0.30', currency: 'USD' };
    const resent = { task, sends: 2 };
    expect(parseButton(resendButtonId(resent, price))).toEqual({
      action: 'again',
      task,
      afterSends: 2,
      price,
      isConfirmed: false,
    });
    const confirmed = resendButtonId(resent, price, true);
    expect(confirmed).toBe(`${resendButtonId(resent, price)}:confirmed`);
    expect(parseButton(confirmed)).toMatchObject({ price, isConfirmed: true });
    expect(parseButton(`again:${task}:2:confirmed`)).toBeNull();
    expect(parseButton(`again:${task}:2`)).toEqual({
      action: 'again',
      task,
      afterSends: 2,
      price: null,
      isConfirmed: false,
    });
    expect(resendButtonId(resent, null)).toBe(`again:${task}:2`);
    expect(parseButton(`again:${task}`)).toBeNull();
    expect(parseButton(`again:${task}:2:cheap`)).toBeNull();
  });

  it('of a question are answered in its place, those of a message that stays are not', () => {
    const price = { amount: '0.30', currency: 'USD' };
    const questions = [
      approveButtonId(task, price, 200_000n),
      signOffButtonId(task, 0, 2),
      resendButtonId({ task, sends: 2 }, price, true),
    ];
    expect(questions.map(isAnsweredInPlace)).toEqual([true, true, true]);
    const others = [approveButtonId(task, price), signOffButtonId(task, 0), resendButtonId({ task, sends: 2 }, price)];
    expect(others.map(isAnsweredInPlace)).toEqual([false, false, false]);
  });

  it.each([
    { offset: 0, user: null, search: null },
    { offset: 1990, user: 'U1', search: null },
    { offset: 10, user: null, search: '7:x ä\n🦊' },
    { offset: 10, user: 'somebody:with 3 colons:', search: ':x:' },
  ])('encode and decode the page %j', (page) => {
    expect(parseButton(pageButtonId(page) ?? '')).toEqual({ action: 'page', page });
  });

  it('never exceed the platforms’ maximum length', () => {
    expect(pageButtonId({ offset: 0, user: 'u'.repeat(30), search: 's'.repeat(40) })?.length).toBeLessThanOrEqual(100);
    expect(pageButtonId({ offset: 0, user: 'u'.repeat(60), search: 's'.repeat(40) })).toBeNull();
    expect(taskButtonId('details', task).length).toBeLessThanOrEqual(100);
  });
});
