import type { MessageRef } from '#src/chat/platform.ts';

/** A piece of a line. What came from outside is marked, so that each adapter shows it as text and nothing else. */
export type Part =
  /** Ours: shown as it is. */
  | string
  /** From a person or a service: escaped, pings nobody, formats nothing, opens no link. */
  | { readonly untrusted: string }
  | { readonly strong: string }
  /** To be copied or typed: an id, a command. */
  | { readonly code: string }
  /** A moment, shown relative and in the reader's zone. */
  | { readonly timeMs: number }
  /** A person by name, without a ping. */
  | { readonly person: { readonly id: string; readonly name: string } }
  /** A person, with a ping. */
  | { readonly mention: { readonly id: string; readonly name: string } }
  /** An address of ours, to open. */
  | { readonly link: string; readonly label: string }
  /** A message of ours, to jump to; where the platform has no way to, the label alone. */
  | { readonly message: MessageRef; readonly label: string }
  /** A channel by its id, shown as the platform names it. */
  | { readonly channel: string };

export type Line = readonly Part[];

/** A button as shown. */
export interface CardButton {
  /** At most 100 characters. */
  readonly id: string;
  /** At most 80 characters. */
  readonly label: string;
  readonly style: 'primary' | 'plain' | 'danger';
}

/** A control at the end of an item: a button to press, or a jump to a message. */
export type Accessory = CardButton | { readonly message: MessageRef; readonly label: string };

/** A title with its facts in small print, such as a prompt with its settings, or a row of a list. */
export interface ItemBlock {
  readonly kind: 'item';
  /** Shown in bold. */
  readonly title: Line;
  /** Small print below it; empty for none. */
  readonly small: Line;
  readonly accessory?: Accessory;
}

/** Rows of cells, one for each column; a table where the platform has tables. */
export interface TableBlock {
  readonly kind: 'table';
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Line[])[];
}

/** A piece of a card's layout, rendered by each adapter in its platform's own form. */
export type Block =
  | { readonly kind: 'text' | 'small' | 'heading'; readonly line: Line }
  | ItemBlock
  | TableBlock
  | { readonly kind: 'divider' };

/** What a message says, in words but in no platform's markup. The first line never moves. */
export type Card = Contents & {
  /** A bar from 0 to 100; `null` for none. */
  readonly progress: number | null;
  /** Buttons below everything; those of items stand in the items. */
  readonly buttons: readonly CardButton[];
};

/** A layout, or plain lines where there is nothing to lay out. */
type Contents =
  | { readonly blocks: readonly Block[]; readonly lines?: undefined }
  | { readonly lines: readonly Line[]; readonly blocks?: undefined };

/** Builds a card of blocks; without a bar and without buttons unless given. */
export function layOut(blocks: readonly Block[], more: Partial<Pick<Card, 'progress' | 'buttons'>> = {}): Card {
  return { blocks, progress: null, buttons: [], ...more };
}

/** Returns the card with some lines of text below the others. */
export function withText(card: Card, ...lines: readonly Line[]): Card {
  const { progress, buttons } = card;
  return { blocks: [...blocksOf(card), ...lines.map(textBlock)], progress, buttons };
}

/** Returns the layout of a card; each of its plain lines is a block of text. */
export function blocksOf(card: Contents): readonly Block[] {
  return card.blocks ?? card.lines.map(textBlock);
}

/** Returns what a card says line by line, for texts without a layout. */
export function linesOf(card: Contents): readonly Line[] {
  return card.lines ?? card.blocks.flatMap(blockLines);
}

/** Returns every button of a card, those of its items first. */
export function buttonsOf(card: Card): readonly CardButton[] {
  const ofItems = blocksOf(card).flatMap((block) =>
    block.kind === 'item' && block.accessory !== undefined && 'id' in block.accessory ? [block.accessory] : [],
  );
  return [...ofItems, ...card.buttons];
}

/** A table with more columns than this has its cells in small print where a platform has no tables. */
const MOST_IN_A_LINE = 4;

/** Returns a table as blocks for a platform without tables: a line for each row, or an item where there is much in it. */
export function tableBlocks({ columns, rows }: TableBlock): readonly Block[] {
  return rows.map((cells): Block => {
    const [first = [], ...rest] = cells;
    if (columns.length > MOST_IN_A_LINE) return { kind: 'item', title: first, small: separated(rest) };
    return { kind: 'text', line: ['• ', ...separated(cells)] };
  });
}

function textBlock(line: Line): Block {
  return { kind: 'text', line };
}

function blockLines(block: Block): readonly Line[] {
  switch (block.kind) {
    case 'text':
    case 'small':
    case 'heading':
      return [block.line];
    case 'item':
      return [separated([block.title, block.small])];
    case 'table':
      return tableBlocks(block).flatMap(blockLines);
    case 'divider':
      return [];
  }
}

/** Joins what is there of some lines by ` · `. */
function separated(lines: readonly Line[]): Line {
  return lines.filter((line) => line.length > 0).flatMap((line, index) => (index === 0 ? line : [' · ', ...line]));
}
