import type { MessageRef } from '#src/chat/index.ts';

/** Part of a line. External text is marked, so that each adapter shows it as plain text only. */
export type Part =
  /** The bot's own text, shown as it is. */
  | string
  /** Text of a user or a service: escaped, so that it pings no one and contains no formatting or links. */
  | { readonly untrusted: string }
  /** `atSeconds`: the time in the clip that the text names, where a platform can lead to it. */
  | { readonly strong: string; readonly atSeconds?: number }
  /** Text to copy or type: an id, a command. */
  | { readonly code: string }
  /** Unix time in ms, shown as relative time and in the reader's time zone. */
  | { readonly timeMs: number }
  /** Person by name, without a ping. */
  | { readonly person: { readonly id: string; readonly name: string } }
  /** Person, with a ping. */
  | { readonly mention: { readonly id: string; readonly name: string } }
  /** Role or user group, with a ping where the message may ping it. */
  | { readonly group: { readonly id: string; readonly name: string } }
  /** Trusted URL. */
  | { readonly link: string; readonly label: string }
  /** Link to a message of the bot; only the label on a platform without message links. */
  | { readonly message: MessageRef; readonly label: string }
  /** Channel by its id, shown as the platform names it. */
  | { readonly channel: string };

export type Line = readonly Part[];

export interface CardButton {
  /** At most 100 characters. */
  readonly id: string;
  /** At most 80 characters. */
  readonly label: string;
  readonly style: 'primary' | 'plain' | 'danger';
  /** Read out by screen readers in place of the label, where the platform can; at most 75 characters. Default: the label. */
  readonly spoken?: string;
}

/** Choice of presses, of which each option is one: choosing it is pressing it. */
export interface CardSelect {
  /** Names what is chosen, also for screen readers; at most 75 characters. */
  readonly placeholder: string;
  /** At least one, at most 25. */
  readonly options: readonly CardOption[];
}

export interface CardOption {
  /** As that of a button. */
  readonly id: string;
  /** At most 75 characters. External text. */
  readonly label: string;
}

/** Control at the end of an item: a button, or a link to a message. */
export type Accessory = CardButton | { readonly message: MessageRef; readonly label: string };

/** Picture of what an item or a card is about, shown to those alone who may read its words; left out where a platform cannot reach it. */
export interface Picture {
  /** As in `ClipLinks`: of a clip, a strip of its frames, or an image. */
  readonly id: string;
  /** Signed and expiring; `null` where there is no public address. */
  readonly url: string | null;
  /** What it shows, for those who do not see it. External text. */
  readonly alt: string;
}

/** Title with its facts in small print, such as a prompt with its settings, or a row of a list. */
export interface ItemBlock {
  readonly kind: 'item';
  /** Shown in bold. */
  readonly title: Line;
  /** Small print below it; empty for none. */
  readonly small: Line;
  readonly accessory?: Accessory;
  readonly picture?: Picture;
}

/** Rows of cells, one for each column; a table where the platform has tables. */
export interface TableBlock {
  readonly kind: 'table';
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Line[])[];
}

/** Element of a card's layout, rendered by each adapter for its platform. */
export type Block =
  | { readonly kind: 'text' | 'small' | 'heading'; readonly line: Line }
  | ItemBlock
  | TableBlock
  /** As wide as the message. */
  | { readonly kind: 'picture'; readonly picture: Picture }
  | { readonly kind: 'divider' };

/** Content of a message without any platform's markup. The position of the first line never changes. */
export type Card = Contents & {
  /** Progress bar from 0 to 100; `null` for none. */
  readonly progress: number | null;
  /** Buttons at the end of the message; items have their own. */
  readonly buttons: readonly CardButton[];
  /** Selects above the buttons. Default: none. */
  readonly selects?: readonly CardSelect[];
};

/** Layout, or plain lines if there is nothing to lay out. */
type Contents =
  | { readonly blocks: readonly Block[]; readonly lines?: undefined }
  | { readonly lines: readonly Line[]; readonly blocks?: undefined };

