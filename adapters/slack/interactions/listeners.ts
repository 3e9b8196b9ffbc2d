import { type App, AuthorizationError, type BlockAction, type Context, type RespondFn } from '@slack/bolt';
import type { Bot, Caller } from '#commands/bot-port.ts';
import { HOME_COMMANDS } from '#commands/home.ts';
import { BROADCAST_WORDS } from '#commands/sentences/attachments.ts';
import { sentenceOf } from '#commands/sentences/errors.ts';
import { actionOf, isAnsweredInPlace, reactionAction } from '#commands/ui/buttons.ts';
import { parseForm } from '#commands/ui/form-ids.ts';
import { asDailiesError } from '#src/errors.ts';
import type { Workspaces } from '../installation/workspaces.ts';
import { type Broadcasts, broadcasterOf } from '../messages/broadcast.ts';
import type { LinkPreviews } from '../messages/link-previews.ts';
import { unescapeText } from '../messages/mrkdwn.ts';
import { renderSentence } from '../messages/render.ts';
import { writeAddress } from '../origin.ts';
import type { RequestState } from '../transport/dispatcher.ts';
import { submissionId } from '../transport/request-id.ts';
import type { TeamRef } from '../web-api/client.ts';
import type { Permissions } from '../web-api/permissions.ts';
import type { Profiles } from '../web-api/profiles.ts';
import type { AssistantPane } from './assistant-pane.ts';
import { imageIn, type MessageLike, type SlackFile } from './attachments.ts';
import { type MessageEvent, readAddressedMessage, typedText } from './command-text.ts';
import type { Interaction, InteractionHandler } from './handler.ts';
import type { Home } from './home.ts';
import { FORM_CALLBACK, readChoice, readFilledIn, readMetadata } from './modals.ts';
import { PRICED_FIELDS } from './order-modal.ts';
import { ReplySender, type ReplySenderOptions, type ResponseContext } from './reply-sender.ts';

interface ListenerOptions extends ReplySenderOptions {
  readonly handler: InteractionHandler;
  readonly home: Home;
  readonly pane: AssistantPane;
  readonly broadcasts: Broadcasts;
  readonly previews: LinkPreviews;
  readonly bot: Bot;
  readonly profiles: Profiles;
  readonly permissions: Permissions;
  readonly workspaces: Workspaces;
}

/** Platform name, as in `Origin.platform`. */
export const PLATFORM = 'slack';

/** Callback id of the message shortcut that makes a storyboard. */
const STORYBOARD_SHORTCUT = 'storyboard_this';

/** Matches ids of the bot's buttons, such as `retry:…`, `page:…`, and of its selects. */
const BUTTON_ID = /^[a-z]+:/;

/** Matches commands on the clips of others: what they may do depends on the right to manage the channel. */
const MANAGED_TEXT = /^(?:cancel|delete)\b/iu;

interface Source extends ResponseContext {
  /** Bolt's context, with the result of the access check. */
  readonly context: Context;
  readonly interaction: string;
  /** The user's name in the payload, for one whose profile cannot be read. */
  readonly handle?: string | undefined;
  /** True if what is asked for depends on the right to manage the channel, which is looked up then. Default: false. */
  readonly isManaged?: boolean;
  /** True if the channel's name is one of a group message. */
  readonly isGroup?: boolean;
}

/** A message event that may be for the app. */
interface IncomingMessage extends MessageEvent {
  readonly channel: string;
  readonly files?: readonly SlackFile[];
}

interface MessageArguments {
  readonly event: IncomingMessage;
  readonly body: { readonly team_id: string; readonly event_id: string };
  readonly context: Context;
}

interface AssistantArguments {
  readonly event: {
    readonly assistant_thread: { readonly user_id: string; readonly channel_id: string; readonly thread_ts: string };
  };
  readonly body: { readonly team_id: string; readonly event_id: string };
  readonly context: Context;
}

