import type { types } from '@slack/bolt';
import { beginning, shorten } from '#commands/sentences/format.ts';
import {
  type Block,
  blocksOf,
  type Card,
  type CardButton,
  type CardSelect,
  facts,
  type ItemBlock,
  isolated,
  type Line,
  linesOf,
  type Part,
  progressBar,
  sentenceCard,
  type TableBlock,
  tableBlocks,
  withoutDirection,
  withPictures,
} from '#commands/ui/card.ts';
import type { BarChart, MessageRef } from '#src/chat/index.ts';
import { escapePlain } from './mrkdwn.ts';

/** A message's content: blocks for display, text for notifications and screen readers. */
export interface Body {
  readonly text: string;
  readonly blocks: types.KnownBlock[];
}

/** Context of a card's message, for its links. */
interface RenderContext {
  /** The workspace's URL, such as `https://acme.slack.com/`, for links to messages; `null`: unknown. */
  readonly workspaceUrl: string | null;
  /** Links to the clips in the message's thread. Default: none. */
  readonly clips?: Line;
  readonly repeats?: (MessageRef & { readonly label: string }) | null;
  /** Renders tables as Slack's own; only for messages. Default: as text. */
  readonly hasTables?: boolean;
  /** Default: true. Slack fetches pictures itself, and refuses a message or tab with one that it cannot have. */
  readonly hasPictures?: boolean;
  /** Chart at the end of the message. Default: none. */
  readonly chart?: BarChart | null;
}

/** @see https://docs.slack.dev/reference/block-kit/blocks/section-block */
const SECTION_LENGTH = 3000;
/** @see https://docs.slack.dev/reference/block-kit/blocks/header-block */
const HEADER_LENGTH = 150;
/** @see https://docs.slack.dev/reference/methods/chat.postMessage#truncating-content */
const FALLBACK_LENGTH = 3000;
/** @see https://docs.slack.dev/reference/block-kit/blocks (100 in views) */
const MOST_BLOCKS = 50;
/** Wider rows wrap on narrow screens. */
const BUTTONS_IN_A_ROW = 5;
/** @see https://docs.slack.dev/reference/block-kit/block-elements/button-element */
const BUTTON_LENGTH = 75;
/** @see https://docs.slack.dev/reference/block-kit/composition-objects/option-object (the value has 150) */
const OPTION_LENGTH = 75;
/** Prefix of a link button's id; its press is acknowledged and ignored. */
const LINK_BUTTON = 'open';

/** Renders a card as a message: its blocks, the progress bar, the links to its clips and the buttons. */
export function renderCard(card: Card, context: RenderContext): Body {
  const { workspaceUrl, hasTables = false, hasPictures = true, chart = null } = context;
  const shown = hasPictures ? card : withPictures<never>(card, () => null);
  const blocks = [...layout(shown, workspaceUrl, hasTables), ...progressAndClips(card, context)];
  const charts = chart === null ? [] : [chartBlock(chart) as unknown as types.KnownBlock];
  const { buttons, selects = [] } = card;
  const rows = [
    ...charts,
    ...linkToOriginal(context),
    ...(selects.length === 0 ? [] : [{ type: 'actions' as const, elements: selects.map(renderSelect) }]),
    ...chunked(buttons, BUTTONS_IN_A_ROW).map(renderRow),
  ];
  return { text: fallbackText(card), blocks: [...blocks.slice(0, MOST_BLOCKS - rows.length), ...rows] };
}

/** Renders the blocks of a card without its progress bar and its buttons. */
function layout(card: Card, workspaceUrl: string | null, hasTables = false): readonly types.KnownBlock[] {
  const flat = blocksOf(card).flatMap((block) => (block.kind === 'table' && !hasTables ? tableBlocks(block) : [block]));
  return mergeText(flat).flatMap((some, index) => renderBlock(some, index, workspaceUrl));
}

type Run = Block | { readonly kind: 'texts'; readonly lines: readonly Line[] };

function mergeText(blocks: readonly Block[]): readonly Run[] {
  const runs: Run[] = [];
  for (const block of blocks) {
    const last = runs.at(-1);
    if (block.kind !== 'text') runs.push(block);
    else if (last?.kind === 'texts') runs[runs.length - 1] = { kind: 'texts', lines: [...last.lines, block.line] };
    else runs.push({ kind: 'texts', lines: [block.line] });
  }
  return runs;
}

