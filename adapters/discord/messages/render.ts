import {
  type APIButtonComponent,
  type APIComponentInContainer,
  type APIMediaGalleryItem,
  type APIMessageTopLevelComponent,
  type APISectionAccessoryComponent,
  type APIStringSelectComponent,
  type APIThumbnailComponent,
  ButtonStyle,
  ComponentType,
  type RESTAPIAttachment,
} from 'discord.js';
import { approvalCard } from '#commands/sentences/cards/approval.ts';
import { beginning, shorten } from '#commands/sentences/format.ts';
import {
  type Accessory,
  type Block,
  blocksOf,
  type Card,
  type CardButton,
  type CardSelect,
  facts,
  type ItemBlock,
  isolated,
  type Line,
  layOut,
  type Part,
  type Picture,
  progressBar,
  sentenceCard,
  small,
  tableBlocks,
  withoutDirection,
  withText,
} from '#commands/ui/card.ts';
import { type ApprovalNotice, type MessageRef, PHASES } from '#src/chat/index.ts';
import type { Person, Phase } from '#src/tasks/index.ts';

/** Message payload for Discord (`flags` select Components V2). */
export interface Body {
  readonly components: readonly APIMessageTopLevelComponent[];
  readonly flags: number;
  readonly allowed_mentions: AllowedMentions;
  readonly attachments?: readonly RESTAPIAttachment[];
}

/** Users that a message may ping; sent with every message and every edit. */
interface AllowedMentions {
  readonly parse: readonly [];
  readonly users?: readonly string[];
  readonly roles?: readonly string[];
  readonly replied_user?: false;
}
export const IS_COMPONENTS_V2 = 1 << 15;
export const IS_EPHEMERAL = 1 << 6;

const BUTTONS_IN_A_ROW = 5;

/** Clip shown in a message. */
export interface ShownClip {
  /** File name as Discord stores it: only letters, digits, `-`, `_` and dots. */
  readonly name: string;
  /** Alt text, at most 1024 characters. */
  readonly description: string;
}

interface RenderContext {
  /** Server id for links to messages; `null` in a direct message. */
  readonly guild: string | null;
  /** At most ten. Default: none. @see https://discord.com/developers/docs/components/reference#media-gallery */
  readonly clips?: readonly ShownClip[];
  /** The message that this one belongs to or is another take of, with the label of the link to it, unless it is a reply to it. */
  readonly repeats?: (MessageRef & { readonly label: string }) | null;
  readonly phase?: Phase | undefined;
  readonly isPrivate?: boolean;
}

/** Renders a card as one message: a container with its text (cut if too long), the clips and the buttons. */
export function renderCard(card: Card, around: RenderContext): Body {
  const { repeats = null } = around;
  const whole = repeats === null ? card : withRepeated(card, repeats);
  const [first = [], ...more] = layOutWords(whole, around.guild);
  return bodyOf(more.length === 0 ? first : [...first.slice(0, -1), ...marked(first.at(-1))], card, around);
}

function withRepeated(card: Card, { label, ...message }: NonNullable<RenderContext['repeats']>): Card {
  return withText(card, small({ message, label }));
}

/** Renders a card in full, in as many messages as its text needs; the clips and the buttons are in the first. */
export function renderParts(card: Card, around: RenderContext): readonly Body[] {
  return layOutWords(card, around.guild).map((words, index) =>
    index === 0 ? bodyOf(words, card, around) : bodyOf(words, { buttons: [] }, { ...around, clips: [] }),
  );
}

function bodyOf(
  words: readonly APIComponentInContainer[],
  { buttons, selects = [] }: Pick<Card, 'buttons' | 'selects'>,
  { phase, clips = [], isPrivate = false }: RenderContext,
): Body {
  const accent = phase === undefined ? undefined : ACCENTS[PHASES[phase].tone];
  const components = [...words];
  const items = clips.map(({ name, description }) => ({
    media: { url: `attachment://${name}` },
    description: withoutDirection(description),
  }));
  if (items.length > 0) components.push({ type: ComponentType.MediaGallery, items });
  for (const [index, select] of selects.entries())
    components.push({ type: ComponentType.ActionRow, components: [renderSelect(select, index)] });
  for (let at = 0; at < buttons.length; at += BUTTONS_IN_A_ROW) {
    const some = buttons.slice(at, at + BUTTONS_IN_A_ROW).map(renderButton);
    components.push({ type: ComponentType.ActionRow, components: some });
  }
  return {
    components: [
      { type: ComponentType.Container, components, ...(accent === undefined ? {} : { accent_color: accent }) },
    ],
    flags: IS_COMPONENTS_V2 | (isPrivate ? IS_EPHEMERAL : 0),
    allowed_mentions: { parse: [] },
  };
}

/** Appends an ellipsis to a cut text. */
function marked(last: APIComponentInContainer | undefined): readonly APIComponentInContainer[] {
  if (last?.type !== ComponentType.TextDisplay) return last === undefined ? [] : [last];
  return [{ ...last, content: `${last.content}…` }];
}

