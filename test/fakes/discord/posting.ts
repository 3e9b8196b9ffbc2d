import { attached, mismatches, resolved } from './attaching.ts';
import type { UploadedFile } from './files.ts';
import { invalid } from './form.ts';
import { type Mention, type MentionDefault, mentionsIn, mentionText, notifiesReplied } from './mentions.ts';
import { checkedComponents, keptEmbeds, type MessageForm } from './message-form.ts';
import { type Channel, FLAGS, type Message, type User } from './records.ts';
import { Refusal } from './refusal.ts';
import { messageJson } from './wire.ts';
import type { World } from './world.ts';

/** Input of a send or an edit. */
export interface Draft {
  readonly form: MessageForm;
  readonly files: readonly UploadedFile[];
  readonly maxBytes: number;
  /** True if that limit was reported to the bot: a larger file is a violation then. */
  readonly isLimitKnown: boolean;
  readonly mentions: MentionDefault;
  /** Flags that may be set; others are rejected by a send, and ignored by an edit. */
  readonly flags: number;
}

/** Channel, author and references of a message. */
export interface Origin {
  readonly channel: Channel;
  readonly author: User;
  readonly interactionId?: string;
  readonly replyTo?: string | null;
  readonly visibleTo?: string | null;
  /** A deferred message: not announced and not checked for emptiness. */
  readonly isLoading?: boolean;
}

type State = Pick<Message, 'content' | 'embeds' | 'components' | 'flags' | 'attachments'>;

const EMPTY: State = { content: '', embeds: [], components: [], flags: 0, attachments: [] };

/** @see discord docs: events/gateway, "List of Intents" */
export const INTENTS = {
  guilds: 1 << 0,
  guildMembers: 1 << 1,
  guildPresences: 1 << 8,
  guildMessages: 1 << 9,
  guildReactions: 1 << 10,
  directMessages: 1 << 12,
  directReactions: 1 << 13,
  messageContent: 1 << 15,
} as const;

/** Returns the intent for messages of a channel. */
export const messageIntent = ({ guildId }: Channel): number =>
  guildId === null ? INTENTS.directMessages : INTENTS.guildMessages;

/**
 * Posts a message of the bot.
 * @throws Refusal 50006 for an empty one, 50035, 413
 */
export function post(world: World, { channel, author, ...origin }: Origin, draft: Draft): Message {
  const { form, mentions: missing } = draft;
  if (origin.isLoading !== true) demandMentions(world, form, 'send');
  const state = next(world, channel, EMPTY, draft);
  if (origin.isLoading !== true && isEmpty(state)) throw new Refusal(400, 50006, { violation: 'empty message' });
  const parsed = mentionsIn(mentionText(state.content, state.components), form.allowed_mentions, missing);
  const message: Message = {
    ...state,
    id: world.freshId(),
    channelId: channel.id,
    author,
    createdMs: world.clock.now(),
    nonce: form.nonce ?? null,
    replyTo: origin.replyTo ?? null,
    interactionId: origin.interactionId ?? null,
    visibleTo: origin.visibleTo ?? null,
    flags: state.flags | (origin.isLoading === true ? FLAGS.loading : 0),
    mentions: parsed.map(({ id }) => id),
    editedMs: null,
    edits: 0,
    isDeleted: false,
    reactions: new Map(),
  };
  world.messages.set(message.id, message);
  record(world, message, [...parsed, ...replied(world, message, draft)]);
  announce(world, channel, message, 'MESSAGE_CREATE');
  return message;
}

/**
 * Edits a message of the bot. An edit never pings, not even the first one after a defer.
 * @throws Refusal 50006, 50035, 413
 * @see discord docs: resources/message, "Edit Message"
 * @see github.com/discord/discord-api-docs/issues/5497: an edit after a defer does not ping
 */
export function edit(world: World, message: Message, draft: Draft): void {
  const { form, mentions: missing } = draft;
  demandMentions(world, form, 'edit');
  const channel = world.channel(message.channelId);
  const state = next(world, channel, message, draft);
  if (isEmpty(state)) throw new Refusal(400, 50006, { violation: 'an edit left the message empty' });
  for (const attachment of message.attachments) {
    if (!state.attachments.some(({ id }) => id === attachment.id))
      world.vanished.push({ messageId: message.id, attachment });
  }
  const parsed = mentionsIn(mentionText(state.content, state.components), form.allowed_mentions, missing);
  Object.assign(message, state, {
    flags: state.flags & ~FLAGS.loading,
    mentions: parsed.map(({ id }) => id),
    editedMs: world.clock.now(),
    edits: message.edits + 1,
  });
  announce(world, channel, message, 'MESSAGE_UPDATE');
}

