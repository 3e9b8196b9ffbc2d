import { describe, expect, it } from 'vitest';
import { actionOf, buttonId, isAnsweredInPlace, parseButton } from '#commands/ui/buttons.ts';

const statement = '9f86d081884c7d65';

describe('a button under a statement', () => {
  it.each([
    { what: 'show', offset: 3 },
    { what: 'book', statement, offset: 0 },
    { what: 'review', statement, offset: 0, position: 9_999_999 },
    { what: 'ours', statement, offset: 0, position: 12 },
    { what: 'billed', statement, offset: 999_999, position: 0 },
    { what: 'not_billed', statement, offset: 0, position: 12 },
    { what: 'same', statement, offset: 0, position: 12 },
    { what: 'apart', statement, offset: 0, position: 12 },
  ] as const)('is read back: %j', (press) => {
    const id = buttonId({ action: 'statement', ...press });
    expect(id.length).toBeLessThanOrEqual(100);
    expect(parseButton(id)).toEqual({ action: 'statement', ...press });
    expect(isAnsweredInPlace(id)).toBe(true);
  });

  it.each([
    'statement:show',
    'statement:show:-1',
    'statement:book:xyz:0',
    `statement:book:${statement}:0:1`,
    `statement:billed:${statement}:0`,
    `statement:sell:${statement}:0:1`,
    `statement:billed:${statement}:0:1:2`,
  ])('is unknown: %s', (id) => {
    expect(parseButton(id)).toBeNull();
    expect(actionOf(id).response).toBe('private');
  });
});
