import { type App, AuthorizationError, type BlockAction, type Context, type RespondFn } from '@slack/bolt';
import { parseForm, reactionAction } from '#commands/buttons.ts';
import type { Caller } from '#commands/command.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Person } from '#src/tasks/task.ts';
import { writeAddress } from './address.ts';
import type { TeamRef } from './clients.ts';
import { mentionedText, typedText } from './commands-text.ts';
import type { Deed, Desk } from './desk.ts';
import type { Home } from './home.ts';
import { imageIn, type MessageLike } from './images.ts';
import type { Inbox } from './inbox.ts';
import { MODEL_FIELD } from './order-form.ts';
import type { People } from './people.ts';
import type { Permissions } from './permissions.ts';
import { submissionId } from './requests.ts';
import { FORM_CALLBACK, readMemory } from './views.ts';
import { type Situation, Voice, type VoiceOptions } from './voice.ts';
import type { Workspaces } from './workspaces.ts';

/** Collaborators of {@link listen}. */
export interface ListenerOptions extends VoiceOptions {
  readonly desk: Desk;
  readonly home: Home;
  readonly inbox: () => Inbox;
  readonly people: People;
  readonly permissions: Permissions;
  readonly workspaces: Workspaces;
  readonly logger: Logger;
}

/** The platform's name, as in `Origin.platform`. */
export const PLATFORM = 'slack';

/** Ids of our buttons: `retry:…`, `page:…`. */
const BUTTON = /^[a-z]+:/;
/** Buttons for which it matters whether somebody manages the channel. */
const DECIDING = /^(?:retry|cancel|lookup|again|leave|show|refetch):/;

/** Who did something where. */
interface Doing extends Situation {
  readonly interaction: string;
  readonly person: Person;
  readonly mayManage?: boolean | undefined;
}

/** Tells the desk of everything that people do. */
export function listen(app: App, options: ListenerOptions): void {
  const deedOf = ({ to, channel, thread, interaction, person, mayManage = false, ...rest }: Doing): Deed => ({
    to,
    caller: callerOf({ to, channel, thread, interaction, person, mayManage }),
    voice: new Voice(options, { to, channel, thread, ...rest }),
  });
  listenToCommands(app, options, deedOf);
  listenToButtons(app, options, deedOf);
  listenToForms(app, options, deedOf);
  listenToEvents(app, options, deedOf);
  app.error(async (thrown) => {
    // Nobody was found to do it: the inbox knows who is to be told, and what is tried again.
    if (thrown instanceof AuthorizationError) throw thrown.original;
    const error = asDailiesError(thrown, 'doing what somebody asked for on Slack');
    options.logger.warn({ err: error, code: error.code }, 'something people did could not be answered');
  });
}

type DeedOf = (doing: Doing) => Deed;

function listenToCommands(app: App, { desk, people, permissions }: ListenerOptions, deedOf: DeedOf): void {
  app.command('/video', async ({ command, context, respond }) => {
    const { channel_id: channel, user_id: user, trigger_id: trigger } = command;
    const to = teamOf(context, command.team_id);
    const person = people.known(to, user, command.user_name);
    const text = typedText(command.text);
    const mayManage = /^cancel\b/iu.test(text) && (await permissions.manages(to, channel, user));
    const doing = { to, channel, thread: null, user, person, interaction: trigger, mayManage, respond };
    await desk.command({ ...deedOf(doing), trigger }, text);
  });
  // There is one message shortcut, whatever it was called when the app was set up.
  app.shortcut({ type: 'message_action' }, async ({ shortcut, context, respond }) => {
    const { message, channel, user, trigger_id: trigger } = shortcut;
    const to = teamOf(context, user.team_id ?? '');
    const person = people.known(to, user.id, user.name);
    const thread = message['thread_ts'] ?? message.ts;
    const doing = { to, channel: channel.id, thread, user: user.id, person, interaction: trigger, respond };
    await desk.animate({ ...deedOf(doing), trigger }, imageIn(message as MessageLike));
  });
}

function listenToButtons(app: App, { desk, people, permissions }: ListenerOptions, deedOf: DeedOf): void {
  app.action({ type: 'block_actions', action_id: BUTTON }, async ({ body, action, context, respond }) => {
    const { channel, user, message, trigger_id: trigger } = body;
    if (channel === undefined || action.type !== 'button') return;
    const button = action.action_id;
    const to = teamOf(context, body.team?.id ?? user.team_id ?? '');
    const doing = {
      to,
      channel: channel.id,
      user: user.id,
      interaction: trigger,
      thread: threadOfMessage(message),
      person: people.known(to, user.id, user.username),
      mayManage: DECIDING.test(button) && (await permissions.manages(to, channel.id, user.id)),
      respond: respond as RespondFn | undefined,
    };
    await desk.press({ ...deedOf(doing), trigger, inPlace: button.startsWith('page:') }, button);
  });
  app.action({ type: 'block_actions', action_id: MODEL_FIELD }, async ({ body, action, context }) => {
    if (body.view === undefined || action.type !== 'static_select') return;
    const to = teamOf(context, body.team?.id ?? '');
    await desk.choose(to, body.view, action.selected_option.value);
  });
}

