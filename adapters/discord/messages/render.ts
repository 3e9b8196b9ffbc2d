import {
  type APIComponentInContainer,
  type APIMessageTopLevelComponent,
  ComponentType,
  type RESTAPIAttachment,
} from 'discord.js';
import { ANOTHER_TAKE } from '#commands/sentences/attachments.ts';
import { withoutDirection } from '#commands/ui/bidi.ts';
import { type Block, blocksOf, type Card, type CardButton, type Line, layOut } from '#commands/ui/card.ts';
import type { MessageRef } from '#src/chat/platform.ts';
import { PHASES } from '#src/chat/view.ts';
import type { Person, Phase } from '#src/tasks/task.ts';
import { layOutWords, renderButton } from './layout.ts';

/** Message payload for Discord (`flags` select Components V2). */
export interface Body {
  readonly components: readonly APIMessageTopLevelComponent[];
  readonly flags: number;
  readonly allowed_mentions: AllowedMentions;
  readonly attachments?: readonly RESTAPIAttachment[];
}

/** Users that a message may ping; sent with every message and every edit. */
export interface AllowedMentions {
  readonly parse: readonly [];
  readonly users?: readonly string[];
  readonly replied_user?: false;
}

/** @see https://discord.com/developers/docs/resources/message#message-object-message-flags */
export const SUPPRESS_EMBEDS = 1 << 2;
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

/** Context that a card is rendered in. */
export interface RenderContext {
  /** Server id for links to messages; `null` in a direct message. */
  readonly guild: string | null;
  readonly clip?: ShownClip | null;
  /** The message that this one is another take of, unless it is a reply to it. */
  readonly repeats?: MessageRef | null;
  readonly phase?: Phase | undefined;
  readonly isPrivate?: boolean;
}

/** Renders a card as one message: a container with its text (cut if too long), the clip and the buttons. */
export function renderCard(card: Card, around: RenderContext): Body {
  const { repeats = null } = around;
  const whole = repeats === null ? card : withRepeated(card, repeats);
  const [first = [], ...more] = layOutWords(whole, around.guild);
  return bodyOf(more.length === 0 ? first : [...first.slice(0, -1), ...marked(first.at(-1))], card, around);
}

/** Adds the link to the message that a card repeats. */
function withRepeated({ progress, buttons, ...contents }: Card, message: MessageRef): Card {
  const link: Block = { kind: 'small', line: [{ message, label: ANOTHER_TAKE }] };
  return { blocks: [...blocksOf(contents), link], progress, buttons };
}

/** Renders a card in full, in as many messages as its text needs; the clip and the buttons are in the first. */
export function renderParts(card: Card, around: RenderContext): readonly Body[] {
  return layOutWords(card, around.guild).map((words, index) =>
    index === 0 ? bodyOf(words, card, around) : bodyOf(words, { buttons: [] }, { ...around, clip: null }),
  );
}

function bodyOf(
  words: readonly APIComponentInContainer[],
  { buttons }: Pick<Card, 'buttons'>,
  { phase, clip = null, isPrivate = false }: RenderContext,
): Body {
  const accent = phase === undefined ? undefined : ACCENTS[PHASES[phase].tone];
  const components = [...words];
  if (clip !== null) {
    const item = { media: { url: `attachment://${clip.name}` }, description: withoutDirection(clip.description) };
    components.push({ type: ComponentType.MediaGallery, items: [item] });
  }
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

/** Renders an offer as a message of the bot's own, which pings its requester only. */
export function renderOffer(card: Card, to: Person, guild: string | null): Body {
  const { progress, buttons } = card;
  const addressed = layOut([{ kind: 'text', line: [{ mention: to }] }, ...blocksOf(card)], { progress, buttons });
  return { ...renderCard(addressed, { guild }), allowed_mentions: { parse: [], users: [to.id] } };
}

/** Renders a sentence as an ephemeral message; escapes all of it, since it may contain untrusted text. */
export function renderSentence(sentence: string, buttons: readonly CardButton[] = []): Body {
  const lines = sentence.split('\n').map((line): Line => [{ untrusted: line }]);
  return renderCard({ lines, progress: null, buttons }, { guild: null, isPrivate: true });
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

/** Accent colours of cards. */
const ACCENTS = { pending: 0x5865f2, good: 0x23a55a, bad: 0xda373c, attention: 0xf0b232, neutral: undefined } as const;
