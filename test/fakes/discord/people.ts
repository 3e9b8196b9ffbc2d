import { type Component, walk } from './components.ts';
import type { UploadedFile } from './files.ts';
import { type Entries, modalData } from './filling.ts';
import { type Circumstances, interact } from './interacting.ts';
import { announce, INTENTS } from './posting.ts';
import type { Interaction, Message } from './records.ts';
import { commandData, findCommand, type Given } from './typing.ts';
import { isShown, memberJson, messageJson, userJson } from './wire.ts';
import { present, type World } from './world.ts';

/**
 * Simulates the actions of users on the fake Discord. Throws an `Error` for each action that Discord's own client does
 * not allow.
 */
export class People {
  readonly #world: World;
  readonly #defaults: { readonly user: string; readonly channel: string };

  constructor(world: World, defaults: { readonly user: string; readonly channel: string }) {
    this.#world = world;
    this.#defaults = defaults;
  }

  /** Sends a slash command, written with its subcommands: `video create`. */
  slash(typed: string, options: Given = {}, circumstances: Circumstances = {}): Interaction {
    const channelId = circumstances.channel ?? this.#defaults.channel;
    const data = commandData(
      this.#world,
      findCommand(this.#world, typed, channelId),
      options,
      null,
      this.#as(circumstances),
    );
    return this.#do('command', data, channelId, circumstances);
  }

  /** Enters text into an option that has autocomplete. */
  autocomplete(typed: string, options: Given, focused: string, circumstances: Circumstances = {}): Interaction {
    const channelId = circumstances.channel ?? this.#defaults.channel;
    const found = findCommand(this.#world, typed, channelId);
    const option = present(
      found.options.find(({ name }) => name === focused),
      `option ${focused}`,
    );
    if (option.autocomplete !== true) throw new Error(`${focused} has no autocomplete.`);
    return this.#do('autocomplete', commandData(this.#world, found, options, focused), channelId, circumstances);
  }

  /** Uses a message command (Apps › name) on a message. */
  messageCommand(name: string, messageId: string, circumstances: Circumstances = {}): Interaction {
    const message = this.#seen(messageId, circumstances);
    const { command } = findCommand(this.#world, name, message.channelId, 3);
    const messages = { [message.id]: messageJson(this.#world, message, true) };
    const where = command['guild_id'] === undefined ? {} : { guild_id: command['guild_id'] };
    const data = { id: command['id'], name, type: 3, target_id: message.id, resolved: { messages }, ...where };
    return this.#do('command', data, message.channelId, circumstances);
  }

  /**
   * Uses a user command (Apps › name) on a person. @see discord docs: interactions/application-commands, "User Commands":
   * `target_id` and the user in `resolved`, with the member in a server
   */
  userCommand(name: string, targetId: string, circumstances: Circumstances = {}): Interaction {
    const channelId = circumstances.channel ?? this.#defaults.channel;
    const { command } = findCommand(this.#world, name, channelId, 2);
    const target = this.#world.user(targetId);
    const { user: _user, ...member } = memberJson(target) as { readonly user: unknown };
    const isInServer = this.#world.channel(channelId).guildId !== null;
    const resolved = {
      users: { [targetId]: userJson(target) },
      ...(isInServer ? { members: { [targetId]: member } } : {}),
    };
    const where = command['guild_id'] === undefined ? {} : { guild_id: command['guild_id'] };
    const data = { id: command['id'], name, type: 2, target_id: targetId, resolved, ...where };
    return this.#do('command', data, channelId, circumstances);
  }

  /** Presses a button. */
  press(messageId: string, customId: string, circumstances: Circumstances = {}): Interaction {
    const { message, component } = this.#component(messageId, customId, circumstances);
    if (component.type !== 2) throw new Error(`${customId} is no button.`);
    const data = { custom_id: customId, component_type: 2, id: component.id ?? 0 };
    return this.#do('component', data, message.channelId, circumstances, message);
  }

  /** Selects options in a select menu. */
  select(
    messageId: string,
    customId: string,
    values: readonly string[],
    circumstances: Circumstances = {},
  ): Interaction {
    const { message, component } = this.#component(messageId, customId, circumstances);
    const data = { custom_id: customId, component_type: component.type, id: component.id ?? 0, values };
    return this.#do('component', data, message.channelId, circumstances, message);
  }

  /** Submits the modal that was the response to an interaction. */
  submitModal(opener: Interaction, entries: Entries = {}, circumstances: Circumstances = {}): Interaction {
    const who = { user: opener.userId, ...circumstances };
    const data = modalData(this.#world, opener, entries, this.#as(who));
    const source = opener.sourceId === null ? null : (this.#world.messages.get(opener.sourceId) ?? null);
    return this.#do('modal', data, opener.channelId, who, source);
  }

  /** Posts a message. */
  say(content: string, files: readonly UploadedFile[] = [], circumstances: Circumstances = {}): Message {
    const channel = this.#world.channel(circumstances.channel ?? this.#defaults.channel);
    const add = (file: UploadedFile) => this.#world.files.add(this.#world.freshId(), channel.id, file, null);
    const message: Message = {
      id: this.#world.freshId(),
      channelId: channel.id,
      author: this.#world.user(circumstances.user ?? this.#defaults.user),
      createdMs: this.#world.clock.now(),
      nonce: null,
      replyTo: null,
      interactionId: null,
      visibleTo: null,
      content,
      embeds: [],
      components: [],
      flags: 0,
      attachments: files.map(add),
      mentions: [...content.matchAll(/<@!?(\d+)>/g)].map(([, id]) => id ?? ''),
      editedMs: null,
      edits: 0,
      isDeleted: false,
      reactions: new Map(),
    };
    this.#world.messages.set(message.id, message);
    announce(this.#world, channel, message, 'MESSAGE_CREATE');
    return message;
  }

  /** Adds a reaction. @see discord docs: events/gateway-events, "Message Reaction Add" */
  react(messageId: string, emoji: string, circumstances: Circumstances = {}): void {
    const message = this.#seen(messageId, circumstances);
    const user = this.#world.user(circumstances.user ?? this.#defaults.user);
    const channel = this.#world.channel(message.channelId);
    message.reactions.set(emoji, new Set([...(message.reactions.get(emoji) ?? []), user.id]));
    const isDirect = channel.guildId === null;
    if (!this.#world.isSeen(channel) || message.visibleTo !== null) return;
    this.#world.dispatch(
      'MESSAGE_REACTION_ADD',
      {
        user_id: user.id,
        channel_id: channel.id,
        message_id: message.id,
        message_author_id: message.author.id,
        emoji: { id: null, name: emoji },
        burst: false,
        type: 0,
        ...(isDirect ? {} : { guild_id: channel.guildId, member: memberJson(user) }),
      },
      isDirect ? INTENTS.directReactions : INTENTS.guildReactions,
    );
  }

  #as({ user = this.#defaults.user, permissions = [] }: Circumstances) {
    return { userId: user, permissions };
  }

  #do(
    kind: Interaction['kind'],
    data: Interaction['payload'],
    channelId: string,
    circumstances: Circumstances,
    source: Message | null = null,
  ): Interaction {
    const message = source === null ? {} : { message: messageJson(this.#world, source) };
    const userId = circumstances.user ?? this.#defaults.user;
    return interact(this.#world, {
      kind,
      userId,
      channelId,
      data,
      sourceId: source?.id ?? null,
      circumstances,
      ...message,
    });
  }

  /** @throws Error if the user's client does not show the message */
  #seen(messageId: string, circumstances: Circumstances): Message {
    const message = present(this.#world.messages.get(messageId), `message ${messageId}`);
    const user = circumstances.user ?? this.#defaults.user;
    const isSeen = this.#world.isSeenBy(user, this.#world.channel(message.channelId));
    if (isSeen && isShown(message, user)) return message;
    throw new Error(`The person does not see message ${messageId}.`);
  }

  #component(
    messageId: string,
    customId: string,
    circumstances: Circumstances,
  ): { message: Message; component: Component } {
    const message = this.#seen(messageId, circumstances);
    const component = present(
      walk(message.components).find((one) => one.custom_id === customId),
      `component ${customId} on the message`,
    );
    if (component.disabled === true) throw new Error(`${customId} is disabled.`);
    return { message, component };
  }
}
