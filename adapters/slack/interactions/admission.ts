import { type App, AuthorizationError, type RespondFn } from '@slack/bolt';
import { accessSentence } from '#commands/sentences/access.ts';
import { sentenceOf } from '#commands/sentences/errors.ts';
import { reactionAction } from '#commands/ui/buttons.ts';
import { type AccessRefusal, type AccessRules, accessRefusal, type Exception } from '#src/chat/index.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Workspace, Workspaces } from '../installation/workspaces.ts';
import { renderSentence } from '../messages/render.ts';
import type { TeamRef } from '../web-api/client.ts';
import { homeOf, type Profiles } from '../web-api/profiles.ts';
import { type MessageEvent, readAddressedMessage } from './command-text.ts';
import type { Home } from './home.ts';
import { PLATFORM, teamOf } from './listeners.ts';
import { readMetadata } from './modals.ts';
import { ReplySender, type ReplySenderOptions } from './reply-sender.ts';

interface AdmissionOptions extends ReplySenderOptions {
  readonly rules: AccessRules;
  readonly profiles: Profiles;
  readonly workspaces: Workspaces;
  readonly home: Home;
}

export interface Admission {
  readonly refusal: AccessRefusal | null;
  /** True for guests and people of other organisations, who only see some of the workspace's channels. */
  readonly isExternal: boolean;
  readonly mayAdminister: boolean;
}

/**
 * Registers the access check before every listener: a user without access gets one private sentence, and nothing else
 * happens. If Slack cannot identify the user, nothing is started: Slack retries the request, or the user is asked to.
 */
export function admit(app: App, options: AdmissionOptions): void {
  app.use(async ({ body, context, next, ...rest }) => {
    const subject = subjectOf(body as Parameters<typeof subjectOf>[0], context.botUserId ?? '');
    if (subject === null) return next();
    const to = teamOf(context, subject.team ?? '');
    const respond = 'respond' in rest ? rest.respond : undefined;
    const refuse = (sentence: string): Promise<void> => reply(options, { to, subject, respond, sentence });
    try {
      const { refusal, isExternal, mayAdminister } = await admissionOf(options, to, subject);
      Object.assign(context, { isExternal, mayAdminister });
      if (refusal !== null) return await refuse(accessSentence(refusal));
    } catch (thrown) {
      const error = asDailiesError(thrown, 'looking up a Slack user');
      if (error.retryable && error.code !== 'unauthorised') throw new AuthorizationError(error.message, error);
      return refuse(sentenceOf(error));
    }
    return next();
  });
}

export async function admissionOf(
  { rules, profiles, workspaces }: Pick<AdmissionOptions, 'rules' | 'profiles' | 'workspaces'>,
  to: TeamRef,
  subject: Pick<Subject, 'user' | 'team'>,
): Promise<Admission> {
  const workspace = await workspaces.of(to.team, to.enterprise);
  const teams = [...new Set([to.team, ...homeOf(workspace)])].filter((id) => id !== '');
  const decide = (exceptions: readonly Exception[]): Admission => ({
    refusal: accessRefusal(PLATFORM, rules, { teams, exceptions }),
    isExternal: exceptions.length > 0,
    mayAdminister: false,
  });
  const byPayload = decide(isForeign(subject, workspace) ? ['external'] : []);
  if (byPayload.refusal !== null) return byPayload;
  const profile = await profiles.of(to, subject.user);
  const isForeigner = byPayload.isExternal || profile.isExternal;
  const admission = decide([
    ...(isForeigner ? (['external'] as const) : []),
    ...(profile.isGuest ? (['guest'] as const) : []),
  ]);
  const mayAdminister = !admission.isExternal && (await profiles.isAdmin(to, subject.user));
  return { ...admission, mayAdminister };
}

/** Returns whether the payload shows another organisation; with several workspaces, only `users.info` can. */
function isForeign({ team }: Pick<Subject, 'team'>, workspace: Workspace): boolean {
  const home = homeOf(workspace);
  const isOneOfSeveral = workspace.enterprise !== undefined || workspace.id.startsWith('E');
  return team !== undefined && !isOneOfSeveral && !home.has(team);
}

interface PrivateReply {
  readonly to: TeamRef;
  readonly subject: Subject;
  readonly respond: RespondFn | undefined;
  readonly sentence: string;
}

async function reply(options: AdmissionOptions, { to, subject, respond, sentence }: PrivateReply): Promise<void> {
  const { user, channel, thread, isHome } = subject;
  if (isHome) return options.home.refuse(to, user, sentence);
  if (channel === null) return;
  await new ReplySender(options, { to, channel, thread, user, respond }).send(renderSentence(sentence), 'private');
}

/** The author of an interaction according to its payload, and the place for a private reply. */
interface Subject {
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
  readonly assistant_thread?: { readonly user_id?: string };
}

/** Returns the author of an interaction; `null` if it is no person's, or the bot ignores it. */
function subjectOf(body: Body, botUserId: string): Subject | null {
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
  const { user = event.assistant_thread?.user_id, channel = null, item } = event;
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