function renderBlock(block: Run, index: number, workspaceUrl: string | null): readonly types.KnownBlock[] {
  switch (block.kind) {
    case 'texts':
      return richText(block.lines, workspaceUrl);
    case 'text':
      return richText([block.line], workspaceUrl);
    case 'small':
      return contextBlock(block.line, workspaceUrl);
    case 'heading':
      return [{ type: 'header', text: plain(wordsOf(block.line), HEADER_LENGTH) }];
    case 'divider':
      return [{ type: 'divider' }];
    case 'table':
      return [tableBlock(block)];
    case 'picture': {
      const image = renderPicture(block.picture);
      return image === null ? [] : [image];
    }
    case 'item':
      return itemBlocks(block, index, workspaceUrl);
  }
}

/**
 * Renders an item: its title as rich text, or as plain text if it has a button or a picture, which rich text cannot hold.
 * A section has one of them: beside a picture, a link to a message is in the small print, and a button stands alone.
 */
function itemBlocks(
  { title, small, accessory, picture }: ItemBlock,
  index: number,
  workspaceUrl: string | null,
): readonly types.KnownBlock[] {
  const image = accessory !== undefined && 'id' in accessory ? null : renderPicture(picture);
  const button = accessory === undefined || image !== null ? null : renderAccessory(accessory, index, workspaceUrl);
  const open =
    image === null || workspaceUrl === null || accessory === undefined || 'id' in accessory ? [] : [[accessory]];
  const beside = image ?? button;
  const titled: readonly types.KnownBlock[] =
    beside === null
      ? richText([title], workspaceUrl, true)
      : [{ type: 'section', text: plainTitle(title), accessory: beside }];
  return [...titled, ...contextBlock(facts(small, ...open), workspaceUrl)];
}

/** Renders a title in plain text, which would show the id of a channel in place of its name. */
function plainTitle(title: Line): types.PlainTextElement | types.MrkdwnElement {
  const channels = title.map(channelIn);
  if (channels.includes(null)) return plain(wordsOf(title), SECTION_LENGTH);
  return { type: 'mrkdwn', text: channels.join(''), verbatim: true };
}

/** @see https://docs.slack.dev/reference/block-kit/block-elements/image-element */
const ALT_LENGTH = 2000;

function renderPicture(picture: ItemBlock['picture']): types.ImageElement | null {
  if (picture === undefined || picture.url === null) return null;
  return { type: 'image', image_url: picture.url, alt_text: shorten(withoutDirection(picture.alt), ALT_LENGTH) };
}

function renderAccessory(
  accessory: NonNullable<ItemBlock['accessory']>,
  index: number,
  workspaceUrl: string | null,
): types.Button | null {
  if ('id' in accessory) return renderButton(accessory);
  if (workspaceUrl === null) return null;
  const url = messageUrl(workspaceUrl, accessory.message);
  return { type: 'button', action_id: `${LINK_BUTTON}-${index}`, text: plain(accessory.label, BUTTON_LENGTH), url };
}

function wordsOf(line: Line): string {
  return line.map(literal).join('') || '…';
}

function progressAndClips(card: Card, { workspaceUrl, clips = [] }: RenderContext): readonly types.KnownBlock[] {
  const lines: Line[] = [];
  if (card.progress !== null) lines.push([progressBar(card.progress)]);
  if (clips.length > 0) lines.push(clips);
  return richText(lines, workspaceUrl);
}

/** Links to the repeated message, since Slack threads cannot be nested. */
function linkToOriginal({ workspaceUrl, repeats = null }: RenderContext): readonly types.ContextBlock[] {
  if (repeats === null || workspaceUrl === null) return [];
  const { label, ...message } = repeats;
  return contextBlock([{ message, label }], workspaceUrl);
}

/** Renders a sentence that contains user input as plain text, with its buttons. */
export function renderSentence(sentence: string, buttons: readonly CardButton[] = []): Body {
  return renderCard(sentenceCard(sentence, buttons), { workspaceUrl: null });
}

