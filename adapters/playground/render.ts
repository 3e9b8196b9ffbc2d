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
