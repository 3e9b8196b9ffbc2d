import { describe, expect, it } from 'vitest';
import {
  facts,
  heading,
  item,
  joinLines,
  labelled,
  layOut,
  lineOf,
  linesOf,
  present,
  seeItHere,
  small,
  table,
  textCard,
} from '#commands/ui/card.ts';
import { plainText } from '#commands/ui/plain-text.ts';

const MESSAGE = { channel: 'clips', message: 'm1' };

describe('lines', () => {
  it('are built of parts and of lines, without those that are absent or empty', () => {
    const reason = '';
    const line = lineOf('Paused', reason !== '' && [': ', { untrusted: reason }], '', undefined, [
      ' by ',
      { code: 'a' },
    ]);
    expect(line).toEqual(['Paused', ' by ', { code: 'a' }]);
  });

  it('join facts, without those that are absent or empty', () => {
    const line = facts(['ID ', { code: '7f3a' }], undefined, null, false, '', [], [''], 'v2', [
      'by ',
      { untrusted: '' },
    ]);
    expect(line).toEqual(['ID ', { code: '7f3a' }, ' · ', 'v2', ' · ', 'by ', { untrusted: '' }]);
    expect(facts()).toEqual([]);
    expect(facts('6 s')).toEqual(['6 s']);
  });

  it.each([
    [[], ''],
    [[['a']], 'a'],
    [[['a'], ['b']], 'a or b'],
    [[['a'], ['b'], ['c']], 'a, b or c'],
  ])('join %j by commas and a last word', (lines, text) =>
    expect(plainText([joinLines(lines, ', ', ' or ')])).toBe(text),
  );

  it('join by commas alone', () => expect(joinLines([['a'], ['b']])).toEqual(['a', ', ', 'b']));

  it('name what they show', () =>
    expect(labelled('Channel', { channel: 'C1' }, '.')).toEqual([{ strong: 'Channel' }, ': ', { channel: 'C1' }, '.']));

  it('lead to a message, where there is one', () => {
    expect(seeItHere(undefined)).toEqual([]);
    expect(seeItHere(MESSAGE)).toEqual([' ', { message: MESSAGE, label: 'See it here' }, '.']);
  });

  it('leave out what is absent or empty', () => expect(present(['', null, undefined, false, 'a'])).toEqual(['a']));
});

describe('cards', () => {
  it('are laid out of blocks and lines, without what is absent', () => {
    const withdraw = { id: 'withdraw:1', label: 'Withdraw', style: 'plain' } as const;
    const card = layOut([heading('Details'), null, ['Queued'], false, item(['a fox'], ['6 s'], withdraw), small('ID')]);
    expect(card).toEqual({
      blocks: [
        { kind: 'heading', line: ['Details'] },
        { kind: 'text', line: ['Queued'] },
        { kind: 'item', title: ['a fox'], small: ['6 s'], accessory: withdraw },
        { kind: 'small', line: ['ID'] },
      ],
      progress: null,
      buttons: [],
    });
  });

  it('are plain lines, without what is absent', () =>
    expect(textCard(['a'], undefined, ['b'])).toEqual({ lines: [['a'], ['b']], progress: null, buttons: [] }));

  it('have tables of the columns that there are', () => {
    const rows = [
      { name: 'Swift 1', price: '$0.05' },
      { name: 'Bare', price: '' },
    ];
    const block = table<(typeof rows)[number]>(
      [['Model', ({ name }) => [{ untrusted: name }]], false, ['Price', ({ price }) => price]],
      rows,
    );
    expect(block).toEqual({
      kind: 'table',
      columns: ['Model', 'Price'],
      rows: [
        [[{ untrusted: 'Swift 1' }], ['$0.05']],
        [[{ untrusted: 'Bare' }], []],
      ],
    });
    expect(plainText(linesOf(layOut([block])))).toBe('• Swift 1 · $0.05\n• Bare');
  });
});
