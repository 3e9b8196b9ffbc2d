import type { Card, Part } from '#commands/card.ts';

/** A card as plain text, one line per line: what `GET /playground/messages` calls `text`. */
export function plainText(card: Card): string {
  return card.lines.map((line) => line.map(plainPart).join('')).join('\n');
}

/** A card that says a sentence such as a refusal; each of its lines is a line. */
export function sentenceCard(sentence: string): Card {
  return { lines: sentence.split('\n').map((line) => [line]), progress: null, buttons: [] };
}

/** Whom a card pings, by id. */
export function mentionsOf(card: Card): readonly string[] {
  return card.lines.flat().flatMap((part) => (typeof part === 'object' && 'mention' in part ? [part.mention.id] : []));
}

function plainPart(part: Part): string {
  if (typeof part === 'string') return part;
  if ('untrusted' in part) return part.untrusted;
  if ('strong' in part) return part.strong;
  if ('code' in part) return part.code;
  if ('timeMs' in part) return new Date(part.timeMs).toISOString();
  if ('person' in part) return part.person.name;
  if ('mention' in part) return `@${part.mention.name}`;
  if ('message' in part) return part.label;
  if ('channel' in part) return `#${part.channel}`;
  return part.label === part.link ? part.link : `${part.label} (${part.link})`;
}
