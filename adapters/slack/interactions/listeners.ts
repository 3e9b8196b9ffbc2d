import { type App, AuthorizationError, type BlockAction, type Context, type RespondFn } from '@slack/bolt';
import type { Caller } from '#commands/bot-port.ts';
import { isAnsweredInPlace, parseForm, reactionAction } from '#commands/ui/buttons.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Logger } from '#src/logger.ts';
import type { Person } from '#src/tasks/task.ts';
import type { Workspaces } from '../installation/workspaces.ts';
import { isGroupName, writeAddress } from '../origin.ts';
import type { TeamRef } from '../web-api/client.ts';
import type { Permissions } from '../web-api/permissions.ts';
import type { SlackFile } from './attachments.ts';
import { type MessageEvent, saidToApp, typedText } from './command-text.ts';
import type { Interaction, InteractionHandler } from './handler.ts';
import { type Home, homeCommand } from './home.ts';
import { imageIn, type MessageLike } from './images.ts';
import type { Inbox } from './inbox.ts';
import { FORM_CALLBACK, readFilledIn, readMemory } from './modals.ts';
import { MODEL_FIELD } from './order-modal.ts';
import { submissionId } from './request-id.ts';
import { Responder, type ResponderOptions, type ResponseContext } from './responder.ts';
import type { UserNames } from './user-names.ts';

/** Collaborators of {@link registerListeners}. */
export interface ListenerOptions extends ResponderOptions {
  readonly desk: InteractionHandler;
  readonly home: Home;
  readonly inbox: () => Inbox;
  readonly people: UserNames;
  readonly permissions: Permissions;
  readonly workspaces: Workspaces;
  readonly logger: Logger;
}

/** The platform's name, as in `Origin.platform`. */
export const PLATFORM = 'slack';

/** Ids of our buttons: `retry:…`, `page:…`. */
const BUTTON = /^[a-z]+:/;
/** Buttons for which it matters whether somebody manages the channel. */
const DECIDING = /^(?:retry|cancel|lookup|again|leave|show|refetch|run):/;

/** Who did something where. */
interface Doing extends ResponseContext {
  /** As the gate left it. */
  readonly context: Context;
  readonly interaction: string;
  readonly person: Person;
  readonly mayManage?: boolean | undefined;
  /** Whether the channel's name says that it is a group message. */
  readonly isGroup?: boolean;
}

/** A message that may be for the app. */
interface SaidEvent extends MessageEvent {
  readonly channel: string;
  readonly files?: readonly SlackFile[];
}

interface Said {
  readonly event: SaidEvent;
  readonly body: { readonly team_id: string; readonly event_id: string };
  readonly context: Context;
}

/** Tells the desk of everything that people do. */
export function registerListeners(app: App, options: ListenerOptions): void {
  const interactionOf = (doing: Doing): Interaction => ({
    to: doing.to,
    caller: callerOf(doing),
    voice: new Responder(options, doing),
  });
  listenToCommands(app, options, interactionOf);
  listenToButtons(app, options, interactionOf);
  listenToForms(app, options, interactionOf);
  listenToEvents(app, options, interactionOf);
  app.error(async (thrown) => {
    // Nobody was found to do it: the inbox knows who is to be told, and what is tried again.
    if (thrown instanceof AuthorizationError) throw thrown.original;
    const error = asDailiesError(thrown, 'doing what somebody asked for on Slack');
    options.logger.warn({ err: error, code: error.code }, 'something people did could not be answered');
  });
}

type DeedOf = (doing: Doing) => Interaction;

