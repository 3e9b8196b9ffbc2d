import { elementsOf } from './blocks.ts';
import { received } from './body.ts';
import type { BlockElement } from './elements.ts';
import { mimeOf } from './file-methods.ts';
import { escaped, linked } from './mrkdwn.ts';
import { post } from './posting.ts';
import type { Channel, Envelope, Json, Message, SlackFile } from './records.ts';
import type { ResponseUrls } from './response-urls.ts';
import { Telling } from './telling.ts';
import { eventFileJson, messageJson } from './wire.ts';
import { id, present, type World } from './world.ts';

/** The acting user and the channel. */
export interface Circumstances {
  /** A user's id. Default: alice. */
  readonly user?: string;
  /** A channel's id. Default: `general`. */
  readonly channel?: string;
}

/** Options of {@link People.say}. */
export interface Said extends Circumstances {
  readonly threadTs?: string;
  readonly files?: readonly SlackFile[];
}

/** A file on a user's computer. */
export interface Upload {
  readonly name: string;
  readonly content: Buffer;
  /** Events carry only a stub of the file; files.info returns the rest. Default false. */
  readonly isStub?: boolean;
}

/**
 * Simulates the actions of users on the fake Slack. Throws an `Error` for each action that Slack's own client does not
 * allow.
 */
export class People {
  readonly #world: World;
  readonly #telling: Telling;
  readonly #defaults: { readonly user: string; readonly channel: string };

  constructor(world: World, responseUrls: ResponseUrls, defaults: { readonly user: string; readonly channel: string }) {
    this.#world = world;
    this.#telling = new Telling(world, responseUrls);
    this.#defaults = defaults;
  }

  /**
   * Enters a slash command, e.g. `/video a red fox`. Always outside threads: Slack has no slash commands in them.
   * @see docs.slack.dev/interactivity/implementing-slash-commands
   */
  slash(typed: string, circumstances: Circumstances = {}): Envelope {
    const command = /^\S+/.exec(typed)?.[0] ?? '';
    const rest = typed.slice(command.length).trim();
    const { shouldEscape } = present(this.#world.manifest.commands.get(command), `command ${command}`);
    const { userId, channel } = this.#who(circumstances);
    if (channel.kind === 'dm' && !this.#world.manifest.hasComposer) throw new Error('There is nothing to type in.');
    return this.#telling.command({ command, text: shouldEscape ? withMentions(rest) : escaped(rest), userId, channel });
  }

  /**
   * Presses a button of a message. @param which its `action_id`, or its `value` where several buttons share the action
   * id
   */
  press(ts: string, which: string, circumstances: Circumstances = {}): Envelope {
    const { message, element, blockId } = this.#element(ts, which, circumstances);
    if (element.type !== 'button') throw new Error(`${which} is no button.`);
    const { type, action_id: actionId, text, value, style } = element;
    const action = { type, action_id: actionId, text, ...(value === undefined ? {} : { value }) };
    const styled = { ...action, ...(style === undefined ? {} : { style }) };
    return this.#telling.blockAction({
      action: { ...styled, block_id: blockId },
      message,
      userId: this.#user(circumstances),
    });
  }

  /** Selects an option in a menu of a message. @param value of the option */
  choose(ts: string, actionId: string, value: string, circumstances: Circumstances = {}): Envelope {
    const { message, element, blockId } = this.#element(ts, actionId, circumstances);
    const options = (element['options'] ?? []) as readonly Json[];
    const option = present(
      options.find((one) => one['value'] === value),
      `option ${value}`,
    );
    const action = { type: element.type, action_id: actionId, block_id: blockId, selected_option: option };
    return this.#telling.blockAction({ action, message, userId: this.#user(circumstances) });
  }

