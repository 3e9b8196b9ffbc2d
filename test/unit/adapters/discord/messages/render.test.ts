import { describe, expect, it } from 'vitest';
import {
  cardText,
  codeText,
  escapeText,
  IS_EPHEMERAL,
  noticeText,
  renderCard,
  renderParts,
  renderSentence,
  storedName,
} from '#adapters/discord/messages/render.ts';
import { cardOf } from '#commands/sentences/cards/task-card.ts';
import { type Card, heading, item, type Line, layOut, type Picture, small } from '#commands/ui/card.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { componentsV2 } from '#test/fakes/discord/components.ts';
import { doneView, setView, taskView } from '#test/fakes/views.ts';

const card = (...lines: readonly Line[]): Card => ({ lines, progress: null, buttons: [] });

describe('untrusted text', () => {
  it.each([
    ['**bold** _it_ ~~no~~ `code` ||spoiler||'],
    ['# title\n> quote\n- list\n* list\n1. one\n-# small'],
    ['[label](https://evil.example) https://evil.example www.evil.example'],
    ['<@1> <@&2> <#3> <t:1:R> </video:1> <:x:1> :smile:'],
    ['@everyone @here \\* \\\\'],
  ])('is shown verbatim: %s', (text) => {
    const escaped = escapeText(text);
    expect(escaped.replace(/\u200B/g, '').replace(/\\([^0-9A-Za-z\s])/g, '$1')).toBe(text);
    // Without its escaped characters, the text contains no Discord markup.
    const bare = escaped.replace(/\\[^0-9A-Za-z\s]/g, '');
    expect(bare).not.toMatch(/[*_~`|<>#[\]()@]|https?:\/\/|^\s*(?:-|\d+\.)\s/m);
    expect(bare).not.toContain('www.evil');
    expect(escaped).not.toMatch(/@everyone|@here/);
  });

  it('cannot end the code span around it', () => {
    expect(codeText('a`b')).toBe('`aˋb`');
  });
});

describe('a card', () => {
  it('has its parts in Discord’s own markup', () => {
    const line: Line = [
      { strong: 'b' },
      { code: 'c' },
      { timeMs: 1_790_000_000_999 },
      { person: { id: '1', name: 'a_b' } },
      { person: { id: '2', name: '2' } },
      { mention: { id: '3', name: 'x' } },
      { channel: '4' },
      { channel: 'general' },
      { link: 'https://ours.example', label: 'Open' },
      { message: { channel: '5', message: '6' }, label: 'See it' },
    ];
    expect(cardText(card(line), '7')).toBe(
      '**b**`c`<t:1790000000:R>a\\_b<@2><@3><#4>\\#general[Open](https://ours.example)[See it](https://discord.com/channels/7/5/6)',
    );
    expect(cardText(card([{ message: { channel: '5', message: '6' }, label: 'x' }]), null)).toContain(
      '/channels/@me/5/6',
    );
  });

  it('shows the real percentage, and buttons with all their data', () => {
    const body = JSON.stringify(renderCard(cardOf(taskView({ progress: 42 })), { guild: null, phase: 'running' }));
    expect(body).toContain('████████░░░░░░░░░░░░');
    expect(body).toContain('"custom_id":"cancel:task-1"');
    expect(body).toContain('"allowed_mentions":{"parse":[]}');
  });

  it('shows the clips that are attached in one gallery, in their order', () => {
    const clips = [2, 1].map((at) => ({ name: `fox-${at}.mp4`, description: `Take ${at}: a \u202Efox` }));
    const { components } = renderCard(cardOf(doneView()), { guild: null, phase: 'done', clips });
    const items = [2, 1].map((at) => ({
      media: { url: `attachment://fox-${at}.mp4` },
      description: `Take ${at}: a fox`,
    }));
    expect(components).toMatchObject([{ components: expect.arrayContaining([{ type: 12, items }]) }]);
    expect(JSON.stringify(components).match(/"type":12/gu)).toHaveLength(1);
  });

  it('has the prompt in bold, the settings as subtext, and a row’s button beside it', () => {
    const jump = { message: { channel: '5', message: '6' }, label: 'Open' };
    const { components } = renderCard(
      layOut([
        { kind: 'heading', line: ['Clips'] },
        {
          kind: 'item',
          title: [{ untrusted: 'a *red* fox' }],
          small: ['Swift 1 · ', { person: { id: '1', name: 'a_b' } }],
        },
        { kind: 'item', title: [{ untrusted: 'a hen' }], small: ['done'], accessory: jump },
        { kind: 'divider' },
        { kind: 'table', columns: ['Who', 'Spent'], rows: [[['Ada'], ['$1.20']]] },
      ]),
      { guild: '7' },
    );
    componentsV2.parse(components);
    expect(components).toEqual([
      {
        type: 17,
        components: [
          { type: 10, content: '### Clips\n**a \\*red\\* fox**\n-# Swift 1 · a\\_b' },
          {
            type: 9,
            components: [{ type: 10, content: '**a hen**\n-# done' }],
            accessory: { type: 2, style: 5, label: 'Open', url: 'https://discord.com/channels/7/5/6' },
          },
          { type: 14 },
          { type: 10, content: '• Ada · $1.20' },
        ],
      },
    ]);
  });

  // @see https://discord.com/developers/docs/components/reference#section: one accessory, a button or a thumbnail
  it('shows a picture beside an item, with the link to its message in the small print', () => {
    const picture = {
      id: 'task-1',
      url: 'https://bot.example/media/task-1.jpg?expires=1',
      alt: '\u202Ea hen',
    };
    const row = { kind: 'item', title: ['a hen'], small: ['done'], picture } as const;
    const open = { message: { channel: '5', message: '6' }, label: 'Open' } as const;
    const details = { id: 'details:1', label: 'Details', style: 'plain' } as const;
    const { components } = renderCard(
      layOut([
        { ...row, accessory: open },
        { ...row, accessory: details },
        { ...row, accessory: open, picture: { ...picture, url: null } },
        row,
      ]),
      { guild: '7' },
    );
    componentsV2.parse(components);
    const url = 'https://discord.com/channels/7/5/6';
    const thumbnail = { type: 11, media: { url: picture.url }, description: 'a hen' };
    const section = (content: string, accessory: object) => ({
      type: 9,
      components: [{ type: 10, content }],
      accessory,
    });
    expect(components).toMatchObject([
      {
        components: [
          section(`**a hen**\n-# done · [Open](${url})`, thumbnail),
          section('**a hen**\n-# done', { type: 2, custom_id: 'details:1' }),
          section('**a hen**\n-# done', { type: 2, style: 5, label: 'Open', url }),
          section('**a hen**\n-# done', thumbnail),
        ],
      },
    ]);
  });

  it('shows a picture that stands alone as a gallery, and in one message ten rows of them with buttons', () => {
    const url = 'https://bot.example/media/task-1.strip.jpg?expires=1';
    const link = { id: 'task-1.strip', url, alt: '\u202Eframes' };
    const none = { ...link, url: null };
    const wide = (picture: Picture) => ({ kind: 'picture', picture }) as const;
    const { components } = renderCard(layOut([['Details'], wide(link), wide(none), ['Done']]), {
      guild: '7',
    });
    componentsV2.parse(components);
    const gallery = { type: 12, items: [{ media: { url: link.url }, description: 'frames' }] };
    const text = (content: string) => ({ type: 10, content });
    expect(components).toMatchObject([{ components: [text('Details'), gallery, text('Done')] }]);
    const rows = Array.from({ length: 10 }, () => item([{ code: '@mug' }], ['Ada'], undefined, link));
    const buttons = [1, 2].map((at) => ({ id: `page:${at}`, label: 'Next', style: 'plain' as const }));
    const page = renderParts(layOut([heading('Reference library'), ...rows, small('Write its name')], { buttons }), {
      guild: '7',
    });
    expect(page).toHaveLength(1);
    componentsV2.parse(page[0]?.components);
    expect(JSON.stringify(page).match(/"type":11/g)).toHaveLength(10);
  });

  it('stays within Discord’s limits with rows of pictures above two rows of buttons', () => {
    const picture = { id: 'task-1', url: 'https://bot.example/media/task-1.jpg', alt: 'a hen' };
    const rows = Array.from({ length: 15 }, (_, at) => item([`hen ${at}.`], ['done'], undefined, picture));
    const buttons = Array.from({ length: 10 }, (_, at) => ({ id: `b:${at}`, label: 'B', style: 'plain' as const }));
    const parts = renderParts(layOut([heading('Waiting'), ...rows], { buttons }), { guild: '7' });
    for (const { components } of parts) componentsV2.parse(components);
    expect(JSON.stringify(parts).match(/hen \d+/g)).toHaveLength(15);
  });

  it('stays within Discord’s limits with ten rows and a clip, and splits text that is too long', () => {
    const item = { kind: 'item', title: ['x'.repeat(60)], small: ['y'] } as const;
    const rows = Array.from({ length: 14 }, (_, at) => ({
      ...item,
      accessory: { id: `details:${at}`, label: 'Details', style: 'plain' } as const,
    }));
    const buttons = Array.from({ length: 5 }, (_, at) => ({ id: `b:${at}`, label: 'B', style: 'plain' as const }));
    const prompt = '*fox* '.repeat(1000);
    const parts = renderParts(layOut([...rows, { kind: 'text', line: [{ untrusted: prompt }] }], { buttons }), {
      guild: '7',
      clips: [{ name: 'a.mp4', description: 'a' }],
    });
    for (const { components } of parts) componentsV2.parse(components);
    const said = JSON.stringify(parts);
    expect(said.match(/details:\d+/g)).toHaveLength(14);
    expect(said.match(/fox/g)).toHaveLength(1000);
    expect(said.match(/"custom_id":"b:/g)).toHaveLength(5);
  });

  it.each(['takes', 'comparison'] as const)('stays within them with all clips of a set: %s', (kind) => {
    const place = { id: 'task-1' as TaskId, kind, of: kind === 'takes' ? 4 : 8 };
    const all = Array.from({ length: place.of }, (_, index) => index + 1);
    const handover = { kind: 'kept', bytes: 40_000_000, limitBytes: 10_000_000 } as const;
    const members = all.map((at) => {
      const own = { task: `task-${at}` as TaskId, set: { ...place, at }, handover };
      const blind = kind === 'takes' ? {} : { blind: { set: place.id, at } };
      return { view: doneView({ ...own, ...blind, prompt: '*fox* '.repeat(1_000) }), message: null };
    });
    const facts = { ended: 8, voters: 0, revealsAtMs: 1, tally: [], clips: all, settings: { seconds: 6 } };
    const comparison = kind === 'takes' ? {} : { comparison: { ...facts, stage: 'voting' } as const };
    const view = setView(place, members, { ...comparison, buttons: ['retry', 'cancel', 'details'] });
    const clips = all.map((at) => ({ name: `red-fox-7f3a-${at}.mp4`, description: 'x'.repeat(1_024) }));
    const { components } = renderCard(cardOf(view), { guild: '7', clips });
    componentsV2.parse(components);
    const said = JSON.stringify(components);
    for (const at of all) expect(said).toContain(`attachment://red-fox-7f3a-${at}.mp4`);
    expect(said).toContain(kind === 'takes' ? 'Take 4' : 'Vote for 8');
  });

  it('links the message it repeats unless it is a reply to it', () => {
    const body = renderCard(card(['Done']), {
      guild: '7',
      repeats: { channel: '5', message: '6', label: 'Another take' },
    });
    expect(JSON.stringify(body)).toContain('-# [Another take](https://discord.com/channels/7/5/6)');
  });

  it('keeps the order of its text in both writing directions', () => {
    expect(cardText(card([{ untrusted: 'cheap \u202efox' }, ' · $0.10'], [{ untrusted: 'ثعلب' }]), null)).toBe(
      'cheap fox · $0.10\n\u2068ثعلب\u2069',
    );
  });

  it.each(['discord.gg/abc', 'DISCORD.COM/invite/abc', 'discordapp.com/invite/abc'])(
    'embeds no invitation for %s',
    (address) => expect(cardText(card([{ untrusted: address }]), null)).not.toContain(address),
  );

  it('never exceeds Discord’s length limit', () => {
    expect(cardText(card(['x'.repeat(9000)]), null)).toHaveLength(4000);
    expect(cardText(card(['🦊'.repeat(9000)]), null)).toBe(`${'🦊'.repeat(1999)}…`);
  });

  it('is ephemeral for a refusal', () => {
    expect(renderSentence('no **way**').flags & IS_EPHEMERAL).toBe(IS_EPHEMERAL);
    expect(JSON.stringify(renderSentence('no **way**'))).toContain('no \\\\*\\\\*way');
  });
});

it.each([
  [0, '░'.repeat(20)],
  [4, '░'.repeat(20)],
  [5, `█${'░'.repeat(19)}`],
  [99, `${'█'.repeat(19)}░`],
  [100, '█'.repeat(20)],
])('renders the progress bar of %i %%', (progress, bar) => {
  expect(cardText({ ...card(), progress }, null)).toBe(`\`${bar}\``);
});

it.each([
  ['red-fox-7f3a.mp4', 'red-fox-7f3a.mp4'],
  ['ein-fuchs-für-dich-7f3a.mp4', 'ein-fuchs-fur-dich-7f3a.mp4'],
  ['狐-7f3a.mp4', 'clip-7f3a.mp4'],
  ['ثعلب-أحمر-7f3a.mp4', 'clip-7f3a.mp4'],
  ['狐.mp4', 'clip.mp4'],
])('stores %s as %s', (name, stored) => {
  expect(storedName(name)).toBe(stored);
});

describe('the text of a notice', () => {
  it('is cut after a line, so that no row, mention or escape ends in the middle', () => {
    const row = (at: number): Line => [{ untrusted: `*Ada* ${at} ${'_'.repeat(40)}` }];
    const text = noticeText(card(...Array.from({ length: 40 }, (_, at) => row(at))), null);
    const lines = text.split('\n');
    expect(text.length).toBeLessThanOrEqual(2000);
    expect(lines.at(-1)).toBe('…');
    expect(new Set(lines.slice(0, -1).map((line) => line.replace(/\d+/u, '')))).toHaveProperty('size', 1);
    expect(lines.length).toBeGreaterThan(15);
  });

  it('is complete if it fits, and cut within a line that is too long itself', () => {
    expect(noticeText(card(['a'], ['b']), null)).toBe('a\nb');
    expect(noticeText(card(['x'.repeat(3000)]), null)).toBe(`${'x'.repeat(1998)}…`);
  });
});
