import { reactionAction } from '#commands/ui/buttons.ts';
import { type MessageEvent, readAddressedMessage } from './command-text.ts';
import { readMetadata } from './modals.ts';

/** The author of an interaction according to its payload, and the place for a private reply. */
export interface Subject {
  readonly user: string;
  /** The author's own workspace, if the payload has it; `users.info` is checked as well. */
  readonly team: string | undefined;
  /** The channel for a private reply; `null`: no reply is possible, or none is due. */
  readonly channel: string | null;
  readonly thread: string | null;
  /** True if the Home tab was opened. */
  readonly isHome: boolean;
}

/** The fields of a payload that identify its author. @see https://docs.slack.dev/reference/interaction-payloads */
interface Body {
  readonly type?: string;
  readonly command?: unknown;
  readonly user_id?: string;
  readonly team_id?: string;
  readonly channel_id?: string;
  readonly user?: { readonly id?: string; readonly team_id?: string };
  readonly team?: { readonly id?: string } | null;
  readonly channel?: { readonly id?: string };
  readonly message?: { readonly ts?: string; readonly thread_ts?: string };
  readonly view?: { readonly private_metadata?: string };
  readonly event?: SlackEvent;
}

/** @see https://docs.slack.dev/apis/events-api */
interface SlackEvent extends MessageEvent {
  readonly type?: string;
  readonly user_team?: string;
  readonly source_team?: string;
  readonly channel?: string;
  readonly reaction?: string;
  readonly item_user?: string;
  readonly item?: { readonly channel?: string };
}

/** Returns the author of an interaction; `null` if it is no person's, or the bot ignores it. */
export function subjectOf(body: Body, botUserId: string): Subject | null {
  if (body.event !== undefined) return subjectOfEvent(body.event, botUserId);
  const user = body.user_id ?? body.user?.id;
  if (user === undefined) return null;
  const { message, view } = body;
  const metadata = view?.private_metadata === undefined ? null : readMetadata(view.private_metadata);
  // A global shortcut has no channel: replies to it are direct messages.
  const direct = body.type === 'shortcut' ? user : null;
  const thread = message?.thread_ts === message?.ts ? null : (message?.thread_ts ?? null);
  return {
    user,
    team: body.user?.team_id ?? body.team_id ?? body.team?.id,
    channel: body.channel_id ?? body.channel?.id ?? metadata?.channel ?? direct,
    thread: metadata?.thread ?? thread,
    isHome: false,
  };
}

function subjectOfEvent(event: SlackEvent, botUserId: string): Subject | null {
  const { user, channel = null, item } = event;
  if (user === undefined || user === botUserId || event.bot_id !== undefined) return null;
  const team = event.user_team ?? event.source_team;
  const author = { user, team, thread: null, isHome: false };
  switch (event.type) {
    case 'app_mention':
    case 'message': {
      const said = readAddressedMessage(event, botUserId);
      return said === null ? null : { ...author, channel, thread: said.thread };
    }
    case 'reaction_added': {
      const isOurs = event.item_user === undefined || event.item_user === botUserId;
      if (!isOurs || reactionAction(event.reaction ?? '') === null) return null;
      return { ...author, channel: item?.channel ?? null };
    }
    case 'app_home_opened':
      return { ...author, channel, isHome: true };
    default:
      // All other events pass the access check as well, but are refused without a reply.
      return { ...author, channel: null };
  }
}
