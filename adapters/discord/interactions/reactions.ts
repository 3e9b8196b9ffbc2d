import { type APIUser, type GatewayMessageReactionAddDispatchData, Routes } from 'discord.js';
import type { Bot, Caller } from '#commands/bot-port.ts';
import { reactionAction } from '#commands/ui/buttons.ts';
import type { MessageRef } from '#src/chat/platform.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { MessageStore } from '../messages/message-store.ts';
import type { DiscordRest } from '../rest/client.ts';
import type { Permissions } from '../rest/permissions.ts';
import type { Access } from './access.ts';
import { mayManage, nameOf, reactorOf } from './caller.ts';

/** Dependencies of {@link Reactions}. */
export interface ReactionsOptions {
  readonly bot: () => Bot;
  readonly rest: DiscordRest;
  readonly memory: MessageStore;
  readonly access: Pick<Access, 'of'>;
  readonly permissions: Pick<Permissions, 'of'>;
  /** The bot's own user. @throws DailiesError */
  readonly self: () => Promise<string>;
  readonly logger: Logger;
}

/** Handles reactions: to the message of a task, and to the notices about it. Most reactions mean nothing to the bot. */
export class Reactions {
  readonly #options: ReactionsOptions;

  constructor(options: ReactionsOptions) {
    this.#options = options;
  }

  /** @throws DailiesError */
  async take(reaction: GatewayMessageReactionAddDispatchData): Promise<void> {
    const { bot, access, self } = this.#options;
    const { emoji, user_id: user, message_author_id: author, member, guild_id: guild } = reaction;
    if (emoji.name === null || reactionAction(emoji.name) === null) return;
    const own = await self();
    if (user === own || member?.user.bot === true || (author !== undefined && author !== own)) return;
    const { team } = await access.of({ guild, user, isUserInstall: false });
    if (team === null) return;
    const caller = await this.#named(
      reactorOf(reaction, { team, isManager: await this.#isManager(reaction) }),
      reaction,
    );
    const reply = await bot().react(caller, await this.#taskMessage(reaction), emoji.name);
    if (reply?.kind === 'task') await bot().show(reply.task);
  }

  /** The message that the reaction is about: the newest one in a channel is often not the task's, but a notice about it. */
  async #taskMessage({
    channel_id: channel,
    message_id: message,
  }: GatewayMessageReactionAddDispatchData): Promise<MessageRef> {
    const { memory } = this.#options;
    const task = await memory.taskOfNotice(message);
    return (task === undefined ? undefined : await memory.ofTask(task)) ?? { channel, message };
  }

  /** A reaction in a direct message does not say what its person is called. */
  async #named(caller: Caller, { member }: GatewayMessageReactionAddDispatchData): Promise<Caller> {
    if (member !== undefined) return caller;
    const { rest, logger } = this.#options;
    const { id } = caller.user;
    const call = { method: 'GET', route: Routes.user(id), doing: 'looking up who reacted' } as const;
    const name = await rest.call<APIUser>(call).then(
      (user) => nameOf(user),
      (thrown: unknown) => {
        logger.debug({ err: asDailiesError(thrown, call.doing) }, 'the name of somebody who reacted is not known');
        return id;
      },
    );
    return { ...caller, user: { id, name } };
  }

  /** A right that cannot be found out is not there. */
  async #isManager(reaction: GatewayMessageReactionAddDispatchData): Promise<boolean> {
    const { guild_id: guild, channel_id: channel, user_id: user, member } = reaction;
    if (guild === undefined || member === undefined) return false;
    try {
      return mayManage(await this.#options.permissions.of(guild, channel, { user, roles: member.roles }));
    } catch (thrown) {
      const error = asDailiesError(thrown, 'looking at the rights of somebody who reacted');
      this.#options.logger.warn({ err: error, channel }, 'the rights of somebody who reacted are not known');
      return false;
    }
  }
}