/** Registers listeners that pass every interaction to the handler. */
export function registerListeners(app: App, options: ListenerOptions): void {
  const interactionOf = async (source: Source): Promise<Interaction> => ({
    to: source.to,
    caller: await callerOf(source, options),
    replies: new ReplySender(options, source),
    acknowledge: async () => stateOf(source.context).acknowledge?.(),
  });
  const listening = { ...options, interactionOf };
  listenToCommands(app, listening);
  listenToButtons(app, listening);
  listenToForms(app, listening);
  listenToEvents(app, listening);
  app.error(async (thrown) => {
    // The workspace or the user could not be looked up: Slack retries the request, or the user is asked to.
    if (thrown instanceof AuthorizationError) throw thrown.original;
    const error = asDailiesError(thrown, 'handling a Slack interaction');
    const event = 'slack_listener_failed';
    options.logger.warn({ event, err: error, code: error.code }, 'a Slack listener failed');
  });
}

interface Listening extends ListenerOptions {
  readonly interactionOf: (source: Source) => Promise<Interaction>;
}

function listenToCommands(app: App, { handler, interactionOf }: Listening): void {
  app.command('/video', async ({ command, context, respond }) => {
    const { trigger_id: trigger } = command;
    const text = typedText(command.text);
    const interaction = await interactionOf({
      context,
      to: teamOf(context, command.team_id),
      channel: command.channel_id,
      isGroup: isGroupName(command.channel_name),
      thread: null,
      user: command.user_id,
      handle: command.user_name,
      interaction: trigger,
      isManaged: MANAGED_TEXT.test(text),
      respond,
    });
    await handler.command({ ...interaction, trigger }, text);
  });
  // The global shortcut has no channel: the modal has a field for one.
  app.shortcut({ type: 'shortcut' }, async ({ shortcut, context }) => {
    const { user, trigger_id: trigger } = shortcut;
    const to = teamOf(context, user.team_id ?? '');
    const who = { user: user.id, handle: user.username };
    const interaction = await interactionOf({
      context,
      to,
      channel: user.id,
      thread: null,
      ...who,
      interaction: trigger,
    });
    await handler.command({ ...interaction, trigger }, '');
  });
  // Callback ids in older manifests may differ: any other is that of “Animate this”.
  app.shortcut({ type: 'message_action' }, async ({ shortcut, context, respond }) => {
    const { message, channel, user, trigger_id: trigger } = shortcut;
    const to = teamOf(context, user.team_id ?? '');
    const thread = message['thread_ts'] ?? message.ts;
    const where = { to, channel: channel.id, isGroup: isGroupName(channel.name), thread };
    const who = { user: user.id, handle: user.name };
    const interaction = await interactionOf({ context, ...where, ...who, interaction: trigger, respond });
    if (shortcut.callback_id !== STORYBOARD_SHORTCUT)
      return handler.animate({ ...interaction, trigger }, imageIn(message as MessageLike));
    const text = unescapeText(message.text ?? '', { keepsMentions: false });
    await handler.storyboard({ ...interaction, trigger }, text, (message as MessageLike).files);
  });
}

/** Returns whether a channel's name is one of a group message, such as `mpdm-ada--bob-1`. */
function isGroupName(name: string | undefined): boolean {
  return name?.startsWith('mpdm-') === true;
}

