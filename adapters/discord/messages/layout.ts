import { type APIButtonComponent, type APIComponentInContainer, ButtonStyle, ComponentType } from 'discord.js';
import { beginning } from '#commands/sentences/format.ts';
import { isolated, withoutDirection } from '#commands/ui/bidi.ts';
import {
  type Block,
  blocksOf,
  type Card,
  type CardButton,
  type ItemBlock,
  type Line,
  type Part,
  tableBlocks,
} from '#commands/ui/card.ts';

/**
 * Maximum characters of a message, over all text displays.
 * @see https://discord.com/developers/docs/components/reference
 */
export const TEXT_LENGTH = 4000;
/**
 * Maximum components of a message, nested ones included.
 * @see https://discord.com/developers/docs/components/reference
 */
const MAX_COMPONENTS = 40;
/** Components reserved for the container, the clip, and a full row of buttons. */
const OTHER_COMPONENTS = 8;
/** Components of a section: itself, its text and its button. */
const SECTION_COMPONENTS = 3;
/** @see https://discord.com/developers/docs/components/reference#button-button-structure */
const LABEL_LENGTH = 80;
const BAR_LENGTH = 20;

/** Piece of a message: text, optionally with a button beside it, or a separator. */
type Piece =
  | { readonly text: string; readonly button: APIButtonComponent | null }
  | { readonly text: null; readonly button: null };

/** Lays out a card's text as components, in as many messages as it needs. */
export function layOutWords(card: Card, guild: string | null): readonly (readonly APIComponentInContainer[])[] {
  const pages: Page[] = [new Page()];
  let rest = [...piecesOf(card, guild)];
  while (rest.length > 0) {
    const [piece, ...others] = rest;
    if (piece === undefined) break;
    const left = pages.at(-1)?.take(piece) ?? null;
    if (left === null) rest = others;
    else {
      rest = [left, ...others];
      pages.push(new Page());
    }
  }
  return pages.map(({ components }) => components);
}

/** Components of one message, up to Discord's limits. */
class Page {
  readonly components: APIComponentInContainer[] = [];
  // Reserves one for the ellipsis of a cut text.
  #characters = TEXT_LENGTH - 1;
  #slots = MAX_COMPONENTS - OTHER_COMPONENTS;

  /** Adds a piece. @returns the remainder for the next page; `null` if all of it fits. */
  take(piece: Piece): Piece | null {
    if (piece.text === null) return this.#add(1, 0, { type: ComponentType.Separator }) ? null : piece;
    const { text, button } = piece;
    if (button !== null) return this.#section(text, button) ? null : this.#tooLong(piece);
    const last = this.components.at(-1);
    const joint = last?.type === ComponentType.TextDisplay ? `${last.content}\n` : '';
    if (joint === '' && this.#slots === 0) return piece;
    const space = this.#characters - (joint === '' ? 0 : 1);
    if (text.length > space) return this.#head(piece, joint, space);
    this.#put(joint, text);
    return null;
  }

  #section(text: string, accessory: APIButtonComponent): boolean {
    const content = [{ type: ComponentType.TextDisplay as const, content: text }];
    return this.#add(SECTION_COMPONENTS, text.length, { type: ComponentType.Section, components: content, accessory });
  }

  #add(slots: number, characters: number, component: APIComponentInContainer): boolean {
    if (slots > this.#slots || characters > this.#characters) return false;
    this.#slots -= slots;
    this.#characters -= characters;
    this.components.push(component);
    return true;
  }

  #put(joint: string, text: string): void {
    if (joint !== '') {
      this.#characters -= text.length + 1;
      this.components[this.components.length - 1] = { type: ComponentType.TextDisplay, content: `${joint}${text}` };
    } else this.#add(1, text.length, { type: ComponentType.TextDisplay, content: text });
  }

  /** Fills the remaining space with the beginning of a long text. */
  #head(piece: Piece & { readonly text: string }, joint: string, space: number): Piece {
    // A text that fits on a page of its own is not split.
    if (this.components.length > 0 && piece.text.length < TEXT_LENGTH) return piece;
    const head = cutCleanly(beginning(piece.text, space));
    if (head === '') return piece;
    this.#put(joint, head);
    return { ...piece, text: piece.text.slice(head.length) };
  }

  /** Drops the button of a section whose text exceeds a whole message. */
  #tooLong(piece: Piece & { readonly text: string }): Piece {
    return this.components.length === 0 ? { ...piece, button: null } : piece;
  }
}

/** Cuts a text at a word boundary if one is near, and never between a backslash and the character it escapes. */
function cutCleanly(text: string): string {
  const wordEnd = text.lastIndexOf(' ') + 1;
  if (wordEnd > text.length * 0.8) return text.slice(0, wordEnd);
  const [tail = ''] = /\\*$/u.exec(text) ?? [];
  return tail.length % 2 === 0 ? text : text.slice(0, -1);
}

function* piecesOf(card: Card, guild: string | null): Generator<Piece> {
  for (const block of blocksOf(card).flatMap((one) => (one.kind === 'table' ? tableBlocks(one) : [one]))) {
    const piece = pieceOf(block, guild);
    if (piece.text !== '') yield piece;
  }
  if (card.progress !== null) yield { text: progressBar(card.progress), button: null };
}

