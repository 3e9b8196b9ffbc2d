import { withoutDirection } from '#commands/ui/bidi.ts';
import { type Block, buttonsOf, type Card, type CardButton, type Line, linesOf, type Part } from '#commands/ui/card.ts';

/** A card as it is kept and sent: its lines as well as its layout, for a replica or a page that knows lines alone. */
export interface KeptCard {
  readonly lines: readonly Line[];
  /** Absent in records from before there were layouts. */
  readonly blocks?: readonly Block[];
  readonly progress: number | null;
  readonly buttons: readonly CardButton[];
}

/** Returns a card as it is kept. */
export function keptCard(card: Card): KeptCard {
  const { blocks, progress, buttons } = card;
  return { lines: linesOf(card), ...(blocks === undefined ? {} : { blocks }), progress, buttons };
}

/** Returns a kept card as the bot made it. */
function cardOf({ lines, blocks, ...more }: KeptCard): Card {
  return blocks === undefined ? { lines, ...more } : { blocks, ...more };
}

/** Returns every button that stands in a message, those of its rows included. */
export function buttonsIn(card: KeptCard): readonly CardButton[] {
  return buttonsOf(cardOf(card));
}

/** A card as plain text, one line per line: what `GET /playground/messages` calls `text`. */
export function plainText({ lines }: Pick<KeptCard, 'lines'>): string {
  return withoutDirection(lines.map((line) => line.map(plainPart).join('')).join('\n'));
}

/** A card that says a sentence such as a refusal; each of its lines is a line. */
export function sentenceCard(sentence: string, buttons: readonly CardButton[] = []): KeptCard {
  return { lines: sentence.split('\n').map((line) => [line]), progress: null, buttons };
}

/** Whom a card pings, by id. */
export function mentionsOf({ lines }: Pick<KeptCard, 'lines'>): readonly string[] {
  return lines.flat().flatMap((part) => (typeof part === 'object' && 'mention' in part ? [part.mention.id] : []));
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