/** Builds a text object that Slack does not parse as markup, shortened to `length` characters. */
export function plain(text: string, length: number): types.PlainTextElement {
  return { type: 'plain_text', text: shorten(text, length), emoji: false };
}

/** Returns the card as text for notifications: without markup and without pings except its own mentions. */
function fallbackText(card: Card): string {
  const text = linesOf(card)
    .map((line) => line.map((part) => pingIn(part) ?? channelIn(part) ?? escapePlain(literal(part))).join(''))
    .join('\n')
    .trim();
  return cut(text === '' ? '…' : text, FALLBACK_LENGTH);
}

function renderRow(buttons: readonly CardButton[]): types.ActionsBlock {
  return { type: 'actions', elements: buttons.map(renderButton) };
}

/** Renders a select; each action id is unique in its block, and the ids of the presses are the values. */
function renderSelect({ placeholder, options }: CardSelect, index: number): types.StaticSelect {
  return {
    type: 'static_select',
    action_id: `choose:${index}`,
    placeholder: plain(placeholder, OPTION_LENGTH),
    options: options.map(({ id, label }) => ({ value: id, text: plain(withoutDirection(label), OPTION_LENGTH) })),
  };
}

function renderButton({ id, label, style, spoken }: CardButton): types.Button {
  const text = plain(withoutDirection(label), BUTTON_LENGTH);
  const accessible = spoken === undefined ? {} : { accessibility_label: spoken };
  const button = { type: 'button', action_id: id, value: id, text, ...accessible } as const;
  return style === 'plain' ? button : { ...button, style };
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, safeEnd(text, length - 1))}…`;
}

/** Returns the last position up to `length` that splits no character, no `<mark>` and no `&entity;`. */
function safeEnd(text: string, length: number): number {
  const head = beginning(text, length);
  const mark = head.lastIndexOf('<');
  if (mark > head.lastIndexOf('>') && mark > 0) return mark;
  const entity = /&\w{0,4}$/u.exec(head);
  return entity !== null && entity.index > 0 ? entity.index : head.length;
}

function chunked<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}

/** Rows of a table, its header included. @see https://docs.slack.dev/reference/block-kit/blocks/table-block */
const MAX_ROWS = 100;
/** Length of a cell's text; keeps a table within the 10,000 characters of all its cells. */
const CELL_LENGTH = 60;
/** Shown in an empty cell: Slack refuses an empty text. */
const EMPTY_CELL = '–';
/** @see https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block */
const MAX_TITLE_LENGTH = 50;
const MAX_SERIES = 6;
const MAX_CATEGORIES = 20;
const MAX_LABEL_LENGTH = 20;

/** Chart in a message. The SDK has no type for it yet. */
interface DataVisualizationBlock {
  readonly type: 'data_visualization';
  readonly title: string;
  readonly chart: {
    readonly type: 'bar';
    readonly series: readonly {
      readonly name: string;
      readonly data: readonly { readonly label: string; readonly value: number }[];
    }[];
    readonly axis_config: { readonly categories: readonly string[]; readonly y_label: string };
  };
}

/**
 * Renders a table as Slack's own, which is accepted only in messages, once in each.
 * @see https://docs.slack.dev/reference/block-kit/blocks/table-block
 */
export function tableBlock({ columns, rows }: TableBlock): types.TableBlock {
  const cells = [columns.map((name): Line => [name]), ...rows].slice(0, MAX_ROWS);
  return { type: 'table', rows: cells.map((row) => row.map(cellOf)), column_settings: [{ is_wrapped: true }] };
}

function cellOf(line: Line): types.RawTextElement {
  const text = shorten(line.map(literal).join(''), CELL_LENGTH);
  return { type: 'raw_text', text: text === '' ? EMPTY_CELL : text };
}

/**
 * Renders a chart as Slack's own, of which a message takes two at most.
 * @see https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block
 * @see https://github.com/vercel/chat/pull/696 (the number per message)
 */
export function chartBlock({ title, categories, series, currency }: BarChart): DataVisualizationBlock {
  const labels = categories.slice(0, MAX_CATEGORIES).map((name) => shorten(name, MAX_LABEL_LENGTH));
  return {
    type: 'data_visualization',
    title: shorten(title, MAX_TITLE_LENGTH),
    chart: {
      type: 'bar',
      series: series.slice(0, MAX_SERIES).map(({ name, values }) => ({
        name: shorten(name, MAX_LABEL_LENGTH),
        data: labels.map((label, at) => ({ label, value: Number(values[at] ?? 0) })),
      })),
      axis_config: { categories: labels, y_label: currency },
    },
  };
}

type Element = types.RichTextSection['elements'][number];

/**
 * Most characters in one rich text block. Slack documents no limit; this is that of a section.
 * @see https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
 */
const BLOCK_LENGTH = 3000;
/** @see https://docs.slack.dev/reference/block-kit/blocks/context-block */
const MOST_ELEMENTS = 10;
const ELEMENT_LENGTH = 2000;
/** Matches Slack's channel ids. */
const CHANNEL_ID = /^[CGD]\w+$/;

/**
 * Builds rich text blocks from lines: text elements are literal by construction, so that user input is never parsed as
 * markup and can be copied unchanged.
 */
function richText(lines: readonly Line[], workspaceUrl: string | null, isBold = false): types.RichTextBlock[] {
  const sections = lines.flatMap((line) => sectionsOf(line.flatMap((part) => elementsOf(part, workspaceUrl, isBold))));
  return packed(sections).map((elements) => ({ type: 'rich_text', elements: [...elements] }));
}

/** Returns a part as elements; an empty list for empty text. */
function elementsOf(part: Part, workspaceUrl: string | null, isBold: boolean): readonly Element[] {
  const bold = isBold ? { style: { bold: true } } : {};
  if (typeof part === 'object') {
    if ('mention' in part) return [{ type: 'user', user_id: part.mention.id, ...bold }];
    if ('group' in part) return [{ type: 'usergroup', usergroup_id: part.group.id, ...bold }];
    if ('timeMs' in part) return [{ ...dateElement(part.timeMs), ...bold }];
    if ('channel' in part && CHANNEL_ID.test(part.channel))
      return [{ type: 'channel', channel_id: part.channel, ...bold }];
  }
  const text = literal(part).toWellFormed();
  const url = urlOf(part, workspaceUrl);
  if (url !== null) return [{ type: 'link', url, text, ...bold }];
  const style = styleOf(part, isBold);
  return text === '' ? [] : [{ type: 'text', text, ...(style === null ? {} : { style }) }];
}

function styleOf(part: Part, isBold: boolean): NonNullable<types.RichTextText['style']> | null {
  const isCode = typeof part === 'object' && 'code' in part;
  const isStrong = isBold || (typeof part === 'object' && 'strong' in part);
  if (!isCode && !isStrong) return null;
  return { ...(isStrong ? { bold: true } : {}), ...(isCode ? { code: true } : {}) };
}

/** Returns a part as plain text; user input is isolated, so that its direction cannot affect the text around it. */
function literal(part: Part): string {
  if (typeof part === 'string') return part;
  if ('untrusted' in part) return isolated(part.untrusted);
  if ('strong' in part) return isolated(part.strong);
  if ('code' in part) return part.code;
  if ('timeMs' in part) return dateFallback(part.timeMs);
  if ('person' in part) return isolated(part.person.name);
  if ('mention' in part) return `@${isolated(part.mention.name)}`;
  if ('group' in part) return isolated(part.group.name);
  if ('channel' in part) return `#${part.channel}`;
  return part.label;
}