function pieceOf(block: Block, guild: string | null): Piece {
  switch (block.kind) {
    case 'text':
      return { text: lineText(block.line, guild), button: null };
    case 'small':
      return { text: smallText(block.line, guild), button: null };
    case 'heading':
      return { text: `### ${lineText(block.line.map(unstyled), guild)}`, button: null };
    case 'item':
      return itemPiece(block, guild);
    case 'divider':
    case 'table':
      return { text: null, button: null };
  }
}

function itemPiece({ title, small, accessory }: ItemBlock, guild: string | null): Piece {
  const bold = lineText(title.map(unstyled), guild);
  const text = [bold === '' ? '' : `**${bold}**`, smallText(small, guild)].filter((part) => part !== '').join('\n');
  if (accessory === undefined) return { text, button: null };
  return { text, button: 'id' in accessory ? renderButton(accessory) : linkButton(accessory, guild) };
}

/** Removes bold, which would end the surrounding bold or heading. */
function unstyled(part: Part): Part {
  return typeof part === 'object' && 'strong' in part ? { untrusted: part.strong } : part;
}

/** Formats a line as subtext. @see https://discord.com/developers/docs/reference#message-formatting */
function smallText(line: Line, guild: string | null): string {
  const text = lineText(line, guild).replace(/\s*\n\s*/gu, ' ');
  return text === '' ? '' : `-# ${text}`;
}

function lineText(line: Line, guild: string | null): string {
  return line
    .map((part) => partText(part, guild))
    .join('')
    .toWellFormed();
}

function partText(part: Part, guild: string | null): string {
  if (typeof part === 'string') return part;
  if ('untrusted' in part) return escapeText(part.untrusted);
  if ('strong' in part) return `**${escapeText(part.strong)}**`;
  if ('code' in part) return codeText(part.code);
  if ('timeMs' in part) return `<t:${Math.floor(part.timeMs / 1000)}:R>`;
  // A user whose name is unknown: Discord shows it, and `allowed_mentions` prevents a ping.
  if ('person' in part)
    return part.person.name === part.person.id ? `<@${part.person.id}>` : escapeText(part.person.name);
  if ('mention' in part) return `<@${part.mention.id}>`;
  if ('channel' in part) return /^\d+$/.test(part.channel) ? `<#${part.channel}>` : escapeText(`#${part.channel}`);
  if ('message' in part) return `[${part.label}](${messageUrl(part, guild)})`;
  return `[${part.label}](${part.link})`;
}

type Jump = Extract<Part, { readonly message: unknown }>;

function messageUrl({ message: { channel, message } }: Jump, guild: string | null): string {
  return `https://discord.com/channels/${guild ?? '@me'}/${channel}/${message}`;
}

/** Renders the service's own percentage as blocks, such as `█████████░░░░░░░░░░░`. */
export function progressBar(progress: number): string {
  const full = Math.min(BAR_LENGTH, Math.max(0, Math.floor((progress / 100) * BAR_LENGTH)));
  return `\`${'█'.repeat(full)}${'░'.repeat(BAR_LENGTH - full)}\``;
}

/** Renders a button of a card. */
export function renderButton({ id, label, style }: CardButton) {
  const text = beginning(withoutDirection(label), LABEL_LENGTH);
  return { type: ComponentType.Button as const, style: STYLES[style], label: text, custom_id: id };
}

function linkButton(jump: Jump, guild: string | null): APIButtonComponent {
  const label = isolated(jump.label);
  return { type: ComponentType.Button, style: ButtonStyle.Link, label, url: messageUrl(jump, guild) };
}

const STYLES = {
  primary: ButtonStyle.Primary,
  plain: ButtonStyle.Secondary,
  danger: ButtonStyle.Danger,
} as const satisfies Record<CardButton['style'], ButtonStyle>;

/** Zero-width space that breaks up text which Discord would otherwise parse as a mention or a link. */
const ZERO_WIDTH = '\u200B';

/**
 * Escapes untrusted text so that Discord shows it verbatim: no formatting, no mention, no emoji, no link, no
 * invitation. Pings are restricted by `allowed_mentions` as well.
 * @see https://discord.com/developers/docs/reference#message-formatting
 */
export function escapeText(text: string): string {
  return (
    isolated(text)
      .replace(/[\\*_~`|<>[\]()#:@-]/g, '\\$&')
      .replace(/^(\s*\d+)\./gm, '$1\\.')
      .replace(/\\@(?=everyone|here)/g, `\\@${ZERO_WIDTH}`)
      .replace(/(https?|discord|mailto|tel|steam)\\:/gi, `$1\\:${ZERO_WIDTH}`)
      .replace(/\b(www)\./gi, `$1.${ZERO_WIDTH}`)
      // Clients embed an invitation for these even without https://.
      .replace(/\b(discord(?:app)?|dsc|invite)\.(?=(?:gg|com|io|me)\b)/gi, `$1.${ZERO_WIDTH}`)
  );
}

/** Formats text as inline code, to be copied; replaces backticks, which would end it. */
export function codeText(text: string): string {
  return `\`${text.replaceAll('`', 'ˋ')}\``;
}