type More = Partial<Pick<Card, 'progress' | 'buttons' | 'selects'>>;

/** Builds a card of lines with nothing to lay out. Leaves out what is absent. */
export function textCard(...lines: readonly Optional<Line>[]): Card {
  return { lines: present(lines), progress: null, buttons: [] };
}

/** Builds a card of a sentence that may contain untrusted text, in lines of its own. */
export function sentenceCard(sentence: string, buttons: readonly CardButton[] = []): Card {
  return { lines: sentence.split('\n').map((line) => [{ untrusted: line }]), progress: null, buttons };
}

const BAR_LENGTH = 20;

/** Draws the service's percentage as a bar, such as `█████████░░░░░░░░░░░`. */
export function progressBar(progress: number): string {
  const full = Math.min(BAR_LENGTH, Math.max(0, Math.floor((progress / 100) * BAR_LENGTH)));
  return `${'█'.repeat(full)}${'░'.repeat(BAR_LENGTH - full)}`;
}

/** Builds a card of blocks and of lines, which are text. Leaves out what is absent. */
export function layOut(contents: readonly Optional<Block | Line>[], more: More = {}): Card {
  const blocks = present(contents).map(blockOf);
  return { blocks, progress: null, buttons: [], ...more };
}

export function heading(...line: Line): Block {
  return { kind: 'heading', line };
}

/** Builds a line in small print. */
export function small(...line: Line): Block {
  return { kind: 'small', line };
}

export function item(title: Line, small: Line, accessory?: Accessory, picture: Picture | null = null): ItemBlock {
  return { kind: 'item', title, small, ...(accessory && { accessory }), ...(picture && { picture }) };
}

/** Column of a table, with the cell that it has for a row. */
type Column<Row> = readonly [name: string, cell: (row: Row) => Line | string];

/** Columns of a table; those that are absent are left out. */
export type Columns<Row> = readonly Optional<Column<Row>>[];

export function table<Row>(columns: Columns<Row>, rows: readonly Row[]): TableBlock {
  const shown = present(columns);
  return {
    kind: 'table',
    columns: shown.map(([name]) => name),
    rows: rows.map((row) => shown.map(([, cell]) => lineOf(cell(row)))),
  };
}

/** Adds lines and blocks at the end of a card. */
export function withText(card: Card, ...more: readonly (Block | Line)[]): Card {
  const { lines: _, blocks: __, ...rest } = card;
  return { ...rest, blocks: [...blocksOf(card), ...more.map(blockOf)] };
}

/** Returns the layout of a card; each plain line becomes a text block. */
export function blocksOf(card: Contents): readonly Block[] {
  return card.blocks ?? card.lines.map(blockOf);
}

export function linesOf(card: Contents): readonly Line[] {
  return card.lines ?? card.blocks.flatMap(blockLines);
}

/** Returns a card with its pictures changed; without those that become `null`. */
export function withPictures<Other>(card: Card, change: (picture: Picture) => Other | null) {
  const { lines: _, blocks: __, ...others } = card;
  const blocks = blocksOf(card).map((block) => {
    if (!('picture' in block) || block.picture === undefined) return block;
    const { picture, ...rest } = block;
    const changed = change(picture);
    if (changed !== null) return { ...rest, picture: changed };
    return rest.kind === 'item' ? rest : null;
  });
  return { ...others, blocks: present(blocks) };
}

/** Returns all presses that a card offers. */
export function pressesOn(card: Card): readonly CardOption[] {
  return [...buttonsOf(card), ...(card.selects ?? []).flatMap(({ options }) => options)];
}

/** Returns all buttons of a card, those of its items first. */
export function buttonsOf(card: Card): readonly CardButton[] {
  const ofItems = blocksOf(card).flatMap((block) =>
    block.kind === 'item' && block.accessory !== undefined && 'id' in block.accessory ? [block.accessory] : [],
  );
  return [...ofItems, ...card.buttons];
}

