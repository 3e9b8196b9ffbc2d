import { BROADCAST_WORDS } from '#commands/sentences/attachments.ts';
import { type CardButton, textCard } from '#commands/ui/card.ts';
import type { MessageRef, View } from '#src/chat/index.ts';
import type { Origin } from '#src/tasks/index.ts';
import { readAddress } from '../origin.ts';
import type { TeamRef } from '../web-api/client.ts';
import type { FileRecord, MessageStore } from './message-store.ts';
import type { Messages } from './post-once.ts';
import { renderCard } from './render.ts';

/** What the id of the button begins with; the requester’s id follows. */
const PREFIX = 'broadcast:';
/** Returns the key under which the clip of a card is sent to its channel. */
export const broadcastKey = ({ channel, message }: MessageRef): string => `broadcast:${channel}:${message}`;

/** Returns the person who may press a button of {@link Broadcasts}; `null` for any other button. */
export function broadcasterOf(button: string): string | null {
  return button.startsWith(PREFIX) ? button.slice(PREFIX.length) : null;
}

interface BroadcastsOptions {
  readonly messages: Messages;
  readonly messageStore: MessageStore;
}

/** Sends clips of a thread to its channel as well, once each: with a link to the file, which is uploaded already. */
export class Broadcasts {
  readonly #options: BroadcastsOptions;

  constructor(options: BroadcastsOptions) {
    this.#options = options;
  }

  /** Returns the button for a finished clip that was ordered in a thread of a channel; nothing once it was sent. */
  async buttons(
    message: MessageRef,
    { address, channel, user }: Origin,
    view: View,
    file: FileRecord | undefined,
  ): Promise<readonly CardButton[]> {
    const isInThread = readAddress(address).thread !== null && !channel.startsWith('D');
    const isThere = message.channel === channel && file?.channel === channel && linkOf(file) !== null;
    if (view.kind !== 'task' || !isInThread || !isThere) return [];
    if ((await this.#options.messages.posted(broadcastKey(message))) !== undefined) return [];
    return [{ id: `${PREFIX}${user.id}`, label: BROADCAST_WORDS.button, style: 'plain' }];
  }

  /** Sends the clip of a card to its channel. @param pressed the card, or a reply in its place @returns a sentence */
  async send(to: TeamRef, pressed: MessageRef): Promise<string> {
    const { messages, messageStore } = this.#options;
    const message = await messageStore.standsFor(pressed);
    const key = broadcastKey(message);
    if ((await messages.posted(key)) !== undefined) return BROADCAST_WORDS.already;
    const link = linkOf(await messageStore.file(message));
    const thread = await messageStore.rootOf(message);
    if (link === null || thread === message.message) return BROADCAST_WORDS.gone;
    const body = renderCard(textCard([{ link, label: BROADCAST_WORDS.link }]), { workspaceUrl: null });
    const posted = await messages.postOnce(key, { to, channel: message.channel, thread, body, isBroadcast: true });
    // The clip may have been removed meanwhile.
    if ((await messageStore.file(message)) !== undefined) return BROADCAST_WORDS.done;
    await messages.delete(to, posted, 'deleting a message');
    return BROADCAST_WORDS.gone;
  }
}

function linkOf(file: FileRecord | undefined): string | null {
  return file?.state === 'shared' ? file.permalink : null;
}
