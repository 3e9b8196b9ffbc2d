import { type App, AuthorizationError, type RespondFn } from '@slack/bolt';
import { accessSentence } from '#commands/sentences/access.ts';
import { sentenceOf } from '#commands/sentences.ts';
import { type AccessRefusal, type AccessRules, accessRefusal, type Exception } from '#src/chat/access.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Workspace, Workspaces } from '../installation/workspaces.ts';
import { renderSentence } from '../messages/render.ts';
import type { TeamRef } from '../web-api/client.ts';
import { homeOf, type Profiles } from '../web-api/profiles.ts';
import type { Home } from './home.ts';
import { PLATFORM, teamOf } from './listeners.ts';
import { Responder, type ResponderOptions } from './responder.ts';
import { type Subject, subjectOf } from './subject.ts';

/** Dependencies of {@link admit}. */
export interface AdmissionOptions extends ResponderOptions {
  readonly rules: AccessRules;
  readonly profiles: Profiles;
  readonly workspaces: Workspaces;
  readonly home: Home;
}

/** What is known of someone who may use the bot. */
interface Admission {
  readonly refusal: AccessRefusal | null;
  /** Whether Slack shows this person only some of the workspace's channels: of another organisation, or a guest. */
  readonly isExternal: boolean;
}

/**
 * Puts the one gate before every listener of the app: someone who may not use the bot gets one private sentence, and nothing
 * else happens. Where Slack does not say who somebody is, nothing is begun: the inbox has it tried again, or says so.
 */
export function admit(app: App, options: AdmissionOptions): void {
  app.use(async ({ body, context, next, ...rest }) => {
    const subject = subjectOf(body as Parameters<typeof subjectOf>[0], context.botUserId ?? '');
    if (subject === null) return next();
    const to = teamOf(context, subject.team ?? '');
    const respond = 'respond' in rest ? rest.respond : undefined;
    const tell = (sentence: string): Promise<void> => say(options, { to, subject, respond, sentence });
    try {
      const { refusal, isExternal } = await admissionOf(options, to, subject);
      context['isExternal'] = isExternal;
      if (refusal !== null) return await tell(accessSentence(refusal));
    } catch (thrown) {
      const error = asDailiesError(thrown, 'finding out who somebody is on Slack');
      if (error.retryable && error.code !== 'unauthorised') throw new AuthorizationError(error.message, error);
      return tell(sentenceOf(error));
    }
    return next();
  });
}

async function admissionOf(
  { rules, profiles, workspaces }: AdmissionOptions,
  to: TeamRef,
  subject: Subject,
): Promise<Admission> {
  const workspace = await workspaces.of(to.team, to.enterprise);
  const teams = [...new Set([to.team, ...homeOf(workspace)])].filter((id) => id !== '');
  const decide = (exceptions: readonly Exception[]): Admission => ({
    refusal: accessRefusal(PLATFORM, rules, { teams, exceptions }),
    isExternal: exceptions.length > 0,
  });
  const outright = decide(isForeign(subject, workspace) ? ['external'] : []);
  if (outright.refusal !== null) return outright;
  const profile = await profiles.of(to, subject.user);
  const isForeigner = outright.isExternal || profile.isExternal;
  return decide([...(isForeigner ? (['external'] as const) : []), ...(profile.isGuest ? (['guest'] as const) : [])]);
}

/** Whether the payload alone shows another organisation. In one of several workspaces, `users.info` decides. */
function isForeign({ team }: Subject, workspace: Workspace): boolean {
  const home = homeOf(workspace);
  const isOneOfSeveral = workspace.enterprise !== undefined || workspace.id.startsWith('E');
  return team !== undefined && !isOneOfSeveral && !home.has(team);
}

/** What is said to whom. */
interface Saying {
  readonly to: TeamRef;
  readonly subject: Subject;
  readonly respond: RespondFn | undefined;
  readonly sentence: string;
}

async function say(options: AdmissionOptions, { to, subject, respond, sentence }: Saying): Promise<void> {
  const { user, channel, thread, isHome } = subject;
  if (isHome) return options.home.refuse(to, user, sentence);
  if (channel === null) return;
  await new Responder(options, { to, channel, thread, user, respond }).privately(renderSentence(sentence));
}
