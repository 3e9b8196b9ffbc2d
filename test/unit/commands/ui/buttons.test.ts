import { describe, expect, it } from 'vitest';
import { actionOf, buttonId, isAnsweredInPlace, type Press, pageButtons, parseButton } from '#commands/ui/buttons.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';

const task = taskIdOf('slack:i1');

describe('button ids', () => {
  it.each(['edit', 'cancel', 'details', 'lookup', 'leave', 'show', 'refetch'] as const)('%s', (action) => {
    expect(buttonId({ action, task })).toBe(`${action}:${task}`);
    expect(parseButton(`${action}:${task}`)).toEqual({ action, task });
  });

  it.each(['retry:t', 'edit:t', 'order:d:0.30USD', 'ask:d:0.30USD', 'insert:s:1'])(
    '%s, which leads to another take of a shot, is managed as a manager may press it',
    (id) => {
      expect(actionOf(id).isManaged).toBe(true);
    },
  );

  it('retry includes its price; ids of earlier versions have none', () => {
    const price = { amount: '0.30', currency: 'USD' };
    expect(parseButton(buttonId({ action: 'retry', task, price }))).toEqual({ action: 'retry', task, price });
    expect(parseButton(`retry:${task}`)).toEqual({ action: 'retry', task, price: null });
    expect(buttonId({ action: 'retry', task, price: null })).toBe(`retry:${task}`);
    expect(parseButton(`retry:${task}:cheap`)).toBeNull();
  });

  it('elsewhere includes the model and its price', () => {
    const price = { amount: '0.30', currency: 'USD' };
    const named = buttonId({ action: 'elsewhere', task, model: '9f86d081', price });
    expect(parseButton(named)).toEqual({ action: 'elsewhere', task, model: '9f86d081', price });
    expect(named.length).toBeLessThanOrEqual(100);
    for (const id of [`elsewhere:${task}`, `elsewhere:${task}:9f86d081`, `elsewhere:${task}:swift:0.30USD`]) {
      expect(parseButton(id)).toBeNull();
    }
  });

  it('again includes the number of submissions so far and its price; ids of earlier versions have no price', () => {
    const price = { amount: '0.30', currency: 'USD' };
    const resent = { task, afterSends: 2 };
    expect(parseButton(buttonId({ action: 'again', ...resent, price, isConfirmed: false }))).toEqual({
      action: 'again',
      task,
      afterSends: 2,
      price,
      isConfirmed: false,
    });
    const confirmed = buttonId({ action: 'again', ...resent, price, isConfirmed: true });
    expect(confirmed).toBe(`${buttonId({ action: 'again', ...resent, price, isConfirmed: false })}:confirmed`);
    expect(parseButton(confirmed)).toMatchObject({ price, isConfirmed: true });
    expect(parseButton(`again:${task}:2:confirmed`)).toBeNull();
    expect(parseButton(`again:${task}:2`)).toEqual({
      action: 'again',
      task,
      afterSends: 2,
      price: null,
      isConfirmed: false,
    });
    expect(buttonId({ action: 'again', ...resent, price: null, isConfirmed: false })).toBe(`again:${task}:2`);
    expect(parseButton(`again:${task}`)).toBeNull();
    expect(parseButton(`again:${task}:2:cheap`)).toBeNull();
  });

  it('of a question are answered in its place, those of a message that stays are not', () => {
    const price = { amount: '0.30', currency: 'USD' };
    const questions = [
      buttonId({ action: 'approve', request: task, price, grant: 200_000n }),
      buttonId({ action: 'sign_off', task, after: 0, newest: 2 }),
      buttonId({ action: 'again', task, afterSends: 2, price, isConfirmed: true }),
    ];
    expect(questions.map(isAnsweredInPlace)).toEqual([true, true, true]);
    const others = [
      buttonId({ action: 'approve', request: task, price, grant: 0n }),
      buttonId({ action: 'sign_off', task, after: 0, newest: null }),
      buttonId({ action: 'again', task, afterSends: 2, price, isConfirmed: false }),
    ];
    expect(others.map(isAnsweredInPlace)).toEqual([false, false, false]);
  });

  it.each([
    { what: 'list', offset: 0, user: null, search: null },
    { what: 'list', offset: 1990, user: 'U1', search: null },
    { what: 'list', offset: 10, user: null, search: '7:x ä\n🦊' },
    { what: 'list', offset: 10, user: 'somebody:with 3 colons:', search: ':x:' },
    { what: 'list', offset: 10, user: '100%3A', search: '%' },
    { what: 'usage', offset: 15, month: '2026-11', by: null, user: null },
    { what: 'usage', offset: 15, month: '2026-11', by: 'person', user: 'a:b' },
    { what: 'audit', offset: 10, isDeployment: false },
    { what: 'audit', offset: 10, isDeployment: true },
    { what: 'models', offset: 10 },
    { what: 'budgets', offset: 10 },
  ] as const)('encode and decode the page %j', (page) => {
    expect(parseButton(buttonId({ action: 'page', ...page }))).toEqual({ action: 'page', ...page });
  });

  const price = { amount: '0.30', currency: 'USD' };
  it.each<readonly [string, Press]>([
    ['order:7f3a:0.30USD', { action: 'order', draft: task, price }],
    ['order:7f3a', { action: 'order', draft: task, price: null }],
    ['ask:7f3a:0.30USD', { action: 'ask', draft: task, price, isPromptShown: null }],
    ['ask:7f3a:0.30USD:hidden', { action: 'ask', draft: task, price, isPromptShown: false }],
    ['approve:7f3a:0.30USD', { action: 'approve', request: task, price, grant: 0n }],
    ['approve:7f3a:0.30USD:1200000', { action: 'approve', request: task, price, grant: 1_200_000n }],
    ['deny:7f3a', { action: 'deny', request: task }],
    ['discard:7f3a', { action: 'discard', draft: task }],
    ['vote:7f3a:2', { action: 'vote', set: task, at: 2 }],
    ['shot:7f3a:11', { action: 'shot', set: task, shot: 11 }],
    ['move:7f3a:12:11:0', { action: 'move', set: task, revision: 12, shot: 11, before: 0, isInMenu: false }],
    ['move:7f3a:12:11:3:menu', { action: 'move', set: task, revision: 12, shot: 11, before: 3, isInMenu: true }],
    ['skip:7f3a:0:2:out', { action: 'skip', set: task, revision: 0, shot: 2, isSkipped: true }],
    ['insert:7f3a:12', { action: 'insert', set: task, before: 12 }],
    ['take:7f3a:0:2:9abc', { action: 'take', set: task, revision: 0, shot: 2, take: '9abc' as typeof task }],
    ['reveal:7f3a', { action: 'reveal', set: task }],
    ['remake:7f3a:0.30USD:confirmed', { action: 'remake', clip: task, upTo: price, isConfirmed: true }],
    ['signoff:7f3a:0:3', { action: 'sign_off', task, after: 0, newest: 3 }],
    ['changes:7f3a:1', { action: 'changes', task, after: 1 }],
    ['privacy:forget', { action: 'privacy', what: 'forget' }],
    ['privacy:erase:ada', { action: 'privacy', what: 'erase', user: 'ada' }],
    ['notify:direct', { action: 'notify', what: 'direct' }],
    ['notify:off:9f86d081884c7d65', { action: 'notify', what: 'off', subscription: '9f86d081884c7d65' }],
  ])('%s is written and read', (short, press) => {
    const id = short.replace('7f3a', task);
    expect(buttonId(press)).toBe(id);
    expect(parseButton(id)).toEqual(press);
    expect(parseButton(`${id}:more:and:more`)).toBeNull();
  });

  it('never exceed the platforms’ maximum length', () => {
    const buttonsOf = (user: string) =>
      pageButtons({ page: { what: 'list', offset: 0, user, search: 's'.repeat(40) }, length: 10, hasMore: true });
    expect(buttonsOf('u'.repeat(30)).map(({ id }) => id.length <= 100)).toEqual([true]);
    expect(buttonsOf('u'.repeat(60))).toEqual([]);
    expect(buttonId({ action: 'details', task }).length).toBeLessThanOrEqual(100);
  });
});
