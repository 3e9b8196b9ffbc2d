import type { types } from '@slack/bolt';
import { beginning } from '#commands/sentences/format.ts';
import type { Line, Part } from '#commands/ui/card.ts';
import { isolated } from '#commands/ui/card.ts';
import type { MessageRef } from '#src/chat/index.ts';
import { escapePlain } from './mrkdwn.ts';

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
export function richText(lines: readonly Line[], workspaceUrl: string | null, isBold = false): types.RichTextBlock[] {
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
export function literal(part: Part): string {
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
export function messageUrl(workspaceUrl: string, { channel, message }: MessageRef): string {
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
export function contextBlock(line: Line, workspaceUrl: string | null): types.ContextBlock[] {
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
export function pingIn(part: Part): string | null {
  if (typeof part !== 'object') return null;
  if ('mention' in part) return `<@${part.mention.id}>`;
  return 'group' in part ? `<!subteam^${part.group.id}>` : null;
}

/** Returns the mrkdwn of a channel, which Slack shows by its name; `null` for any other part. */
export function channelIn(part: Part): string | null {
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
