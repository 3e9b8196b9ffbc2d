import { describe, expect, it } from 'vitest';
import { mentionedText, typedText } from '#adapters/slack/interactions/command-text.ts';
import { renderCard, renderSentence } from '#adapters/slack/messages/render.ts';
import { type Card, type Line, layOut } from '#commands/ui/card.ts';
import { checkedBlocks } from '#test/fakes/slack/blocks.ts';
import { parse } from '#test/fakes/slack/mrkdwn.ts';

interface Sub {
  readonly elements?: readonly Readonly<Record<string, unknown>>[];
}

const AROUND = { workspaceUrl: 'https://acme.slack.com/' };
const card = (lines: readonly Line[], more: Partial<Pick<Card, 'progress' | 'buttons'>> = {}): Card => ({
  lines,
  progress: null,
  buttons: [],
  ...more,
});
/** Returns every element of the rich text in a message. */
const elementsOf = (blocks: readonly object[]): readonly Readonly<Record<string, unknown>>[] =>
  blocks
    .flatMap((block) => ('elements' in block ? (block.elements as readonly Sub[]) : []))
    .flatMap((sub) => sub.elements ?? []);
const textsOf = (blocks: readonly object[]): readonly string[] =>
  elementsOf(blocks).flatMap(({ type, text }) => (type === 'text' ? [String(text)] : []));

describe('typed text', () => {
  it.each([
    ['a &lt;fox&gt; &amp; a hen', 'a <fox> & a hen'],
    ['a fox --image <https://example.com/a.png>', 'a fox --image https://example.com/a.png'],
    ['a fox --image <https://example.com/a.png|example.com/a.png>', 'a fox --image https://example.com/a.png'],
    ['write to <mailto:ada@example.com|ada@example.com>', 'write to ada@example.com'],
    ['a fox for <@U1|bob> in <#C1|clips>', 'a fox for @bob in #clips'],
    ['wake <!channel> and <!subteam^S1|@artists>', 'wake @channel and @artists'],
    // Entities that a user typed stay text.
    ['say &amp;lt;@U1&amp;gt;', 'say &lt;@U1&gt;'],
    ['list --who <@U1|bob>', 'list --who <@U1|bob>'],
    ['notify everyone --channel <#C1|clips>', 'notify everyone --channel <#C1|clips>'],
    ['approvers add <!subteam^S1|@artists>', 'approvers add <!subteam^S1|@artists>'],
    ['budget <#C1|clips> 20', 'budget <#C1|clips> 20'],
    ['pause ask <!subteam^S1|@artists> or <@U1|bob>', 'pause ask @artists or @bob'],
  ])('%s', (sent, typed) => expect(typedText(sent)).toBe(typed));

  it('is empty for a command without text', () => expect(typedText(undefined)).toBe(''));

  it('is the rest of a message after its leading mention', () => {
    expect(mentionedText(' <@UBOT> a red fox', 'UBOT')).toBe('a red fox');
    expect(mentionedText('<@UBOT|dailies>, a red\nfox', 'UBOT')).toBe('a red\nfox');
    expect(mentionedText('<@UBOT>', 'UBOT')).toBe('');
    expect(mentionedText('thanks <@UBOT>', 'UBOT')).toBeNull();
    expect(mentionedText('<@UOTHER> a red fox', 'UBOT')).toBeNull();
  });
});

