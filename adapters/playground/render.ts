import {
  type Block,
  buttonsOf,
  type Card,
  type CardButton,
  type Line,
  linesOf,
  type Part,
  withoutDirection,
} from '#commands/ui/card.ts';

/** Card as stored and sent. Has lines besides the blocks, for a replica or page of a version without blocks. */
export interface KeptCard {
  readonly lines: readonly Line[];
  /** Absent in records of versions without blocks. */
  readonly blocks?: readonly Block[];
  readonly progress: number | null;
  readonly buttons: readonly CardButton[];
}

/** Returns a card as stored. */
export function keptCard(card: Card): KeptCard {
  const { blocks, progress, buttons } = card;
  return { lines: linesOf(card), ...(blocks === undefined ? {} : { blocks }), progress, buttons };
}

/** Returns the card of a stored one. */
function cardOf({ lines, blocks, ...more }: KeptCard): Card {
  return blocks === undefined ? { lines, ...more } : { blocks, ...more };
}

/** Returns every button of a card, including those in its rows. */
export function buttonsIn(card: KeptCard): readonly CardButton[] {
  return buttonsOf(cardOf(card));
}

/** Returns a card as plain text, line by line: the field `text` of `GET /playground/messages`. */
export function plainText({ lines }: Pick<KeptCard, 'lines'>): string {
  return withoutDirection(lines.map((line) => line.map(plainPart).join('')).join('\n'));
}

/** Returns a card of plain text, such as a refusal; keeps its line breaks. */
export function sentenceCard(sentence: string, buttons: readonly CardButton[] = []): KeptCard {
  return { lines: sentence.split('\n').map((line) => [line]), progress: null, buttons };
}

/** Returns the ids of the users a card mentions. */
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
  if ('group' in part) return part.group.name;
  if ('message' in part) return part.label;
  if ('channel' in part) return `#${part.channel}`;
  return part.label === part.link ? part.link : `${part.label} (${part.link})`;
}
