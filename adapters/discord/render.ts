import {
  type APIComponentInContainer,
  type APIMessageTopLevelComponent,
  ButtonStyle,
  ComponentType,
  type RESTAPIAttachment,
} from 'discord.js';
import type { Card, CardButton, Line, Part } from '#commands/card.ts';
import { beginning } from '#commands/sentences/format.ts';
import type { Phase } from '#src/chat/view.ts';
import { codeText, escapeText } from './markdown.ts';

/** What a message shows, as Discord takes it (`flags` say Components V2). */
export interface Body {
  readonly components: readonly APIMessageTopLevelComponent[];
  readonly flags: number;
  readonly allowed_mentions: AllowedMentions;
  readonly attachments?: readonly RESTAPIAttachment[];
}

/** Whom a message may ping; sent with every message and every edit. */
export interface AllowedMentions {
  readonly parse: readonly [];
  readonly users?: readonly string[];
  readonly replied_user?: false;
}

/** @see https://discord.com/developers/docs/resources/message#message-object-message-flags */
export const IS_COMPONENTS_V2 = 1 << 15;
export const IS_EPHEMERAL = 1 << 6;

/** @see https://discord.com/developers/docs/components/reference (4000 characters over all text displays) */
export const TEXT_LENGTH = 4000;

const BUTTONS_IN_A_ROW = 5;
const BAR_LENGTH = 20;

/** A clip that stands in a message. */
export interface ShownClip {
  /** As Discord stores it: only letters, digits, `-`, `_` and dots. */
  readonly name: string;
  /** For those who cannot see it, at most 1024 characters. */
  readonly description: string;
}

/** What a card is shown with besides its words. */
export interface Surroundings {
  /** The server whose messages links lead to; `null` in a direct message. */
  readonly guild: string | null;
  readonly clip?: ShownClip | null;
  readonly phase?: Phase | undefined;
  readonly isPrivate?: boolean;
}

/** A card as a message: a container with its words, the clip and the buttons. */
export function renderCard(card: Card, around: Surroundings): Body {
  const accent = around.phase === undefined ? undefined : ACCENTS[around.phase];
  const components: APIComponentInContainer[] = [
    { type: ComponentType.TextDisplay, content: cardText(card, around.guild) },
  ];
  if (around.clip !== undefined && around.clip !== null) {
    const { name, description } = around.clip;
    const item = { media: { url: `attachment://${name}` }, description };
    components.push({ type: ComponentType.MediaGallery, items: [item] });
  }
  for (let at = 0; at < card.buttons.length; at += BUTTONS_IN_A_ROW) {
    const some = card.buttons.slice(at, at + BUTTONS_IN_A_ROW).map(renderButton);
    components.push({ type: ComponentType.ActionRow, components: some });
  }
  return {
    components: [
      { type: ComponentType.Container, components, ...(accent === undefined ? {} : { accent_color: accent }) },
    ],
    flags: IS_COMPONENTS_V2 | (around.isPrivate === true ? IS_EPHEMERAL : 0),
    allowed_mentions: { parse: [] },
  };
}

/** A sentence with words from outside in it, escaped whole, for one person alone. */
export function renderSentence(sentence: string): Body {
  const lines = sentence.split('\n').map((line): Line => [{ untrusted: line }]);
  return renderCard({ lines, progress: null, buttons: [] }, { guild: null, isPrivate: true });
}

/** A card's words in Discord's markup, the bar after them; never longer than Discord takes. */
export function cardText({ lines, progress }: Card, guild: string | null): string {
  const bar = progress === null ? [] : [progressBar(progress)];
  const text = [...lines.map((line) => line.map((part) => partText(part, guild)).join('')), ...bar].join('\n');
  return text.length <= TEXT_LENGTH ? text.toWellFormed() : `${beginning(text, TEXT_LENGTH - 1)}…`;
}

/** The service's own percentage as blocks, such as `█████████░░░░░░░░░░░`. */
export function progressBar(progress: number): string {
  const full = Math.min(BAR_LENGTH, Math.max(0, Math.floor((progress / 100) * BAR_LENGTH)));
  return `\`${'█'.repeat(full)}${'░'.repeat(BAR_LENGTH - full)}\``;
}

/** A name under which Discord stores a file unchanged. @see https://discord.com/developers/docs/reference#uploading-files */
export function storedName(name: string): string {
  const [, stem = '', ending = ''] = /^(.*?)(\.\w+)?$/s.exec(name) ?? [];
  const plain = stem.replace(/[^\w.-]+/g, '-').replace(/^[-.]+|[-.]+$/g, '');
  return `${plain === '' ? 'clip' : plain}${ending}`;
}

function partText(part: Part, guild: string | null): string {
  if (typeof part === 'string') return part;
  if ('untrusted' in part) return escapeText(part.untrusted);
  if ('strong' in part) return `**${escapeText(part.strong)}**`;
  if ('code' in part) return codeText(part.code);
  if ('timeMs' in part) return `<t:${Math.floor(part.timeMs / 1000)}:R>`;
  // Somebody whose name is not known: Discord shows it, and `allowed_mentions` keeps it from pinging.
  if ('person' in part)
    return part.person.name === part.person.id ? `<@${part.person.id}>` : escapeText(part.person.name);
  if ('mention' in part) return `<@${part.mention.id}>`;
  if ('channel' in part) return /^\d+$/.test(part.channel) ? `<#${part.channel}>` : escapeText(`#${part.channel}`);
  if ('message' in part) {
    const { channel, message } = part.message;
    return `[${part.label}](https://discord.com/channels/${guild ?? '@me'}/${channel}/${message})`;
  }
  return `[${part.label}](${part.link})`;
}

function renderButton({ id, label, style }: CardButton) {
  return { type: ComponentType.Button as const, style: STYLES[style], label, custom_id: id };
}

const STYLES = {
  primary: ButtonStyle.Primary,
  plain: ButtonStyle.Secondary,
  danger: ButtonStyle.Danger,
} as const satisfies Record<CardButton['style'], ButtonStyle>;

/** The stripe at a card's side. */
const ACCENTS: Readonly<Record<Phase, number | undefined>> = {
  queued: 0x5865f2,
  running: 0x5865f2,
  fetching: 0x5865f2,
  done: 0x23a55a,
  lost: 0xda373c,
  failed: 0xda373c,
  refused: 0xda373c,
  uncertain: 0xf0b232,
  cancelled: undefined,
};