describe('a card', () => {
  it('shows user input literally and without pings', () => {
    const mischief = '<!channel> <@U1> *bold* _it_ ~no~ `code` :fox: https://evil.example &lt;!here&gt;\n> quote';
    const { blocks, text } = renderCard(
      card([[{ untrusted: mischief }], ['by ', { person: { id: 'U1', name: '<@U2>' } }]]),
      AROUND,
    );
    const { pings, links } = parse(text, blocks as unknown as Parameters<typeof parse>[1]);
    expect(pings).toEqual([]);
    expect(links).toEqual([]);
    // Rich text is literal: it can be copied and searched for unchanged.
    expect(textsOf(blocks)).toEqual([mischief, 'by ', '<@U2>']);
    expect(JSON.stringify(blocks)).not.toContain('mrkdwn');
    expect(text).not.toContain('\u200B');
  });

  it('renders its own mentions and links', () => {
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
    expect(elementsOf(blocks)).toEqual([
      { type: 'user', user_id: 'U1' },
      { type: 'text', text: ' ' },
      { type: 'link', url: 'https://acme.slack.com/archives/C1/p1700000000000100', text: 'See it' },
      { type: 'text', text: ' ' },
      { type: 'link', url: 'https://dailies.example/media/x?a=1&b=2', text: 'Watch' },
      { type: 'text', text: ' until ' },
      {
        type: 'date',
        timestamp: 1795262400,
        format: '{date_short_pretty} at {time}',
        fallback: '2026-11-21 12:00 UTC',
      },
    ]);
  });

  it('shows the prompt in bold, the settings in small print, and an item’s button beside it', () => {
    const jump = { message: { channel: 'C1', message: '1700000000.000100' }, label: 'Open' };
    const small: Line = ['Swift 1 · ', { person: { id: 'U1', name: 'a_b' } }, ' · ', { timeMs: 0 }];
    const { blocks } = renderCard(
      layOut([
        { kind: 'heading', line: ['Clips'] },
        { kind: 'item', title: [{ untrusted: 'a *red* fox' }], small },
        { kind: 'divider' },
        { kind: 'item', title: [{ untrusted: 'a hen' }], small: [], accessory: jump },
        { kind: 'item', title: ['b'], small: [], accessory: { id: 'details:1', label: 'Details', style: 'plain' } },
        { kind: 'table', columns: ['Who', 'Spent'], rows: [[['Ada'], ['$1.20']]] },
      ]),
      AROUND,
    );
    expect(checkedBlocks(blocks, 'a test').map(({ type }) => type)).toEqual([
      'header',
      'rich_text',
      'context',
      'divider',
      'section',
      'section',
      'rich_text',
    ]);
    expect(blocks[1]).toEqual({
      type: 'rich_text',
      elements: [
        { type: 'rich_text_section', elements: [{ type: 'text', text: 'a *red* fox', style: { bold: true } }] },
      ],
    });
    expect(blocks[2]).toEqual({
      type: 'context',
      elements: [
        { type: 'plain_text', text: 'Swift 1 · a_b', emoji: false },
        {
          type: 'mrkdwn',
          text: '<!date^0^{date_short_pretty} at {time}|1970-01-01 00:00 UTC>',
          verbatim: true,
        },
      ],
    });
    expect(blocks[4]).toMatchObject({
      text: { type: 'plain_text', text: 'a hen' },
      accessory: { type: 'button', url: 'https://acme.slack.com/archives/C1/p1700000000000100' },
    });
    expect(blocks[5]).toMatchObject({ accessory: { action_id: 'details:1' } });
    expect(textsOf(blocks).slice(-4)).toEqual(['• ', 'Ada', ' · ', '$1.20']);
  });

  it('names the channel of a row with a button', () => {
    const accessory = { id: 'panel:budget:amounts', label: 'Change…', style: 'plain' } as const;
    const { blocks } = renderCard(layOut([{ kind: 'item', title: [{ channel: 'C1' }], small: [], accessory }]), AROUND);
    expect(checkedBlocks(blocks, 'a test')[0]).toMatchObject({ text: { type: 'mrkdwn', text: '<#C1>' } });
  });

  it('keeps the order of its words regardless of their direction', () => {
    const { blocks, text } = renderCard(
      card([[{ untrusted: 'abc \u202Eevil' }, ' · $0.20'], [{ untrusted: 'שלום' }]]),
      AROUND,
    );
    expect(textsOf(blocks)).toEqual(['abc evil', ' · $0.20', '\u2068שלום\u2069']);
    expect(text).toBe('abc evil · $0.20\n\u2068שלום\u2069');
  });

  it('draws the progress bar, and five buttons per row', () => {
    const buttons = Array.from({ length: 7 }, (_, at) => ({
      id: `cancel:${at}`,
      label: `B${at}`,
      style: 'plain' as const,
    }));
    const { blocks } = renderCard(card([['One'], ['Two']], { progress: 45, buttons }), AROUND);
    expect(textsOf(blocks)).toEqual(['One', 'Two', `${'█'.repeat(9)}${'░'.repeat(11)}`]);
    expect(
      blocks.filter(({ type }) => type === 'actions').map((row) => ('elements' in row ? row.elements.length : 0)),
    ).toEqual([5, 2]);
  });

  it('never splits a character', () => {
    const { blocks, text } = renderSentence(`x${'🦊'.repeat(2000)}`);
    expect([...textsOf(blocks), text].filter((part) => !part.isWellFormed())).toEqual([]);
    expect(textsOf(blocks).join('')).toBe(`x${'🦊'.repeat(2000)}`);
  });

  it('stays within Slack’s limits without splitting an entity', () => {
    const long = `${'&'.repeat(9000)}`;
    const { blocks, text } = renderSentence(long);
    const texts = textsOf(blocks);
    expect(texts.length).toBeGreaterThan(1);
    for (const part of texts) expect(part.length).toBeLessThanOrEqual(3000);
    expect(texts.join('')).toBe(long);
    // The fallback text contains no partial entity.
    expect(text.replaceAll('&amp;', '')).toBe('…');
    expect(text.length).toBeLessThanOrEqual(3000);
    const many = renderCard(card(Array.from({ length: 900 }, (_, at) => [`${at} ${'x'.repeat(300)}`])), AROUND);
    expect(many.blocks.length).toBeLessThanOrEqual(50);
  });
});
