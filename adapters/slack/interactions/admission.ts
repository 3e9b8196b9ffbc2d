import { type App, AuthorizationError, type RespondFn } from '@slack/bolt';
import { accessSentence } from '#commands/sentences/access.ts';
import { sentenceOf } from '#commands/sentences/errors.ts';
import { type AccessRefusal, type AccessRules, accessRefusal, type Exception } from '#src/chat/index.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Workspace, Workspaces } from '../installation/workspaces.ts';
import { renderSentence } from '../messages/render.ts';
import type { TeamRef } from '../web-api/client.ts';
import { homeOf, type Profiles } from '../web-api/profiles.ts';
import type { Home } from './home.ts';
import { PLATFORM, teamOf } from './listeners.ts';
import { ReplySender, type ReplySenderOptions } from './reply-sender.ts';
import { type Subject, subjectOf } from './subject.ts';

/** Options of {@link admit}. */
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
