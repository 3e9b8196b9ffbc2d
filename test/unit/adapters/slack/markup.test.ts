import { describe, expect, it } from 'vitest';
import { mentionedText, typedText } from '#adapters/slack/commands-text.ts';
import { renderCard, renderSentence } from '#adapters/slack/render.ts';
import type { Card } from '#commands/card.ts';
import { parse } from '#test/fakes/slack/mrkdwn.ts';

const AROUND = { workspaceUrl: 'https://acme.slack.com/' };
const card = (lines: Card['lines'], more: Partial<Card> = {}): Card => ({
  lines,
  progress: null,
  buttons: [],
  ...more,
});
const textsOf = (blocks: readonly { readonly type: string }[]): readonly string[] =>
  blocks.flatMap((block) => ('text' in block ? [(block.text as { readonly text: string }).text] : []));

describe('what was typed', () => {
  it.each([
    ['a &lt;fox&gt; &amp; a hen', 'a <fox> & a hen'],
    ['a fox --image <https://example.com/a.png>', 'a fox --image https://example.com/a.png'],
    ['a fox --image <https://example.com/a.png|example.com/a.png>', 'a fox --image https://example.com/a.png'],
    ['write to <mailto:ada@example.com|ada@example.com>', 'write to ada@example.com'],
    ['a fox for <@U1|bob> in <#C1|clips>', 'a fox for @bob in #clips'],
    ['wake <!channel> and <!subteam^S1|@artists>', 'wake @channel and @artists'],
    // What somebody typed as text stays text.
    ['say &amp;lt;@U1&amp;gt;', 'say &lt;@U1&gt;'],
    ['list --who <@U1|bob>', 'list --who <@U1|bob>'],
    ['notify everyone --channel <#C1|clips>', 'notify everyone --channel <#C1|clips>'],
  ])('%s', (sent, typed) => expect(typedText(sent)).toBe(typed));

  it('is nothing where the command came without a text', () => expect(typedText(undefined)).toBe(''));

  it('is what follows the mention that a message begins with', () => {
    expect(mentionedText(' <@UBOT> a red fox', 'UBOT')).toBe('a red fox');
    expect(mentionedText('<@UBOT|dailies>, a red\nfox', 'UBOT')).toBe('a red\nfox');
    expect(mentionedText('<@UBOT>', 'UBOT')).toBe('');
    expect(mentionedText('thanks <@UBOT>', 'UBOT')).toBeNull();
    expect(mentionedText('<@UOTHER> a red fox', 'UBOT')).toBeNull();
  });
});

describe('a card', () => {
  it('shows what came from outside as it is, and pings nobody with it', () => {
    const mischief = '<!channel> <@U1> *bold* _it_ ~no~ `code` :fox: https://evil.example &lt;!here&gt;\n> quote';
    const { blocks, text } = renderCard(
      card([[{ untrusted: mischief }], ['by ', { person: { id: 'U1', name: '<@U2>' } }]]),
      AROUND,
    );
    const { pings, links } = parse(text, blocks as unknown as Parameters<typeof parse>[1]);
    expect(pings).toEqual([]);
    expect(links).toEqual([]);
    const [first = ''] = textsOf(blocks);
    expect(first).not.toMatch(/(?:^|\s)[*_~`]\w/);
    expect(first).not.toContain(':fox:');
    expect(first.replaceAll('\u200B', '')).toContain(
      '*bold* _it_ ~no~ `code` :fox: https://evil.example &amp;lt;!here',
    );
  });

  it('pings who is meant, and links what is ours', () => {
    const line = [
      { mention: { id: 'U1', name: 'Ada' } },
      ' ',
      { message: { channel: 'C1', message: '1700000000.000100' }, label: 'See it' },
      ' ',
      { link: 'https://dailies.example/media/x?a=1&b=2', label: 'Watch' },
      ' until ',
      { timeMs: Date.UTC(2026, 10, 21, 12) },
    ];
    const { blocks } = renderCard(card([line]), AROUND);
    expect(textsOf(blocks)).toEqual([
      '<@U1> <https://acme.slack.com/archives/C1/p1700000000000100|See it> <https://dailies.example/media/x?a=1&amp;b=2|Watch> until <!date^1795262400^{date_short_pretty} at {time}|2026-11-21 12:00 UTC>',
    ]);
  });

  it('draws the bar, and puts five buttons in a row', () => {
    const buttons = Array.from({ length: 7 }, (_, at) => ({
      id: `cancel:${at}`,
      label: `B${at}`,
      style: 'plain' as const,
    }));
    const { blocks } = renderCard(card([['One'], ['Two']], { progress: 45, buttons }), AROUND);
    expect(textsOf(blocks)).toEqual(['One', `Two\n${'█'.repeat(9)}${'░'.repeat(11)}`]);
    expect(
      blocks.filter(({ type }) => type === 'actions').map((row) => ('elements' in row ? row.elements.length : 0)),
    ).toEqual([5, 2]);
  });

  it('cuts no character in two', () => {
    const { blocks, text } = renderSentence(`x${'🦊'.repeat(2000)}`);
    expect([...textsOf(blocks), text].filter((part) => !part.isWellFormed())).toEqual([]);
    expect(textsOf(blocks).join('')).toBe(`x${'🦊'.repeat(2000)}`);
  });

  it('fits into Slack however long it is, without cutting an entity', () => {
    const long = `${'&'.repeat(9000)}`;
    const { blocks, text } = renderSentence(long);
    const texts = textsOf(blocks);
    expect(texts.length).toBeGreaterThan(1);
    for (const part of texts) {
      expect(part.length).toBeLessThanOrEqual(3000);
      expect(part.replaceAll('&amp;', '')).toBe('');
    }
    expect(texts.join('')).toBe('&amp;'.repeat(9000));
    expect(text.length).toBeLessThanOrEqual(3000);
    const many = renderCard(card(Array.from({ length: 900 }, (_, at) => [`${at} ${'x'.repeat(300)}`])), AROUND);
    expect(many.blocks.length).toBeLessThanOrEqual(50);
  });
});
