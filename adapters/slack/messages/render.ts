import type { types } from '@slack/bolt';
import { WATCH_CLIP } from '#commands/sentences/attachments.ts';
import { beginning, shorten } from '#commands/sentences/format.ts';
import {
  type Block,
  blocksOf,
  type Card,
  type CardButton,
  type ItemBlock,
  type Line,
  linesOf,
  tableBlocks,
  withoutDirection,
} from '#commands/ui/card.ts';
import type { BarChart, MessageRef } from '#src/chat/index.ts';
import { escapePlain } from './mrkdwn.ts';
import { chartBlock, tableBlock } from './native-blocks.ts';
import { channelIn, contextBlock, literal, messageUrl, pingIn, richText } from './rich-text.ts';

/** A message's content: blocks for display, text for notifications and screen readers. */
export interface Body {
  readonly text: string;
  readonly blocks: types.KnownBlock[];
}

/** Context of a card's message, for its links. */
interface RenderContext {
  /** The workspace's URL, such as `https://acme.slack.com/`, for links to messages; `null`: unknown. */
  readonly workspaceUrl: string | null;
  /** A clip in the message's thread, which the message links to. */
  readonly clip?: { readonly name: string; readonly url: string } | null;
  readonly repeats?: (MessageRef & { readonly label: string }) | null;
  /** Renders tables as Slack's own; only for messages. Default: as text. */
  readonly hasTables?: boolean;
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
const BAR_LENGTH = 20;
/** Prefix of a link button's id; its press is acknowledged and ignored. */
const LINK_BUTTON = 'open';

/** Renders a card as a message: its blocks, the progress bar, the clip's link and the buttons. */
export function renderCard(card: Card, context: RenderContext): Body {
  const { workspaceUrl, hasTables = false, chart = null } = context;
  const blocks = [...layout(card, workspaceUrl, hasTables), ...progressAndClip(card, context)];
  const charts = chart === null ? [] : [chartBlock(chart) as unknown as types.KnownBlock];
  const rows = [...charts, ...linkToOriginal(context), ...chunked(card.buttons, BUTTONS_IN_A_ROW).map(renderRow)];
  return { text: fallbackText(card), blocks: [...blocks.slice(0, MOST_BLOCKS - rows.length), ...rows] };
}

/** Renders the blocks of a card without its progress bar and its buttons. */
export function layout(card: Card, workspaceUrl: string | null, hasTables = false): readonly types.KnownBlock[] {
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
    case 'item':
      return [...titleBlocks(block, index, workspaceUrl), ...contextBlock(block.small, workspaceUrl)];
  }
}

/** Renders an item's title: as rich text, or as plain text if it has a button, which rich text cannot hold. */
function titleBlocks({ title, accessory }: ItemBlock, index: number, workspaceUrl: string | null): types.KnownBlock[] {
  const button = accessory === undefined ? null : renderAccessory(accessory, index, workspaceUrl);
  if (button === null) return richText([title], workspaceUrl, true);
  return [{ type: 'section', text: plain(wordsOf(title), SECTION_LENGTH), accessory: button }];
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

function progressAndClip(card: Card, { workspaceUrl, clip = null }: RenderContext): readonly types.KnownBlock[] {
  const lines: Line[] = [];
  if (card.progress !== null) lines.push([progressBar(card.progress)]);
  if (clip !== null) lines.push([{ link: clip.url, label: WATCH_CLIP }]);
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
  const lines = sentence.split('\n').map((line): Line => [{ untrusted: line }]);
  return renderCard({ lines, progress: null, buttons }, { workspaceUrl: null });
}

/** Draws the service's percentage as a bar, such as `█████████░░░░░░░░░░░`. */
function progressBar(progress: number): string {
  const full = Math.min(BAR_LENGTH, Math.max(0, Math.floor((progress / 100) * BAR_LENGTH)));
  return `${'█'.repeat(full)}${'░'.repeat(BAR_LENGTH - full)}`;
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

function renderButton({ id, label, style }: CardButton): types.Button {
  const text = plain(withoutDirection(label), BUTTON_LENGTH);
  const button = { type: 'button', action_id: id, value: id, text } as const;
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