/** Users, and roles, in `allowed_mentions`. @see https://discord.com/developers/docs/resources/message#allowed-mentions-object */
const MAX_ALLOWED = 100;

/** Renders the notice to the approvers of a request, which pings them only. */
export function renderRequest(view: ApprovalNotice, guild: string | null): Body {
  const idsOf = (isPerson: boolean): readonly string[] =>
    view.pings
      .filter(({ kind }) => (kind === 'person') === isPerson)
      .slice(0, MAX_ALLOWED)
      .map(({ id }) => id);
  const allowed = { parse: [], users: idsOf(true), roles: idsOf(false), replied_user: false } as const;
  return { ...renderCard(approvalCard(view), { guild }), allowed_mentions: allowed };
}

/** Renders an offer as a message of the bot's own, which pings its requester only. */
export function renderOffer(card: Card, to: Person, guild: string | null): Body {
  const { progress, buttons } = card;
  const addressed = layOut([[{ mention: to }], ...blocksOf(card)], { progress, buttons });
  return { ...renderCard(addressed, { guild }), allowed_mentions: { parse: [], users: [to.id] } };
}

/** Renders a sentence as an ephemeral message; escapes all of it, since it may contain untrusted text. */
export function renderSentence(sentence: string, buttons: readonly CardButton[] = []): Body {
  return renderCard(sentenceCard(sentence, buttons), { guild: null, isPrivate: true });
}

/** Returns a card's text in Discord's markup, without its buttons; never longer than Discord's limit. */
export function cardText(card: Card, guild: string | null): string {
  const { components } = renderCard(card, { guild });
  return components
    .flatMap((top) => (top.type === ComponentType.Container ? top.components : []))
    .flatMap((one) => (one.type === ComponentType.Section ? one.components : [one]))
    .flatMap((one) => (one.type === ComponentType.TextDisplay ? [one.content] : []))
    .join('\n');
}

/** @see https://discord.com/developers/docs/resources/message#create-message */
const CONTENT_LENGTH = 2000;

/** Returns a card's text as the content of a plain message, cut after a line if it is too long. */
export function noticeText(card: Card, guild: string | null): string {
  const text = cardText(card, guild);
  if (text.length <= CONTENT_LENGTH) return text;
  const head = beginning(text, CONTENT_LENGTH - 2);
  const lineEnd = head.lastIndexOf('\n');
  return lineEnd > 0 ? `${head.slice(0, lineEnd)}\n…` : `${cutCleanly(head)}…`;
}

/** Longest alternative text. @see https://discord.com/developers/docs/resources/message#attachment-object */
const DESCRIPTION_LENGTH = 1024;

/** Returns the alternative text of a file. */
export function altText(description: string): string {
  return beginning(withoutDirection(description), DESCRIPTION_LENGTH);
}

function withoutAccents(text: string): string {
  return text.normalize('NFKD').replace(/[\u0300-\u036f]/g, '');
}

/**
 * Returns a file name that Discord stores unchanged.
 * @see https://discord.com/developers/docs/reference#uploading-files
 */