function listenToButtons(app: App, { handler, home, clients, broadcasts, interactionOf }: Listening): void {
  app.action({ type: 'block_actions', action_id: BUTTON_ID }, async ({ body, action, context, respond }) => {
    const { user, message, trigger_id: trigger } = body;
    const button = pressedBy(action);
    if (button === null) return;
    const to = teamOf(context, body.team?.id ?? user.team_id ?? '');
    // The Home tab has no channel: the modal of a new clip has a field for one, other replies are direct messages.
    const isOnHome = body.channel === undefined;
    const command = isOnHome ? HOME_COMMANDS.get(button) : undefined;
    const onHome = async () => (command === '' ? user.id : clients.directChannel('answer', to, user.id));
    const source = {
      context,
      to,
      channel: body.channel?.id ?? (await onHome()),
      isOnHome,
      isGroup: isGroupName(body.channel?.name),
      user: user.id,
      handle: user.username,
      interaction: trigger,
      // Payloads of ephemeral messages have the thread only in their container.
      thread: threadOfMessage(message) ?? threadOfContainer(body.container),
      isManaged: actionOf(button).isManaged,
      respond: respond as RespondFn | undefined,
    };
    const interaction = { ...(await interactionOf(source)), trigger };
    const broadcaster = broadcasterOf(button);
    if (broadcaster !== null && message !== undefined && body.channel !== undefined) {
      const card = { channel: body.channel.id, message: message.ts };
      const sent = broadcaster === user.id ? broadcasts.send(to, card) : Promise.resolve(BROADCAST_WORDS.notYours);
      const sentence = await sent.catch((thrown: unknown) =>
        sentenceOf(asDailiesError(thrown, 'sending a clip to a channel')),
      );
      return interaction.replies.send(renderSentence(sentence), 'private');
    }
    if (command !== undefined) return handler.command(interaction, command);
    await handler.press({ ...interaction, inPlace: !isOnHome && isAnsweredInPlace(button) }, button);
    if (!isOnHome) return;
    // The tab would otherwise go on offering a decision that was just made.
    await interaction.acknowledge();
    await home.show(to, interaction.caller);
  });
  app.action({ type: 'block_actions', action_id: PRICED_FIELDS }, async ({ body, action, context }) => {
    const choice = readChoice(action);
    if (body.view === undefined || choice === null) return;
    await handler.choose(teamOf(context, body.team?.id ?? ''), body.user.id, body.view, choice);
  });
}

/** Returns the id of a pressed button, or of the chosen option of a select; `null` for any other element. */
function pressedBy(action: BlockAction['actions'][number]): string | null {
  if (action.type === 'button') return action.action_id;
  return action.type === 'static_select' ? action.selected_option.value : null;
}

function listenToForms(app: App, { handler, interactionOf }: Listening): void {
  app.view(FORM_CALLBACK, async ({ body, view, ack, context }) => {
    const metadata = readMetadata(view.private_metadata);
    if (metadata === null) return ack();
    const { user } = body;
    const to = { ...teamOf(context, body.team?.id ?? ''), enterprise: metadata.enterprise };
    const interaction = await interactionOf({
      context,
      to,
      channel: readFilledIn(view).channel ?? metadata.channel,
      isGroup: metadata.isGroup === true,
      thread: metadata.thread,
      user: user.id,
      handle: user.name,
      interaction: submissionId(body.view),
      isManaged: isManagedForm(metadata.form),
    });
    const refuse = async (errors: Readonly<Record<string, string>>): Promise<boolean> => {
      const isOpen = stateOf(context).isAcknowledged?.() !== true;
      if (isOpen) await ack({ response_action: 'errors', errors });
      return isOpen;
    };
    await handler.submit({ interaction, metadata, view, refuse });
  });
}

/** Returns true for a form whose permission depends on the caller's right to manage the channel. */
function isManagedForm(id: string): boolean {
  const form = parseForm(id)?.form;
  return form === 'lookup' || form === 'insert' || form === 'edit' || form === 'fix';
}