  /** Uses a message shortcut (⋮ › More message shortcuts), in threads too. */
  messageShortcut(callbackId: string, ts: string, circumstances: Circumstances = {}): Envelope {
    if (this.#world.manifest.shortcuts.get(callbackId) !== 'message') throw new Error(`No shortcut ${callbackId}.`);
    return this.#telling.messageShortcut(callbackId, this.#seen(ts, circumstances), this.#user(circumstances));
  }

  /** Uses a global shortcut (⚡). */
  globalShortcut(callbackId: string, circumstances: Circumstances = {}): Envelope {
    if (this.#world.manifest.shortcuts.get(callbackId) !== 'global') throw new Error(`No shortcut ${callbackId}.`);
    return this.#telling.globalShortcut(callbackId, this.#user(circumstances));
  }

  /** Posts a message. The app receives an event only in DMs and for mentions. */
  say(typed: string, { threadTs, files = [], ...circumstances }: Said = {}): Message {
    const { userId, channel } = this.#who(circumstances);
    if (!channel.members.has(userId)) throw new Error('The person is not in the channel.');
    const place = { channel, authorId: userId, threadTs: threadTs ?? null, visibleTo: null };
    const text = withMentions(typed);
    const fileIds = files.map((one) => one.id);
    const message = post(this.#world, { ...place, fileIds }, { text, blocks: [], metadata: null });
    for (const file of files) file.shares.push({ channelId: channel.id, ts: message.ts, threadTs: message.threadTs });
    this.#telling.said(message, channel);
    return message;
  }

  /** Edits a message of the user. The app receives an event only in direct messages. */
  edit(ts: string, typed: string): void {
    const message = this.#world.message(ts);
    const before = { ...message };
    Object.assign(message, { text: linked(typed) });
    this.#telling.changed(message, before);
  }

  /** Mentions the app: `@dailies typed`. */
  mention(typed: string, said: Said = {}): Message {
    const { channel } = this.#who(said);
    return this.say(`<@${this.#world.team(channel.teamId).botUserId}> ${typed}`, said);
  }

  /** Uploads a file of a user without sharing it yet, for {@link say} and for file inputs. */
  upload({ name, content, isStub = false }: Upload, circumstances: Circumstances = {}): SlackFile {
    const userId = this.#user(circumstances);
    const { sha256 } = received(content);
    const file: SlackFile = {
      id: id('F'),
      teamId: this.#world.user(userId).teamId,
      ownerId: userId,
      name,
      title: name,
      mimeType: mimeOf(name),
      altText: null,
      length: content.length,
      sha256,
      content,
      isComplete: true,
      hiddenShares: 0,
      isStub,
      isDeleted: false,
      shares: [],
    };
    this.#world.files.set(file.id, file);
    return file;
  }

  /** Returns a file in the form in which the app receives it from a modal. */
  fileInForm(file: SlackFile): Json {
    return eventFileJson(this.#world, file.id);
  }

  /** Adds a reaction. @param emoji its name without colons, e.g. `repeat` */
  react(ts: string, emoji: string, circumstances: Circumstances = {}): void {
    const message = this.#seen(ts, circumstances);
    const userId = this.#user(circumstances);
    if (message.visibleTo !== null) throw new Error('There are no reactions to ephemeral messages.');
    message.reactions.set(emoji, new Set([...(message.reactions.get(emoji) ?? []), userId]));
    this.#telling.reacted(message, emoji, userId);
  }

  /** Invites the app into a channel. */
  invite(channelId: string, circumstances: Circumstances = {}): void {
    const channel = this.#world.channel(channelId);
    const { botUserId } = this.#world.team(channel.teamId);
    channel.members.add(botUserId);
    this.#telling.event(channel.teamId, 'member_joined_channel', {
      user: botUserId,
      channel: channel.id,
      channel_type: 'C',
      team: channel.teamId,
      inviter: this.#user(circumstances),
    });
  }

  /** Opens the app's Home tab. @see docs.slack.dev/reference/events/app_home_opened */
  openHome(circumstances: Circumstances = {}): Envelope | null {
    const userId = this.#user(circumstances);
    return this.#telling.homeOpened(userId);
  }

  /** Opens a new thread in the assistant pane, beside a channel. @returns its first message, which is the app's */
  openPane({ channel, ...circumstances }: Circumstances = {}): Message {
    const userId = this.#user(circumstances);
    const dm = this.#world.dmWith(userId);
    const place = { channel: dm, authorId: this.#world.team(dm.teamId).botUserId, threadTs: null, visibleTo: null };
    const thread = post(this.#world, place, { text: 'New conversation', blocks: [], metadata: null });
    this.#world.panes.set(thread.ts, { status: '', atMs: this.#world.clock.now() });
    this.#telling.pane('started', thread, userId, channel ?? this.#defaults.channel);
    return thread;
  }

  /** Goes to another channel while a thread of the assistant pane is open. */
  lookElsewhere(thread: Message, channel: string, circumstances: Circumstances = {}): Envelope | null {
    return this.#telling.pane('context_changed', thread, this.#user(circumstances), channel);
  }

  #user({ user }: Circumstances): string {
    return this.#world.user(user ?? this.#defaults.user).id;
  }

  #who(circumstances: Circumstances): { userId: string; channel: Channel } {
    const channel = this.#world.channel(circumstances.channel ?? this.#defaults.channel);
    const userId = this.#user(circumstances);
    if (!isShownTo(userId, channel)) throw new Error('The person does not see the channel.');
    return { userId, channel };
  }

  /** @throws Error if the user's client does not show the message */
  #seen(ts: string, circumstances: Circumstances): Message {
    const message = this.#world.message(ts);
    const user = this.#user(circumstances);
    const isInView = isShownTo(user, this.#world.channel(message.channelId));
    const isShown = isInView && !message.isDeleted && (message.visibleTo ?? user) === user;
    if (!isShown) throw new Error(`The person does not see message ${ts}.`);
    return message;
  }

  #element(
    ts: string,
    which: string,
    circumstances: Circumstances,
  ): { message: Message; element: BlockElement; blockId: string } {
    const message = this.#seen(ts, circumstances);
    for (const block of message.blocks) {
      const found = elementsOf(block).find((one) => one.action_id === which || one['value'] === which);
      if (found !== undefined) return { message, element: found, blockId: block.block_id };
    }
    throw new Error(`There is no ${which} on message ${ts}: ${JSON.stringify(messageJson(this.#world, message))}`);
  }
}

/** Returns typed text with its mentions, which the client completes, and its URLs as links. */
function withMentions(typed: string): string {
  return typed.replace(/[^<>]+|<[^>]*>|[<>]/g, (part) => (/^<[@#!]/.test(part) ? part : linked(part)));
}

/**
 * Returns whether a user sees a channel: public channels are visible to the whole workspace, others to their members.
 * @see docs.slack.dev/reference/objects/conversation-object
 */
function isShownTo(userId: string, { kind, members }: Channel): boolean {
  return kind === 'public' || members.has(userId);
}