/** Largest number of columns shown in one line on a platform without tables; more are shown in small print. */
const MAX_COLUMNS_PER_LINE = 4;

/** Converts a table to blocks for a platform without tables: one line per row, or one item for many columns. */
export function tableBlocks({ columns, rows }: TableBlock): readonly Block[] {
  return rows.map((cells): Block => {
    const [first = [], ...rest] = cells;
    if (columns.length > MAX_COLUMNS_PER_LINE) return item(first, facts(...rest));
    return blockOf(['• ', ...facts(...cells)]);
  });
}

function blockOf(content: Block | Line): Block {
  return 'kind' in content ? content : { kind: 'text', line: content };
}

function blockLines(block: Block): readonly Line[] {
  switch (block.kind) {
    case 'text':
    case 'small':
    case 'heading':
      return [block.line];
    case 'item':
      return [facts(block.title, block.small)];
    case 'table':
      return tableBlocks(block).flatMap(blockLines);
    case 'picture':
    case 'divider':
      return [];
  }
}

/** Embeddings, overrides and isolates, which also change the order of the surrounding text. */
const CONTROLS = /[\u202A-\u202E\u2066-\u2069]/gu;
/** Hebrew, Arabic and the other right-to-left scripts, and the marks that act like them. */
const RIGHT_TO_LEFT = /[\u0590-\u08FF\u200F\uFB1D-\uFDFF\uFE70-\uFEFF\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
const FIRST_STRONG_ISOLATE = '\u2068';
const POP_ISOLATE = '\u2069';

/**
 * Sanitises external text so that it cannot reorder the surrounding text: removes directional controls and isolates
 * text that contains a right-to-left script. Leaves any other text unchanged, so that it copies clean.
 * @see https://www.unicode.org/reports/tr9/#Explicit_Directional_Isolates
 */
export function isolated(text: string): string {
  const plain = withoutDirection(text);
  return RIGHT_TO_LEFT.test(plain) ? `${FIRST_STRONG_ISOLATE}${plain}${POP_ISOLATE}` : plain;
}

/** Returns a text without directional controls. */
export function withoutDirection(text: string): string {
  return text.replace(CONTROLS, '');
}

/** What is shown where it exists, as `message && [{ message, label: 'See it' }]` writes it. */
export type Optional<Shown> = Shown | null | undefined | false;

/** Leaves out what is absent or an empty text. */
export function present<Shown extends object | string>(some: readonly Optional<Shown>[]): readonly Shown[] {
  const shown: Shown[] = [];
  for (const one of some) if (one !== null && one !== undefined && one !== false && one !== '') shown.push(one);
  return shown;
}

/** Builds a line of parts, and of lines that continue it. Leaves out what is absent or empty. */
export function lineOf(...some: readonly Optional<Part | Line>[]): Line {
  return present(present<Part | Line>(some).flat());
}

/** Joins facts by ` · `; leaves out those that are absent or empty. */
export function facts(...some: readonly Optional<Line | string>[]): Line {
  const line: Part[] = [];
  for (const one of some) {
    const fact = lineOf(one);
    line.push(...(line.length > 0 && fact.length > 0 ? [' · '] : []), ...fact);
  }
  return line;
}

/** Joins lines by a separator, and the last one by another. Default: the same. */
export function joinLines(lines: readonly Line[], separator = ', ', last = separator): Line {
  return lines.flatMap((line, index) => {
    if (index === 0) return line;
    return [index === lines.length - 1 ? last : separator, ...line];
  });
}

/** Begins a line with the name of what it shows. */
export function labelled(label: string, ...value: Line): Line {
  return [{ strong: label }, ': ', ...value];
}

/** Continues a sentence with a link to a message, where there is one. */
export function seeItHere(message: MessageRef | undefined): Line {
  return message === undefined ? [] : [' ', { message, label: 'See it here' }, '.'];
}
