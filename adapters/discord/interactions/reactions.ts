import { type APIUser, type GatewayMessageReactionAddDispatchData, Routes } from 'discord.js';
import type { Bot, Caller } from '#commands/bot-port.ts';
import type { ReplyOf } from '#commands/run-interaction.ts';
import { reactionAction } from '#commands/ui/buttons.ts';
import type { MessageRef } from '#src/chat/index.ts';
import { asDailiesError } from '#src/errors.ts';
import { readAddress, writeAddress } from '../messages/message-store.ts';
import type { TaskPosts } from '../messages/posts.ts';
import { renderOffer } from '../messages/render.ts';
import type { Threads } from '../messages/threads.ts';
import type { Parts } from '../parts.ts';
import type { Permissions } from '../rest/permissions.ts';
import type { Access } from './access.ts';
import { mayManage, nameOf, PLATFORM } from './caller.ts';

interface ReactionsOptions extends Omit<Parts, 'clock'> {
  readonly bot: Bot;
  readonly access: Pick<Access, 'of'>;
  readonly permissions: Pick<Permissions, 'of' | 'parentOf'>;
  readonly messages: Pick<TaskPosts, 'offer'>;
  readonly threads: Pick<Threads, 'cardChannelOf'>;
}

/** Handles reactions to a task's message and to the notices about it. All other reactions are ignored. */
export class Reactions {
  readonly #options: ReactionsOptions;

  constructor(options: ReactionsOptions) {
    this.#options = options;
  }

  /** Handles a reaction. @throws DailiesError */
  async take(reaction: GatewayMessageReactionAddDispatchData): Promise<void> {
    const { bot, access, permissions, threads, self } = this.#options;
    const { emoji, user_id: user, channel_id: channel, message_author_id: author, member, guild_id: guild } = reaction;
    const action = emoji.name === null ? null : reactionAction(emoji.name);
    if (emoji.name === null || action === null) return;
    const { user: own } = await self();
    if (user === own || member?.user.bot === true || (author !== undefined && author !== own)) return;
    const { team } = await access.of({ guild, user, isUserInstall: false });
    if (team === null) return;
    const isManager = await this.#isManager(reaction);
    const cardChannel = await threads.cardChannelOf(channel);
    // A reaction names only its thread. Nothing is bought while its channel's budget is unknown.
    const mayBeInThread = cardChannel === null && action === 'retry' && guild !== undefined;
    const parent = mayBeInThread ? await permissions.parentOf(channel) : null;
    const caller = await this.#withName(reactorOf(reaction, { team, isManager, parent, cardChannel }), reaction);
    const reply = await bot.react(caller, await this.#taskMessage(reaction), emoji.name);
    if (reply?.kind === 'task') await bot.show(reply.task);
    if (reply?.kind === 'offer') await this.#offer(caller, channel, reply);
  }

  /** Posts an offer that mentions the user: a reaction brings no token for an ephemeral message. */
  async #offer({ user, address }: Caller, channel: string, { id, card }: ReplyOf<'offer'>): Promise<void> {
    const { messages } = this.#options;
    await messages.offer(id, channel, renderOffer(card, user, readAddress(address).guild));
  }

  /**
   * Returns the message of the task that the reaction is about. The reaction may be to a notice, often the newest
   * message.
   */
  async #taskMessage({
    channel_id: channel,
    message_id: message,
  }: GatewayMessageReactionAddDispatchData): Promise<MessageRef> {
    const { records } = this.#options;
    const task = await records.taskOfNotice(message);
    return (task === undefined ? undefined : await records.posted('task', task)) ?? { channel, message };
  }

  /** Adds the user's name, which a reaction in a direct message lacks. */
  async #withName(caller: Caller, { member }: GatewayMessageReactionAddDispatchData): Promise<Caller> {
    if (member !== undefined) return caller;
    const { rest, logger } = this.#options;
    const { id } = caller.user;
    const doing = 'looking up who reacted';
    const name = await rest.get<APIUser>(Routes.user(id), doing).then(
      (user) => nameOf(user),
      (thrown: unknown) => {
        logger.debug(
          { event: 'discord_reactor_name_unknown', err: asDailiesError(thrown, doing) },
          'failed to look up the name of a user who reacted',
        );
        return id;
      },
    );
    return { ...caller, user: { id, name } };
  }

  /** Returns whether the user may manage the channel; false if the lookup fails. */
  async #isManager(reaction: GatewayMessageReactionAddDispatchData): Promise<boolean> {
    const { guild_id: guild, channel_id: channel, user_id: user, member } = reaction;
    if (guild === undefined || member === undefined) return false;
    try {
      return mayManage(await this.#options.permissions.of(guild, channel, { user, roles: member.roles }));
    } catch (thrown) {
      const error = asDailiesError(thrown, 'reading the permissions of a user who reacted');
      this.#options.logger.warn(
        { event: 'discord_reactor_rights_unknown', err: error, channel },
        'failed to look up the permissions of a user who reacted',
      );
      return false;
    }
  }
}

/** Facts about a reaction that are not part of its payload. */
interface ReactionContext {
  /** Team whose account is charged. */
  readonly team: string;
  /** True if the user may manage the channel. */
  readonly isManager: boolean;
  /** The channel that this thread belongs to; `null` for none. */
  readonly parent: string | null;
  /** As in `CallerContext`. */
  readonly cardChannel: string | null;
}

function reactorOf(
  reaction: GatewayMessageReactionAddDispatchData,
  { team, isManager, parent, cardChannel }: ReactionContext,
): Caller {
  const { guild_id: guild, channel_id: channel, message_id: message, user_id: user, member, emoji } = reaction;
  return {
    platform: PLATFORM,
    team,
    channel: cardChannel ?? channel,
    ...(parent === null ? {} : { parentChannel: parent }),
    user: { id: user, name: member === undefined ? user : nameOf(member.user, member) },
    // Reactions have no id: the same reaction by the same user has the same idempotency key.
    interaction: `reaction:${message}:${user}:${emoji.name ?? ''}`,
    mayManage: isManager,
    // Reactions carry no permissions, and none of them administers anything.
    mayAdminister: false,
    address: writeAddress({
      token: null,
      hasBot: true,
      guild: guild ?? null,
      isDirect: guild === undefined,
      isThread: cardChannel !== null,
      isPrivate: false,
      source: null,
      below: null,
      within: cardChannel === null ? null : channel,
      permissions: null,
    }),
  };
}