export function storedName(name: string): string {
  const [, stem = '', ending = ''] = /^(.*?)(\.\w+)?$/s.exec(name) ?? [];
  const plain = withoutAccents(stem)
    .replace(/[^\w.-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
  // A name in another script is reduced to its id.
  const isBare = stem.includes('-') && !plain.includes('-');
  if (plain === '') return `clip${ending}`;
  return `${isBare ? 'clip-' : ''}${plain}${ending}`;
}

const ACCENTS = { pending: 0x5865f2, good: 0x23a55a, bad: 0xda373c, attention: 0xf0b232, neutral: undefined } as const;

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
/** Components reserved for the container, the clips, and a full row of buttons; more where there are more. */
const OTHER_COMPONENTS = 8;
/** Components of a section: itself, its text and its button or picture. */
const SECTION_COMPONENTS = 3;
/** @see https://discord.com/developers/docs/components/reference#button-button-structure */
const LABEL_LENGTH = 80;

/** Piece of a message: text, optionally with a button or a picture beside it, or a separator or a wide picture. */
type Piece =
  | { readonly text: string; readonly beside: APISectionAccessoryComponent | null }
  | { readonly text: null; readonly component: APIComponentInContainer };

/** Lays out a card's text as components, in as many messages as it needs. */
function layOutWords(card: Card, guild: string | null): readonly (readonly APIComponentInContainer[])[] {
  const pages: Page[] = [new Page(card.buttons.length, card.selects?.length)];
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
  #slots: number;

  /** @param buttons number of those below its text @param selects likewise */
  constructor(buttons = 0, selects = 0) {
    const rows = Math.ceil(buttons / BUTTONS_IN_A_ROW);
    this.#slots = MAX_COMPONENTS - Math.max(OTHER_COMPONENTS, 2 + rows + buttons + 2 * selects);
  }

  /** Adds a piece. @returns the remainder for the next page; `null` if all of it fits. */
  take(piece: Piece): Piece | null {
    if (piece.text === null) return this.#add(1, 0, piece.component) ? null : piece;
    const { text, beside } = piece;
    if (beside !== null) return this.#section(text, beside) ? null : this.#tooLong(piece);
    const last = this.components.at(-1);
    const joint = last?.type === ComponentType.TextDisplay ? `${last.content}\n` : '';
    if (joint === '' && this.#slots === 0) return piece;
    const space = this.#characters - (joint === '' ? 0 : 1);
    if (text.length > space) return this.#head(piece, joint, space);
    this.#put(joint, text);
    return null;
  }

  #section(text: string, accessory: APISectionAccessoryComponent): boolean {
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

  /** Drops what is beside a section whose text exceeds a whole message. */
  #tooLong(piece: Piece & { readonly text: string }): Piece {
    return this.components.length === 0 ? { ...piece, beside: null } : piece;
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
  if (card.progress !== null) yield { text: codeText(progressBar(card.progress)), beside: null };
}

function pieceOf(block: Block, guild: string | null): Piece {
  switch (block.kind) {
    case 'text':
      return { text: lineText(block.line, guild), beside: null };
    case 'small':
      return { text: smallText(block.line, guild), beside: null };
    case 'heading':
      return { text: `### ${lineText(block.line.map(unstyled), guild)}`, beside: null };
    case 'item':
      return itemPiece(block, guild);
    case 'picture':
      return widePiece(block.picture);
    case 'divider':
    case 'table':
      return { text: null, component: { type: ComponentType.Separator } };
  }
}

/** A section has one accessory: beside a picture, a link to a message is in the small print, and a button stands alone. */
function itemPiece({ title, small, accessory, picture }: ItemBlock, guild: string | null): Piece {
  const thumbnail = accessory !== undefined && 'id' in accessory ? null : renderPicture(picture);
  const button = accessory === undefined || thumbnail !== null ? null : renderAccessory(accessory, guild);
  const open = accessory === undefined || button !== null || 'id' in accessory ? [] : [[accessory]];
  const bold = lineText(title.map(unstyled), guild);
  const texts = [bold === '' ? '' : `**${bold}**`, smallText(facts(small, ...open), guild)];
  return { text: texts.filter((part) => part !== '').join('\n'), beside: thumbnail ?? button };
}

function renderPicture(picture: Picture | undefined): APIThumbnailComponent | null {
  const media = mediaOf(picture);
  return media === null ? null : { type: ComponentType.Thumbnail, ...media };
}

function widePiece(picture: Picture): Piece {
  const media = mediaOf(picture);
  if (media === null) return { text: '', beside: null };
  return { text: null, component: { type: ComponentType.MediaGallery, items: [media] } };
}

function mediaOf(picture: Picture | undefined): APIMediaGalleryItem | null {
  if (picture === undefined || picture.url === null) return null;
  return { media: { url: picture.url }, description: altText(picture.alt) };
}

function renderAccessory(accessory: Accessory, guild: string | null): APIButtonComponent {
  return 'id' in accessory ? renderButton(accessory) : linkButton(accessory, guild);
}

/** Removes bold, which would end the surrounding bold or heading. */
function unstyled(part: Part): Part {
  return typeof part === 'object' && 'strong' in part ? { untrusted: part.strong } : part;
}

function renderButton({ id, label, style }: CardButton) {
  const text = beginning(withoutDirection(label), LABEL_LENGTH);
  return { type: ComponentType.Button as const, style: STYLES[style], label: text, custom_id: id };
}

/** @see https://discord.com/developers/docs/components/reference#string-select-select-option-structure */
const OPTION_LENGTH = 100;

/** Renders a select in a row of its own. Each id is unique in a message; those of the presses are the values. */
function renderSelect({ placeholder, options }: CardSelect, index: number): APIStringSelectComponent {
  return {
    type: ComponentType.StringSelect,
    custom_id: `choose:${index}`,
    placeholder,
    options: options.map(({ id, label }) => ({ value: id, label: shorten(withoutDirection(label), OPTION_LENGTH) })),
  };
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

/** Formats a line as subtext. @see https://discord.com/developers/docs/reference#message-formatting */
function smallText(line: Line, guild: string | null): string {
  const text = lineText(line, guild).replace(/\s*\n\s*/gu, ' ');
  return text === '' ? '' : `-# ${text}`;
}

/** Formats a line in Discord's markup. @param guild server of its links to messages; `null` for direct messages */
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
  if ('group' in part) return `<@&${part.group.id}>`;
  if ('channel' in part) return /^\d+$/.test(part.channel) ? `<#${part.channel}>` : escapeText(`#${part.channel}`);
  if ('message' in part) return `[${part.label}](${messageUrl(part, guild)})`;
  return `[${part.label}](${part.link})`;
}

type Jump = Extract<Part, { readonly message: unknown }>;

/** Returns the address of a message. @param guild as in {@link lineText} */
function messageUrl({ message: { channel, message } }: Jump, guild: string | null): string {
  return `https://discord.com/channels/${guild ?? '@me'}/${channel}/${message}`;
}

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
