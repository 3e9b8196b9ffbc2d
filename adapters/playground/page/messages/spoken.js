import { relativeTime } from '../time.js';

/**
 * Returns the text of a card for screen readers, without markup and with relative times such as `2 minutes ago`.
 * @param {{ lines: readonly (readonly any[])[] }} card
 */
export function spoken({ lines }) {
  return lines.map((line) => line.map(word).join('')).join('. ');
}

function word(part) {
  if (typeof part === 'string') return part;
  if ('person' in part) return part.person.name;
  if ('group' in part) return part.group.name;
  if ('mention' in part) return part.mention.name;
  if ('timeMs' in part) return relativeTime(part.timeMs);
  if ('channel' in part) return `#${part.channel}`;
  return part.untrusted ?? part.strong ?? part.code ?? part.label;
}
