import { describe, expect, it } from 'vitest';
import { pageButtonId, parseButton, taskButtonId } from '#commands/buttons.ts';
import type { ButtonAction } from '#src/chat/view.ts';
import { taskIdOf } from '#src/tasks/service.ts';

const task = taskIdOf('slack:i1');

describe('ids of buttons', () => {
  it.each<ButtonAction>(['retry', 'edit', 'cancel', 'details', 'lookup', 'leave', 'show', 'refetch'])(
    '%s',
    (action) => {
      expect(taskButtonId(action, task, 1)).toBe(`${action}:${task}`);
      expect(parseButton(`${action}:${task}`)).toEqual({ action, task });
    },
  );

  it('again carries the number of sends it is offered after', () => {
    expect(parseButton(taskButtonId('again', task, 2))).toEqual({ action: 'again', task, afterSends: 2 });
  });

  it.each([
    { offset: 0, user: null, search: null },
    { offset: 1990, user: 'U1', search: null },
    { offset: 10, user: null, search: '7:x ä\n🦊' },
    { offset: 10, user: 'somebody:with 3 colons:', search: ':x:' },
  ])('a page comes back as it was: %j', (page) => {
    expect(parseButton(pageButtonId(page) ?? '')).toEqual({ action: 'page', page });
  });

  it('are never longer than platforms take', () => {
    expect(pageButtonId({ offset: 0, user: 'u'.repeat(30), search: 's'.repeat(40) })?.length).toBeLessThanOrEqual(100);
    expect(pageButtonId({ offset: 0, user: 'u'.repeat(60), search: 's'.repeat(40) })).toBeNull();
    expect(taskButtonId('details', task, 1).length).toBeLessThanOrEqual(100);
  });
});