function listenToCommands(app: App, { desk, people, permissions }: ListenerOptions, interactionOf: DeedOf): void {
  app.command('/video', async ({ command, context, respond }) => {
    const { channel_id: channel, user_id: user, trigger_id: trigger } = command;
    const to = teamOf(context, command.team_id);
    const person = await people.find(to, user, command.user_name);
    const text = typedText(command.text);
    const mayManage = /^cancel\b/iu.test(text) && (await permissions.manages(to, channel, user));
    const isGroup = isGroupName(command.channel_name);
    const doing = {
      context,
      to,
      channel,
      isGroup,
      thread: null,
      user,
      person,
      interaction: trigger,
      mayManage,
      respond,
    };
    await desk.command({ ...interactionOf(doing), trigger }, text);
  });
  // Used from the lightning bolt or the search, of no channel: the form asks for one.
  app.shortcut({ type: 'shortcut' }, async ({ shortcut, context }) => {
    const { user, trigger_id: trigger } = shortcut;
    const to = teamOf(context, user.team_id ?? '');
    const person = await people.find(to, user.id, user.username);
    const doing = { context, to, channel: user.id, thread: null, user: user.id, person, interaction: trigger };
    await desk.command({ ...interactionOf(doing), trigger }, '');
  });
  // There is one message shortcut, whatever it was called when the app was set up.
  app.shortcut({ type: 'message_action' }, async ({ shortcut, context, respond }) => {
    const { message, channel, user, trigger_id: trigger } = shortcut;
    const to = teamOf(context, user.team_id ?? '');
    const person = await people.find(to, user.id, user.name);
    const thread = message['thread_ts'] ?? message.ts;
    const where = { to, channel: channel.id, isGroup: isGroupName(channel.name), thread };
    const doing = { context, ...where, user: user.id, person, interaction: trigger, respond };
    await desk.animate({ ...interactionOf(doing), trigger }, imageIn(message as MessageLike));
  });
}

function listenToButtons(app: App, { desk, people, permissions }: ListenerOptions, interactionOf: DeedOf): void {
  app.action({ type: 'block_actions', action_id: BUTTON }, async ({ body, action, context, respond }) => {
    const { user, message, trigger_id: trigger } = body;
    if (action.type !== 'button') return;
    const button = action.action_id;
    const to = teamOf(context, body.team?.id ?? user.team_id ?? '');
    // A page has no channel: the form of a new clip asks for one, and the rest is answered in direct messages.
    const isOnHome = body.channel === undefined;
    const command = isOnHome ? homeCommand(button) : undefined;
    const onHome = async () => (command === '' ? user.id : permissions.directChannel(to, user.id));
    const channel = body.channel?.id ?? (await onHome());
    const doing = {
      context,
      to,
      channel,
      isOnHome,
      isGroup: isGroupName(body.channel?.name),
      user: user.id,
      interaction: trigger,
      // A private message comes without its thread; what it is contained in has it.
      thread: threadOfMessage(message) ?? threadOfContainer(body.container),
      person: await people.find(to, user.id, user.username),
      mayManage: DECIDING.test(button) && (await permissions.manages(to, channel, user.id)),
      respond: respond as RespondFn | undefined,
    };
    const deed = { ...interactionOf(doing), trigger };
    if (command !== undefined) return desk.command(deed, command);
    await desk.press({ ...deed, inPlace: !isOnHome && isAnsweredInPlace(button) }, button);
  });
  app.action({ type: 'block_actions', action_id: MODEL_FIELD }, async ({ body, action, context }) => {
    if (body.view === undefined || action.type !== 'static_select') return;
    const to = teamOf(context, body.team?.id ?? '');
    await desk.choose(to, body.view, action.selected_option.value);
  });
}