/** Returns the URL that a part links to; `null` if it is no link. */
function urlOf(part: Part, workspaceUrl: string | null): string | null {
  if (typeof part !== 'object') return null;
  if ('link' in part) return part.link;
  return 'message' in part && workspaceUrl !== null ? messageUrl(workspaceUrl, part.message) : null;
}

/** Returns the permalink of a message. @see https://docs.slack.dev/reference/methods/chat.getPermalink */
function messageUrl(workspaceUrl: string, { channel, message }: MessageRef): string {
  return `${workspaceUrl.replace(/\/+$/, '')}/archives/${channel}/p${message.replace('.', '')}`;
}

/** Date format in the reader's time zone. @see https://docs.slack.dev/messaging/formatting-message-text#date-formatting */
const DATE_FORMAT = '{date_short_pretty} at {time}';

function dateElement(timeMs: number): types.RichTextDate {
  return {
    type: 'date',
    timestamp: Math.floor(timeMs / 1000),
    format: DATE_FORMAT,
    fallback: dateFallback(timeMs),
  };
}

/** Formats a date in UTC, for clients that cannot render it in the reader's time zone. */
function dateFallback(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Builds the sections of a line; one longer than a block continues in further sections, split between characters. */
function sectionsOf(elements: readonly Element[]): readonly types.RichTextSection[] {
  const sections: Element[][] = [[]];
  let left = BLOCK_LENGTH;
  for (const element of elements.flatMap(split)) {
    const length = lengthOf(element);
    if (length > left) {
      sections.push([]);
      left = BLOCK_LENGTH;
    }
    sections.at(-1)?.push(element);
    left -= length;
  }
  return sections.filter((some) => some.length > 0).map((some) => ({ type: 'rich_text_section', elements: some }));
}

function split(element: Element): readonly Element[] {
  if (element.type !== 'text' || element.text.length <= BLOCK_LENGTH) return [element];
  const head = beginning(element.text, BLOCK_LENGTH);
  return [{ ...element, text: head }, ...split({ ...element, text: element.text.slice(head.length) })];
}

/** Groups sections into as few blocks as their length allows. */
function packed(sections: readonly types.RichTextSection[]): readonly (readonly types.RichTextSection[])[] {
  const blocks: types.RichTextSection[][] = [];
  let left = 0;
  for (const section of sections) {
    const length = section.elements.reduce((sum, element) => sum + lengthOf(element), 0);
    if (length > left || blocks.length === 0) {
      blocks.push([]);
      left = BLOCK_LENGTH;
    }
    blocks.at(-1)?.push(section);
    left -= length;
  }
  return blocks;
}

function lengthOf(element: Element): number {
  return 'text' in element && typeof element.text === 'string' ? element.text.length : 1;
}

/**
 * Builds small print: plain text, in which user input is never parsed as markup, and mrkdwn elements for links, dates,
 * mentions and channels only.
 * @returns an empty list for an empty line.
 */
function contextBlock(line: Line, workspaceUrl: string | null): types.ContextBlock[] {
  const elements: types.ContextBlock['elements'] = [];
  let words = '';
  const flush = (): void => {
    // Slack renders a gap between elements: a separator at the edge is superfluous.
    const text = words.replace(/^\s*·\s*|\s*·\s*$/gu, '').trim();
    if (text !== '') elements.push({ type: 'plain_text', text: beginning(text, ELEMENT_LENGTH), emoji: false });
    words = '';
  };
  for (const part of line) {
    const markup = elements.length < MOST_ELEMENTS - 2 ? markupOf(part, workspaceUrl) : null;
    if (markup === null) {
      words += literal(part);
      continue;
    }
    flush();
    elements.push({ type: 'mrkdwn', text: markup, verbatim: true });
  }
  flush();
  return elements.length === 0 ? [] : [{ type: 'context', elements }];
}

/** Returns the mrkdwn of a part that pings someone; `null` for any other. */
function pingIn(part: Part): string | null {
  if (typeof part !== 'object') return null;
  if ('mention' in part) return `<@${part.mention.id}>`;
  return 'group' in part ? `<!subteam^${part.group.id}>` : null;
}

/** Returns the mrkdwn of a channel, which Slack shows by its name; `null` for any other part. */
function channelIn(part: Part): string | null {
  const isChannel = typeof part === 'object' && 'channel' in part && CHANNEL_ID.test(part.channel);
  return isChannel ? `<#${part.channel}>` : null;
}

/** Returns the mrkdwn of a part that needs it, such as a link or a date in the reader's time zone; otherwise `null`. */
function markupOf(part: Part, workspaceUrl: string | null): string | null {
  const url = urlOf(part, workspaceUrl);
  if (url !== null) return `<${escapePlain(url).replaceAll('|', '%7C')}|${escapePlain(literal(part))}>`;
  const ping = pingIn(part);
  if (ping !== null || typeof part !== 'object') return ping;
  if ('timeMs' in part) return `<!date^${Math.floor(part.timeMs / 1000)}^${DATE_FORMAT}|${dateFallback(part.timeMs)}>`;
  return channelIn(part);
}