function listenToEvents(app: App, options: Listening): void {
  const { handler, home, pane, previews, bot, workspaces, interactionOf } = options;
  const answer = async ({ event, body, context }: MessageArguments): Promise<void> => {
    const said = readAddressedMessage(event, context.botUserId ?? '');
    if (said === null) return;
    const { user, text, thread } = said;
    const where = { to: teamOf(context, body.team_id), channel: event.channel, thread };
    const isManaged = MANAGED_TEXT.test(text);
    const interaction = await interactionOf({ context, ...where, user, isManaged, interaction: body.event_id });
    // In the assistant pane, every message is in a thread.
    const isInPane = event.channel_type === 'im' && thread !== null;
    await handler.command({ ...interaction, isInPane }, text, isInPane ? 'assistant' : 'message', event.files);
  };
  app.event('app_mention', ({ event, body, context }) => answer({ event, body, context }));
  app.event('message', async ({ event, body, context }) => {
    if (event.channel_type === 'im') await answer({ event: event as IncomingMessage, body, context });
  });
  app.event('reaction_added', async ({ event, body, context }) => {
    const { item, user, reaction } = event;
    if (reactionAction(reaction) === null) return;
    if (item.type !== 'message' || (event.item_user !== undefined && event.item_user !== context.botUserId)) return;
    const { channel, ts: message } = item;
    const where = { to: teamOf(context, body.team_id), channel, thread: null };
    const interaction = await interactionOf({ context, ...where, user, isManaged: true, interaction: body.event_id });
    await handler.react(interaction, { channel, message }, reaction);
  });
  app.event('app_home_opened', async ({ event, body, context }) => {
    if (event.tab !== 'home') return;
    const to = teamOf(context, body.team_id);
    const { user, channel } = event;
    await home.show(
      to,
      await callerOf({ context, to, channel, thread: null, user, interaction: body.event_id }, options),
    );
  });
  const suggest = async ({ event, body, context }: AssistantArguments): Promise<void> => {
    const { user_id: user, channel_id: channel, thread_ts: thread } = event.assistant_thread;
    const to = teamOf(context, body.team_id);
    const caller = await callerOf({ context, to, channel, thread, user, interaction: body.event_id }, options);
    await pane.suggest(to, { channel, thread }, caller, bot);
  };
  app.event('assistant_thread_started', suggest);
  app.event('assistant_thread_context_changed', suggest);
  app.event('link_shared', ({ event, body, context }) => previews.show(teamOf(context, body.team_id), event));
  app.event('app_uninstalled', ({ body, context }) => workspaces.forget(installedIn(context, body.team_id)));
  app.event('tokens_revoked', async ({ event, body, context }) => {
    if ((event.tokens.bot ?? []).length > 0) await workspaces.forget(installedIn(context, body.team_id));
  });
}

/** Returns the id under which an installation is stored. */
function installedIn(context: Context, team: string): string {
  return (context.isEnterpriseInstall ? context.enterpriseId : undefined) ?? team;
}

/** Returns the workspace where the app is installed, not the user's own. @param given fallback from the payload */
export function teamOf(context: Context, given: string): TeamRef {
  const enterprise = context.isEnterpriseInstall ? context.enterpriseId : undefined;
  return { team: context.teamId ?? given, enterprise };
}

function stateOf(context: Context): Partial<RequestState> {
  return context as Partial<RequestState>;
}

async function callerOf(
  { context, to, channel, thread, user, handle, interaction, isManaged = false, isGroup = false }: Source,
  { profiles, permissions }: Pick<ListenerOptions, 'profiles' | 'permissions'>,
): Promise<Caller> {
  const [person, mayManage] = await Promise.all([
    profiles.person(to, user, handle),
    isManaged && permissions.manages(to, channel, user),
  ]);
  const address = writeAddress({ thread, enterprise: to.enterprise, isGroup });
  const isExternal = context['isExternal'] === true ? { isExternal: true } : {};
  const { accepted } = stateOf(context);
  return {
    platform: PLATFORM,
    team: to.team,
    channel,
    user: person,
    interaction,
    mayManage,
    mayAdminister: context['mayAdminister'] === true,
    ...isExternal,
    address,
    ...(accepted === undefined ? {} : { acknowledged: accepted }),
  };
}

/** Returns the thread of an ephemeral message whose button was pressed. */
function threadOfContainer(container: BlockAction['container']): string | null {
  const thread: unknown = container['thread_ts'];
  return typeof thread === 'string' ? thread : null;
}

/** Returns the thread that a message replies to; `null` for one in the channel itself, with or without replies. */
function threadOfMessage(message: BlockAction['message']): string | null {
  const thread: unknown = message?.['thread_ts'];
  return typeof thread === 'string' && thread !== message?.ts ? thread : null;
}
