import { hash } from 'node:crypto';
import type { Channels, MemberRights } from '#src/chat/index.ts';
import type { GalleryPress, GalleryReply, PressInGallery } from '#src/gallery/index.ts';
import type { Logger } from '#src/logger.ts';
import { type Admin, isAmong } from '#src/teams/index.ts';
import type { Bot, Caller, Reply } from '../bot-port.ts';
import { runInteraction } from '../run-interaction.ts';
import { buttonId, mayDecide, parseButton } from '../ui/buttons.ts';
import { buttonsOf, type Card, type CardButton, linesOf } from '../ui/card.ts';
import { plainText } from '../ui/plain-text.ts';

/** Dependencies of {@link createGalleryPress}. */
interface GalleryPressDeps {
  readonly bot: Bot;
  /** Enabled platforms, by name. */
  readonly platforms: ReadonlyMap<string, { readonly channels: Pick<Channels, 'rights' | 'lastingAddress'> }>;
  /** Persons named in `ADMINS`. */
  readonly admins: readonly Admin[];
  readonly logger: Logger;
}

const NO_RIGHTS: MemberRights = { view: false, post: false, manage: false };

/** Actions of buttons that the page offers; the others belong to a message in the chat. */
const OFFERED: ReadonlySet<string> = new Set(['retry', 'order', 'ask', 'discard', 'delete']);

/** Actions of the page of a storyboard. */
const OF_BOARD: ReadonlySet<string> = new Set(['move', 'join']);

/**
 * Creates the handler of presses in the gallery. Each is an interaction in the clip's channel, by a person who may post
 * there, so that prices, confirmations, approvals and limits are those of the chat, and so is the message of the order.
 */
export function createGalleryPress({ bot, platforms, admins, logger }: GalleryPressDeps): PressInGallery {
  return async (press) => {
    const caller = await callerOf(press, platforms.get(press.session.platform), admins);
    if (caller === null) return asRefused(textReply([isDeletion(press) ? NOT_DELETED : NOT_IN_CHANNEL]));
    let shown: GalleryReply = textReply([IN_THE_CHAT]);
    const show = async (card: Card): Promise<void> => {
      const text = plainText(linesOf(card));
      const isDone = press.action.kind === 'button' && isDeletion(press);
      shown = isDone ? { kind: 'deleted', lines: text.split('\n') } : textReply([text], buttonsOf(card));
    };
    const ask = () => replyTo(bot, caller, press);
    const interaction = { bot, logger, caller, inPlace: false, ask };
    let ordered: GalleryReply | null = null;
    const handled = runInteraction(interaction, {
      acknowledge: async (task) => {
        ordered = { kind: 'ordered', task };
      },
      show: (card) => show(card),
      showForm: async () => undefined,
      refuse: async ({ sentence, buttons }) => {
        shown = asRefused(textReply([sentence], buttons));
      },
      offer: ({ card, private: own = card }) => show(own),
    });
    // Once it is ordered, a message that cannot be posted now is posted with the next update.
    await handled.catch((thrown: unknown) => {
      if (ordered === null) throw thrown;
    });
    return ordered ?? shown;
  };
}

function replyTo(bot: Bot, caller: Caller, { task, action }: GalleryPress): Promise<Reply> {
  if (action.kind === 'button') {
    const pressed = parseButton(action.button)?.action ?? '';
    const isOffered = (OFFERED.has(pressed) && pressed !== 'retry') || OF_BOARD.has(pressed);
    return isOffered ? bot.press(caller, action.button) : Promise.resolve({ kind: 'refused', sentence: IN_THE_CHAT });
  }
  if (action.kind === 'delete') return bot.command(caller, 'delete', { id: [task.id] });
  // Others make a take of their own, as by /video retry.
  const { price } = action;
  if (mayDecide(caller, task.origin)) return bot.press(caller, buttonId({ action: 'retry', task: task.id, price }));
  return bot.command({ ...caller, shown: { price } }, 'retry', { id: [task.id] });
}

/** Returns whether a press deletes the clip, or asks whether to. */
function isDeletion({ action }: GalleryPress): boolean {
  return action.kind === 'delete' || (action.kind === 'button' && parseButton(action.button)?.action === 'delete');
}

/**
 * Returns the person as a caller in the clip's channel; `null` unless they may post there. A deletion posts nothing, and
 * one's own clip may be deleted from a channel that one has left, or that is gone; an administrator may delete any.
 */
async function callerOf(
  press: GalleryPress,
  platform: { readonly channels: Pick<Channels, 'rights' | 'lastingAddress'> } | undefined,
  admins: readonly Admin[],
): Promise<Caller | null> {
  if (platform === undefined) return null;
  const { session, task, id } = press;
  const isOwn = task.origin.user.id === session.user.id;
  const deletesAnyway = isDeletion(press) && (isOwn || isAmong(admins, session.platform, session.user.id));
  const { platform: name, team, user, isExternal = false } = session;
  const { channel, parentChannel, uploadLimitBytes, address: given } = task.origin;
  const address = platform.channels.lastingAddress(given);
  const rights = await platform.channels.rights({ team, channel, address }, user.id).catch((thrown: unknown) => {
    if (deletesAnyway) return NO_RIGHTS;
    throw thrown;
  });
  if (!deletesAnyway && !(rights.view && (rights.post || isDeletion(press)))) return null;
  return {
    platform: name,
    team,
    channel,
    ...(parentChannel === undefined ? {} : { parentChannel }),
    user,
    // Ids of different people never meet; the log has them, but no person's id.
    interaction: `gallery:${hash('sha256', `${name}:${team}:${user.id}:${id}`, 'hex').slice(0, 32)}`,
    mayManage: rights.manage,
    mayAdminister: false,
    isExternal,
    ...(uploadLimitBytes === undefined ? {} : { uploadLimitBytes }),
    address,
  };
}

function asRefused(reply: GalleryReply): GalleryReply {
  return reply.kind === 'text' ? { ...reply, isRefused: true } : reply;
}

function textReply(texts: readonly string[], buttons: readonly CardButton[] = []): GalleryReply {
  const offered = buttons.filter(({ id }) => {
    const action = parseButton(id)?.action;
    return action !== undefined && action !== 'retry' && OFFERED.has(action);
  });
  const lines = texts.flatMap((text) => text.split('\n'));
  const isDeadEnd = offered.length < buttons.length && offered.length === 0;
  return {
    kind: 'text',
    lines: isDeadEnd ? [...lines, ORDERED_ELSEWHERE] : lines,
    buttons: offered.map(({ id, label }) => ({ id, label })),
  };
}

const NOT_IN_CHANNEL = 'You can’t post in the channel of this clip, so nothing was ordered.';

const NOT_DELETED = 'You can’t see the channel of this clip any more, so nothing was deleted.';

const IN_THE_CHAT = 'This is only possible in the chat. Nothing was ordered.';

/** Follows a refusal whose remedies are only in the chat. */
const ORDERED_ELSEWHERE = 'To change it, order it again in the chat.';
