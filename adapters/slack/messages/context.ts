import type { types } from '@slack/bolt';
import { beginning } from '#commands/sentences/format.ts';
import type { Line, Part } from '#commands/ui/card.ts';
import { escapePlain } from './mrkdwn.ts';
import { DATE_FORMAT, dateFallback, literal, urlOf } from './rich-text.ts';

/** @see https://docs.slack.dev/reference/block-kit/blocks/context-block */
const MOST_ELEMENTS = 10;
const ELEMENT_LENGTH = 2000;

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

/** Returns the mrkdwn of a part that needs it, such as a link or a date in the reader's time zone; otherwise `null`. */
function markupOf(part: Part, workspaceUrl: string | null): string | null {
  const url = urlOf(part, workspaceUrl);
  if (url !== null) return `<${escapePlain(url).replaceAll('|', '%7C')}|${escapePlain(literal(part))}>`;
  if (typeof part !== 'object') return null;
  if ('timeMs' in part) return `<!date^${Math.floor(part.timeMs / 1000)}^${DATE_FORMAT}|${dateFallback(part.timeMs)}>`;
  if ('mention' in part) return `<@${part.mention.id}>`;
  return 'channel' in part && /^[CGD]\w+$/.test(part.channel) ? `<#${part.channel}>` : null;
}
