import type { types } from '@slack/bolt';
import type { Card, CardButton, Line, Part } from '#commands/card.ts';
import { beginning, shorten } from '#commands/sentences/format.ts';
import { ANOTHER_TAKE } from '#commands/sentences/order-form.ts';
import type { MessageRef } from '#src/chat/platform.ts';
import { codeText, escapePlain, escapeText } from './mrkdwn.ts';

/** What a message shows, as Slack takes it: blocks for the eye, text for notifications and screen readers. */
export interface Body {
  readonly text: string;
  readonly blocks: types.KnownBlock[];
}

/** What a card is shown with besides its words. */
export interface Surroundings {
  /** The address of the workspace, such as `https://acme.slack.com/`, for links to messages; `null`: not known. */
  readonly workspaceUrl: string | null;
  /** A clip in the message's thread, to be linked. */
  readonly clip?: { readonly name: string; readonly url: string } | null;
  /** The message this one repeats. */
  readonly repeats?: MessageRef | null;
}

/** @see https://docs.slack.dev/reference/block-kit/blocks/section-block */
const SECTION_LENGTH = 3000;
/** @see https://docs.slack.dev/reference/methods/chat.postMessage#truncating-content */
const FALLBACK_LENGTH = 3000;
/** @see https://docs.slack.dev/reference/block-kit/blocks (100 in views) */
const MOST_BLOCKS = 50;
/** Wider rows break on narrow screens. */
const BUTTONS_IN_A_ROW = 5;
/** @see https://docs.slack.dev/reference/block-kit/block-elements/button-element */
const BUTTON_LENGTH = 75;
const BAR_LENGTH = 20;

/** A card as a message: its lines in as few sections as hold them, the bar, the clip's link and the buttons. */
export function renderCard(card: Card, around: Surroundings): Body {
  const [first = [], ...rest] = card.lines;
  const lines = rest.map((line) => lineText(line, around.workspaceUrl));
  if (card.progress !== null) lines.push(progressBar(card.progress));
  if (around.clip !== undefined && around.clip !== null) lines.push(linkText(around.clip.url, around.clip.name));
  // The first line stands by itself, so that it never moves.
  const texts = [...packed([lineText(first, around.workspaceUrl)]), ...packed(lines)];
  const rows = [...repetition(around), ...chunked(card.buttons, BUTTONS_IN_A_ROW).map(renderRow)];
  const sections = texts.filter((text) => text !== '').map(renderSection);
  return { text: fallbackText(card), blocks: [...sections.slice(0, MOST_BLOCKS - rows.length), ...rows] };
}

/** Threads have no threads on Slack: what a reply would say elsewhere is said by a link. */
function repetition({ workspaceUrl, repeats = null }: Surroundings): readonly types.ContextBlock[] {
  if (workspaceUrl === null || repeats === null) return [];
  const text = linkText(messageUrl(workspaceUrl, repeats), ANOTHER_TAKE);
  return [{ type: 'context', elements: [{ type: 'mrkdwn', text, verbatim: true }] }];
}

/** A sentence with words from outside in it, escaped whole. */
export function renderSentence(sentence: string): Body {
  const lines = sentence.split('\n').map((line): Line => [{ untrusted: line }]);
  return renderCard({ lines, progress: null, buttons: [] }, { workspaceUrl: null });
}

/** The service's own percentage as blocks, such as `█████████░░░░░░░░░░░`. */
function progressBar(progress: number): string {
  const full = Math.min(BAR_LENGTH, Math.max(0, Math.floor((progress / 100) * BAR_LENGTH)));
  return `${'█'.repeat(full)}${'░'.repeat(BAR_LENGTH - full)}`;
}

/** Words as a text that Slack neither formats nor reads, at most `length` characters. */
export function plain(text: string, length: number): types.PlainTextElement {
  return { type: 'plain_text', text: shorten(text, length), emoji: false };
}

