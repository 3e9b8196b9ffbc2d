import { reactionAction } from '#commands/ui/buttons.ts';
import { type MessageEvent, saidToApp } from './command-text.ts';
import { readMemory } from './modals.ts';

/** Who does something, as far as the payload says, and where they can be told something. */
export interface Subject {
  readonly user: string;
  /** Their own workspace, where the payload says; that of `users.info` counts besides. */
  readonly team: string | undefined;
  /** Where they can be told something; `null`: nowhere, or there is nothing to tell. */
  readonly channel: string | null;
  readonly thread: string | null;
  /** Whether they look at the Home tab. */
  readonly isHome: boolean;
}

/** A body of Slack's, as far as it says who did something. @see https://docs.slack.dev/reference/interaction-payloads */
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

/** Returns who does something; `null` where no person does, or nothing comes of it. */
export function subjectOf(body: Body, botUserId: string): Subject | null {
  if (body.event !== undefined) return subjectOfEvent(body.event, botUserId);
  const user = body.user_id ?? body.user?.id;
  if (user === undefined) return null;
  const { message, view } = body;
  const memory = view?.private_metadata === undefined ? null : readMemory(view.private_metadata);
  // A global shortcut is used in no channel: who uses it is told something directly.
  const direct = body.type === 'shortcut' ? user : null;
  const thread = message?.thread_ts === message?.ts ? null : (message?.thread_ts ?? null);
  return {
    user,
    team: body.user?.team_id ?? body.team_id ?? body.team?.id,
    channel: body.channel_id ?? body.channel?.id ?? memory?.channel ?? direct,
    thread: memory?.thread ?? thread,
    isHome: false,
  };
}

function subjectOfEvent(event: SlackEvent, botUserId: string): Subject | null {
  const { user, channel = null, item } = event;
  if (user === undefined || user === botUserId || event.bot_id !== undefined) return null;
  const team = event.user_team ?? event.source_team;
  const about = { user, team, thread: null, isHome: false };
  switch (event.type) {
    case 'app_mention':
    case 'message': {
      const said = saidToApp(event, botUserId);
      return said === null ? null : { ...about, channel, thread: said.thread };
    }
    case 'reaction_added': {
      const isOurs = event.item_user === undefined || event.item_user === botUserId;
      if (!isOurs || reactionAction(event.reaction ?? '') === null) return null;
      return { ...about, channel: item?.channel ?? null };
    }
    case 'app_home_opened':
      return { ...about, channel, isHome: true };
    default:
      // Whatever else people do passes the gate as well, without a word where it is shut.
      return { ...about, channel: null };
  }
}
