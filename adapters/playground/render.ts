import { type Block, buttonsOf, type Card, type CardButton, type Line, linesOf } from '#commands/ui/card.ts';

/** Card as stored and sent. Has lines besides the blocks, for a replica or page of a version without blocks. */
export interface KeptCard {
  readonly lines: readonly Line[];
  /** Absent in records of versions without blocks. */
  readonly blocks?: readonly Block[];
  readonly progress: number | null;
  readonly buttons: readonly CardButton[];
}

export function keptCard(card: Card): KeptCard {
  const { blocks, progress, buttons } = card;
  return { lines: linesOf(card), ...(blocks === undefined ? {} : { blocks }), progress, buttons };
}

function cardOf({ lines, blocks, ...more }: KeptCard): Card {
  return blocks === undefined ? { lines, ...more } : { blocks, ...more };
}

/** Returns every button of a card, including those in its rows. */
export function buttonsIn(card: KeptCard): readonly CardButton[] {
  return buttonsOf(cardOf(card));
}

/** Returns a card of plain text, such as a refusal; keeps its line breaks. */
export function sentenceCard(sentence: string, buttons: readonly CardButton[] = []): KeptCard {
  return { lines: sentence.split('\n').map((line) => [line]), progress: null, buttons };
}

/** Returns the ids of the users a card mentions. */
export function mentionsOf({ lines }: Pick<KeptCard, 'lines'>): readonly string[] {
  return lines.flat().flatMap((part) => (typeof part === 'object' && 'mention' in part ? [part.mention.id] : []));
}