/** A section of mrkdwn in which bare addresses and names stay what they are. */
export function renderSection(text: string): types.SectionBlock {
  return { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
}

/** A line in Slack's markup. */
function lineText(line: Line, workspaceUrl: string | null): string {
  return line.map((part) => partText(part, workspaceUrl)).join('');
}

function partText(part: Part, workspaceUrl: string | null): string {
  if (typeof part === 'string') return escapePlain(part);
  if ('untrusted' in part) return escapeText(part.untrusted);
  if ('strong' in part) return `*${escapeText(part.strong)}*`;
  if ('code' in part) return codeText(part.code);
  if ('timeMs' in part) return timeText(part.timeMs);
  if ('person' in part) return escapeText(part.person.name);
  if ('mention' in part) return `<@${part.mention.id}>`;
  if ('channel' in part) return /^[CGD]\w+$/.test(part.channel) ? `<#${part.channel}>` : escapeText(`#${part.channel}`);
  if ('message' in part) {
    if (workspaceUrl === null) return escapeText(part.label);
    return linkText(messageUrl(workspaceUrl, part.message), part.label);
  }
  return linkText(part.link, part.label);
}

/** Where a message is opened. @see https://docs.slack.dev/reference/methods/chat.getPermalink */
function messageUrl(workspaceUrl: string, { channel, message }: MessageRef): string {
  return `${workspaceUrl.replace(/\/+$/, '')}/archives/${channel}/p${message.replace('.', '')}`;
}

/** In the reader's own zone. @see https://docs.slack.dev/messaging/formatting-message-text#date-formatting */
function timeText(timeMs: number): string {
  const fallback = `${new Date(timeMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `<!date^${Math.floor(timeMs / 1000)}^{date_short_pretty} at {time}|${fallback}>`;
}

function linkText(url: string, label: string): string {
  return `<${escapePlain(url).replaceAll('|', '%7C')}|${escapeText(label)}>`;
}

/** The same in words alone: no markup, no ping but the one that is meant. */
function fallbackText({ lines }: Card): string {
  const text = lines
    .map((line) => line.map(plainPart).join(''))
    .join('\n')
    .trim();
  return cut(text === '' ? '…' : text, FALLBACK_LENGTH);
}

function plainPart(part: Part): string {
  if (typeof part === 'string') return escapePlain(part);
  if ('mention' in part) return `<@${part.mention.id}>`;
  if ('timeMs' in part) return timeText(part.timeMs);
  if ('person' in part) return escapeText(part.person.name);
  if ('channel' in part) return /^[CGD]\w+$/.test(part.channel) ? `<#${part.channel}>` : escapeText(`#${part.channel}`);
  if ('untrusted' in part) return escapeText(part.untrusted);
  if ('strong' in part) return escapeText(part.strong);
  if ('code' in part) return escapeText(part.code);
  return escapeText(part.label);
}

function renderRow(buttons: readonly CardButton[]): types.ActionsBlock {
  return { type: 'actions', elements: buttons.map(renderButton) };
}

function renderButton({ id, label, style }: CardButton): types.Button {
  const button = { type: 'button', action_id: id, value: id, text: plain(label, BUTTON_LENGTH) } as const;
  return style === 'plain' ? button : { ...button, style };
}

/** Lines together, as many as one section holds. */
function packed(lines: readonly string[]): readonly string[] {
  const texts: string[] = [];
  for (const line of lines) {
    const last = texts.at(-1);
    const joined = last === undefined ? undefined : `${last}\n${line}`;
    if (joined !== undefined && joined.length <= SECTION_LENGTH) texts[texts.length - 1] = joined;
    else texts.push(...split(line));
  }
  return texts;
}

/** A line too long for a section continues in the next one, never within an entity or a mark. */
function split(line: string): readonly string[] {
  if (line.length <= SECTION_LENGTH) return [line];
  const end = safeEnd(line, SECTION_LENGTH);
  return [line.slice(0, end), ...split(line.slice(end))];
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, safeEnd(text, length - 1))}…`;
}

/** The last place before `length` that is in no character, no `<mark>` and no `&entity;`. */
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