/** Returns the state of the message after the draft, without changing the message. */
function next(
  world: World,
  channel: Channel,
  before: State,
  { form, files, maxBytes, isLimitKnown, flags }: Draft,
): State {
  const wrong = (form.flags ?? 0) & ~flags;
  if (wrong !== 0 && before === EMPTY) throw invalid('flags', `${wrong} cannot be set here`);
  // "Unsupported flag changes are currently ignored without error": resources/message, Edit Message.
  if ((wrong & ~before.flags) !== 0) world.violate(`flags ${wrong} that an edit cannot set`);
  const given = (form.flags ?? 0) & flags;
  const wasV2 = (before.flags & FLAGS.v2) !== 0;
  // "Once a message has been sent with this flag, it can't be removed": components/reference, introduction.
  if (wasV2 && typeof form.flags === 'number' && (given & FLAGS.v2) === 0) {
    throw invalid('flags', 'IS_COMPONENTS_V2 cannot be removed');
  }
  const isV2 = wasV2 || (given & FLAGS.v2) !== 0;
  const content = form.content === undefined ? before.content : (form.content ?? '');
  const embeds = form.embeds === undefined ? before.embeds : keptEmbeds(form.embeds);
  // "The message can only contain components": resources/message, Create Message, \*\*; Edit Message, \*.
  if (isV2 && (content !== '' || embeds.length > 0))
    throw invalid('content', 'a V2 message has no content and no embeds');
  const attachments = attached({
    world,
    channelId: channel.id,
    before: before.attachments,
    requested: form.attachments,
    files,
    maxBytes,
    isLimitKnown,
  });
  const wanted = form.components === undefined ? null : checkedComponents(form.components, isV2);
  const components = resolved(wanted ?? before.components, attachments);
  if (isV2) for (const one of mismatches(components, attachments)) world.violate(one);
  for (const { url } of embeds
    .flatMap(({ image, thumbnail }) => [image, thumbnail] as { url: string }[])
    .filter(Boolean)) {
    const isMissing =
      url.startsWith('attachment://') && !attachments.some(({ filename }) => url.endsWith(`//${filename}`));
    if (isMissing) throw invalid('embeds', `${url} names no file of the message`);
  }
  // An edit sets and unsets only SUPPRESS_EMBEDS; the other flags stay.
  const kept = typeof form.flags === 'number' ? before.flags & ~FLAGS.suppressEmbeds : before.flags;
  return { content, embeds, components, attachments, flags: kept | given };
}

const isEmpty = ({ content, embeds, components, attachments }: State): boolean =>
  content.trim() === '' && embeds.length + components.length + attachments.length === 0;

/** @see issue 3, point 10; discord docs: resources/message, "Edit Message": earlier allowed mentions are not kept */
function demandMentions(world: World, form: MessageForm, what: string): void {
  if (form.allowed_mentions === undefined || form.allowed_mentions === null) {
    world.violate(`missing allowed_mentions on a message's ${what}`);
  }
}

function replied(world: World, message: Message, { form, mentions }: Draft): readonly Mention[] {
  const target = form.message_reference == null ? undefined : world.messages.get(form.message_reference.message_id);
  if (target === undefined || !notifiesReplied(form.allowed_mentions, mentions)) return [];
  return target.author.id === message.author.id ? [] : [{ kind: 'user', id: target.author.id }];
}

/** An ephemeral message notifies only its recipient; a role and everyone need Mention Everyone. */
function record(world: World, message: Message, mentions: readonly Mention[]): void {
  const channel = world.channel(message.channelId);
  const mayAll = world.allowedIn(channel).includes('MENTION_EVERYONE');
  const reaches = ({ kind, id }: Mention): boolean =>
    kind === 'user' ? id !== world.bot.id && (message.visibleTo === null || message.visibleTo === id) : mayAll;
  world.pings.push(...mentions.filter(reaches).map((one) => ({ messageId: message.id, ...one })));
}

/** Dispatches the event of a message. Ephemeral messages and channels without the bot cause none. */
export function announce(
  world: World,
  channel: Channel,
  message: Message,
  event: 'MESSAGE_CREATE' | 'MESSAGE_UPDATE',
): void {
  if (!world.isSeen(channel) || message.visibleTo !== null) return;
  const where = channel.guildId === null ? {} : { guild_id: channel.guildId };
  world.dispatch(event, { ...messageJson(world, message), ...where }, messageIntent(channel));
}