function listenToForms(app: App, options: ListenerOptions, deedOf: DeedOf): void {
  const { desk, people, permissions, inbox } = options;
  app.view(FORM_CALLBACK, async ({ body, view, ack, context }) => {
    const memory = readMemory(view.private_metadata);
    if (memory === null) return ack();
    const { user } = body;
    const to = { ...teamOf(context, body.team?.id ?? ''), enterprise: memory.enterprise };
    const { channel, thread } = memory;
    const interaction = submissionId(body.view);
    const doing = {
      to,
      channel,
      thread,
      user: user.id,
      interaction,
      person: people.known(to, user.id, user.name),
      // Only who looks an uncertain clip up decides on it.
      mayManage: parseForm(memory.form)?.form === 'lookup' && (await permissions.manages(to, channel, user.id)),
    };
    const refuse = async (errors: Readonly<Record<string, string>>): Promise<boolean> => {
      const isOpen = context['isAcknowledged']?.() !== true;
      if (isOpen) await ack({ response_action: 'errors', errors });
      return isOpen;
    };
    const isRefused = await desk.submit({ deed: deedOf(doing), memory, view, accept: () => ack(), refuse });
    // The same may be sent once more, when the reason is gone.
    if (isRefused) await inbox().forget(interaction);
  });
}

function listenToEvents(app: App, options: ListenerOptions, deedOf: DeedOf): void {
  const { desk, home, people, permissions, workspaces } = options;
  app.event('app_mention', async ({ event, body, context }) => {
    const text = mentionedText(event.text, context.botUserId ?? '');
    const isOurs = 'bot_id' in event && event.bot_id !== undefined;
    // An edited message was answered when it was new.
    if (text === null || event.user === undefined || isOurs || event.edited !== undefined) return;
    const to = teamOf(context, body.team_id);
    const thread = event.thread_ts ?? event.ts;
    const person = await people.find(to, event.user);
    const doing = { to, channel: event.channel, thread, user: event.user, person, interaction: body.event_id };
    const { files = [] } = event as { files?: readonly { id: string }[] };
    await desk.command(deedOf(doing), text, files);
  });
  app.event('reaction_added', async ({ event, body, context }) => {
    const { item, user, reaction } = event;
    if (reactionAction(reaction) === null) return;
    if (item.type !== 'message' || (event.item_user !== undefined && event.item_user !== context.botUserId)) return;
    const to = teamOf(context, body.team_id);
    const { channel, ts: message } = item;
    const [person, mayManage] = await Promise.all([people.find(to, user), permissions.manages(to, channel, user)]);
    const doing = { to, channel, thread: null, user, person, mayManage, interaction: body.event_id };
    await desk.react(deedOf(doing), { channel, message }, reaction);
  });
  app.event('app_home_opened', async ({ event, body, context }) => {
    if (event.tab !== 'home') return;
    const to = teamOf(context, body.team_id);
    const { user, channel } = event;
    const person = people.known(to, user, undefined);
    await home.show(to, callerOf({ to, channel, thread: null, interaction: body.event_id, person, mayManage: false }));
  });
  app.event('app_uninstalled', ({ body, context }) => workspaces.forget(installedIn(context, body.team_id)));
  app.event('tokens_revoked', async ({ event, body, context }) => {
    if ((event.tokens.bot ?? []).length > 0) await workspaces.forget(installedIn(context, body.team_id));
  });
}

/** Under which id an installation is kept. */
function installedIn(context: Context, team: string): string {
  return (context.isEnterpriseInstall ? context.enterpriseId : undefined) ?? team;
}

/** The workspace where the app is installed, whoever's workspace the person is of. */
function teamOf(context: Context, given: string): TeamRef {
  const enterprise = context.isEnterpriseInstall ? context.enterpriseId : undefined;
  return { team: context.teamId ?? given, enterprise };
}

function callerOf({
  to,
  channel,
  thread,
  interaction,
  person,
  mayManage,
}: Pick<Doing, 'to' | 'channel' | 'thread' | 'interaction' | 'person'> & { readonly mayManage: boolean }): Caller {
  const address = writeAddress({ thread, enterprise: to.enterprise });
  return { platform: PLATFORM, team: to.team, channel, user: person, interaction, mayManage, address };
}

/** The thread in which a message is an answer; `null` for one that stands in the channel, answered or not. */
function threadOfMessage(message: BlockAction['message']): string | null {
  const thread: unknown = message?.['thread_ts'];
  return typeof thread === 'string' && thread !== message?.ts ? thread : null;
}