function listenToForms(app: App, options: ListenerOptions, interactionOf: DeedOf): void {
  const { desk, people, permissions, inbox } = options;
  app.view(FORM_CALLBACK, async ({ body, view, ack, context }) => {
    const memory = readMemory(view.private_metadata);
    if (memory === null) return ack();
    const { user } = body;
    const to = { ...teamOf(context, body.team?.id ?? ''), enterprise: memory.enterprise };
    const { thread, isGroup } = memory;
    const channel = readFilledIn(view).channel ?? memory.channel;
    const interaction = submissionId(body.view);
    const doing = {
      context,
      to,
      channel,
      ...(isGroup === true ? { isGroup } : {}),
      thread,
      user: user.id,
      interaction,
      person: await people.find(to, user.id, user.name),
      // Only who looks an uncertain clip up decides on it.
      mayManage: parseForm(memory.form)?.form === 'lookup' && (await permissions.manages(to, channel, user.id)),
    };
    const refuse = async (errors: Readonly<Record<string, string>>): Promise<boolean> => {
      const isOpen = context['isAcknowledged']?.() !== true;
      if (isOpen) await ack({ response_action: 'errors', errors });
      return isOpen;
    };
    const isRefused = await desk.submit({ deed: interactionOf(doing), memory, view, accept: () => ack(), refuse });
    // The same may be sent once more, when the reason is gone.
    if (isRefused) await inbox().forget(interaction);
  });
}

function listenToEvents(app: App, options: ListenerOptions, interactionOf: DeedOf): void {
  const { desk, home, people, permissions, workspaces } = options;
  const answer = async ({ event, body, context }: Said): Promise<void> => {
    const said = saidToApp(event, context.botUserId ?? '');
    if (said === null) return;
    const { user, text, thread } = said;
    const to = teamOf(context, body.team_id);
    const person = await people.find(to, user);
    const doing = { context, to, channel: event.channel, thread, user, person, interaction: body.event_id };
    await desk.command(interactionOf(doing), text, 'message', event.files);
  };
  app.event('app_mention', ({ event, body, context }) => answer({ event, body, context }));
  app.event('message', async ({ event, body, context }) => {
    if (event.channel_type === 'im') await answer({ event: event as SaidEvent, body, context });
  });
  app.event('reaction_added', async ({ event, body, context }) => {
    const { item, user, reaction } = event;
    if (reactionAction(reaction) === null) return;
    if (item.type !== 'message' || (event.item_user !== undefined && event.item_user !== context.botUserId)) return;
    const to = teamOf(context, body.team_id);
    const { channel, ts: message } = item;
    const [person, mayManage] = await Promise.all([people.find(to, user), permissions.manages(to, channel, user)]);
    const doing = { context, to, channel, thread: null, user, person, mayManage, interaction: body.event_id };
    await desk.react(interactionOf(doing), { channel, message }, reaction);
  });
  app.event('app_home_opened', async ({ event, body, context }) => {
    if (event.tab !== 'home') return;
    const to = teamOf(context, body.team_id);
    const { user, channel } = event;
    const person = await people.find(to, user);
    await home.show(
      to,
      callerOf({ context, to, channel, thread: null, interaction: body.event_id, person, mayManage: false }),
    );
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
export function teamOf(context: Context, given: string): TeamRef {
  const enterprise = context.isEnterpriseInstall ? context.enterpriseId : undefined;
  return { team: context.teamId ?? given, enterprise };
}

function callerOf({
  context,
  to,
  channel,
  thread,
  interaction,
  person,
  mayManage = false,
  isGroup = false,
}: Omit<Doing, 'user' | 'respond'>): Caller {
  const address = writeAddress({ thread, enterprise: to.enterprise, isGroup });
  const isExternal = context['isExternal'] === true ? { isExternal: true } : {};
  // Slack told the person that what they did has failed: it was not kept within 3 s.
  const isLate = context['isLate']?.() === true;
  return {
    platform: PLATFORM,
    team: to.team,
    channel,
    user: person,
    interaction,
    mayManage,
    ...isExternal,
    address,
    ...(isLate ? { acknowledged: () => Promise.resolve(false) } : {}),
  };
}

/** The thread of a private message whose button was pressed. */
function threadOfContainer(container: BlockAction['container']): string | null {
  const thread: unknown = container['thread_ts'];
  return typeof thread === 'string' ? thread : null;
}

/** The thread in which a message is an answer; `null` for one that stands in the channel, answered or not. */
function threadOfMessage(message: BlockAction['message']): string | null {
  const thread: unknown = message?.['thread_ts'];
  return typeof thread === 'string' && thread !== message?.ts ? thread : null;
}
