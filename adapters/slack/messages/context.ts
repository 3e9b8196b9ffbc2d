import type { types } from '@slack/bolt';
import { beginning } from '#commands/sentences/format.ts';
import type { Line, Part } from '#commands/ui/card.ts';
import { escapePlain } from './mrkdwn.ts';
import { DATE_FORMAT, dateFallback, literal, urlOf } from './rich-text.ts';

/** @see https://docs.slack.dev/reference/block-kit/blocks/context-block */
const MOST_ELEMENTS = 10;
const ELEMENT_LENGTH = 2000;

/**
 * Builds small print: plain text, in which nothing that people wrote is read as markup, and mrkdwn elements for links
 * and dates alone.
 * @returns no block for an empty line.
 */
export function contextBlock(line: Line, workspaceUrl: string | null): types.ContextBlock[] {
  const elements: types.ContextBlock['elements'] = [];
  let words = '';
  const flush = (): void => {
    // Slack leaves a gap between elements: a separator at the edge would stand alone.
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

/** What only markup can show: links, and moments in the reader's zone. */
function markupOf(part: Part, workspaceUrl: string | null): string | null {
  const url = urlOf(part, workspaceUrl);
  if (url !== null) return `<${escapePlain(url).replaceAll('|', '%7C')}|${escapePlain(literal(part))}>`;
  if (typeof part !== 'object') return null;
  if ('timeMs' in part) return `<!date^${Math.floor(part.timeMs / 1000)}^${DATE_FORMAT}|${dateFallback(part.timeMs)}>`;
  if ('mention' in part) return `<@${part.mention.id}>`;
  return 'channel' in part && /^[CGD]\w+$/.test(part.channel) ? `<#${part.channel}>` : null;
}
