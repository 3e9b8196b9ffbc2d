import { setTimeout as delay } from 'node:timers/promises';
import { slackManifest } from '#adapters/slack/installation/manifest.ts';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import { type Envelope, type FakeSlack, type Message, startSlack } from '../fakes/slack/index.ts';
import { buttonsOf, plainOf, pressOn, selectsOf } from '../fakes/slack-house.ts';
import { repliesIn, shownIn } from './chat-messages.ts';
import type { PlannedDeed } from './deeds.ts';
import type { Asked, Deleted, Kept, Pressed, Rights, Shown } from './history.ts';
import { CHAT_THRESHOLD, type ChatApprovers } from './money.ts';
import { type ChatFault, type Deletable, MISCHIEF, type Mischief, type PlannedOrder, type SlackMode } from './plan.ts';
import { cardOf, commandFor, isOnOneCard } from './sets.ts';
import {
  buttonFor,
  type ChatOrder,
  deletableIn,
  detailsPress,
  isAskedBy,
  isConfirmed,
  isReview,
  meanwhile,
  ORDER_IN,
  offeredBy,
  openDetails,
  pressesOf,
  questionAfterMs,
  reportsEnd,
  type Side,
  soon,
  taskIn,
  userOf,
} from './side.ts';

/** Rate limits too wide to reach, since a killed process cannot pass its remaining limit to the next one. */
const WIDE = { perMinute: { 1: 1_000, 2: 1_000, 3: 1_000, 4: 10_000 }, messageBurst: 1_000 };
const LIMIT_S = 1;
/** Scopes without which posting, editing or uploading fails. */
const SCOPES = ['chat:write', 'files:write', 'files:read'] as const;
/** Methods with a limit per method: messages are limited by channel, and the upload URL is no method. */
const LIMITED = ['chat.update', 'files.completeUploadExternal', 'files.getUploadURLExternal'] as const;

/** User group of the approvers. */
const GROUP = 'S0DIRECTORS';

/** Violations that are not the bot's fault: it was paused or killed, lost its store, or its clock was an hour off. */
const EXCUSED = /not acknowledged within|no acknowledgement on|answered with (5\d\d|401|408)/;

/** Slack of a run, with a user who orders there. */
export class SlackSide implements Side {
  readonly #slack: FakeSlack;
  readonly #by: SlackMode;
  /** Token as configured, kept while it is revoked. */
  readonly #botToken: string;
  readonly #deleted: (Pick<Deleted, 'id' | 'task' | 'atMs'> & { readonly wasOver: boolean })[] = [];
  #scopesTaken = 0;
  readonly #pressed: Pressed[] = [];
  /** Presses whose private replies are checked: those of reviews say what counts. */
  readonly #told: { readonly press: Pressed; readonly envelope: Envelope }[] = [];
  readonly #orders = new Map<string, ChatOrder>();
  readonly #members = new Map<string, readonly string[]>();
  readonly #asked: { readonly envelope: Envelope; readonly atMs: number; readonly order: PlannedOrder }[] = [];

  private constructor(slack: FakeSlack, by: SlackMode) {
    this.#slack = slack;
    this.#by = by;
    this.#botToken = slack.botToken;
  }

  static async start(by: SlackMode): Promise<SlackSide> {
    const manifest = slackManifest(by === 'socket' ? null : 'https://dailies.example');
    return new SlackSide(await startSlack({ manifest, limits: WIDE }), by);
  }

  get env(): Readonly<Record<string, string>> {
    const { appToken, signingSecret, apiUrl } = this.#slack;
    const own = this.#by === 'socket' ? { SLACK_APP_TOKEN: appToken } : { SLACK_SIGNING_SECRET: signingSecret };
    return { SLACK_BOT_TOKEN: this.#botToken, SLACK_API_URL: apiUrl, ...own };
  }

  get secrets(): readonly string[] {
    return [this.#botToken, this.#slack.appToken, this.#slack.signingSecret];
  }

  /** An empty acknowledgement without a later reply is a promise: the request is recorded. */
  get asked(): readonly Asked[] {
    return this.#asked.map(({ envelope, atMs, order: { takes, ordered } }) => ({
      platform: 'slack',
      id: envelope.triggerId ?? '',
      user: envelope.userId,
      channel: envelope.channelId ?? '',
      replica: 0,
      atMs,
      status: this.#isPromised(envelope) ? 202 : null,
      message: null,
      takes,
      ...(ordered === 'storyboard' ? { isAskedAbout: true } : {}),
    }));
  }

  #isPromised(envelope: Envelope): boolean {
    const isTaken = envelope.answer !== null && Object.keys(envelope.answer.payload).length === 0;
    return isTaken && this.#slack.answersTo(envelope) === 0;
  }

  get violations(): readonly string[] {
    return this.#slack.violations.filter((what) => !EXCUSED.test(what));
  }

  async ready(urls: () => readonly string[]): Promise<void> {
    if (this.#by === 'http') return this.#slack.useBalancer(() => urls().map((url) => `${url}/slack/events`));
    await this.#slack.until(() => this.#slack.socket.isConnected, 'the bot on Slack', 60_000);
  }

  get hasBot(): boolean {
    return this.#by === 'http' || this.#slack.socket.isConnected;
  }

  async govern(approvers: ChatApprovers): Promise<void> {
    const { users } = this.#slack;
    this.#slack.setAdmin(users.carol, 'is_admin');
    this.#slack.grantScopes(['usergroups:read']);
    this.#slack.setGroup(GROUP, [users.bob, users.carol]);
    this.#members.set(GROUP, [`slack:${users.bob}`, `slack:${users.carol}`]);
    await this.#administer(`/video settings --approve_above ${CHAT_THRESHOLD}`);
    if (approvers === 'administrator') return;
    const who = approvers === 'group' ? `<!subteam^${GROUP}|@directors>` : `<@${users.bob}|bob>`;
    await this.#administer(`/video approvers add ${who}`);
  }

  async switchReviewsOn(): Promise<void> {
    const { users, channels } = this.#slack;
    this.#slack.setAdmin(users.carol, 'is_admin');
    await this.#administer(`/video review on --post_to <#${channels.clips}|clips>`);
  }

  get pressed(): readonly Pressed[] {
    const answered = this.#told.flatMap(({ press, envelope }) =>
      this.#slack.repliesTo(envelope).map(({ ts }) => ({ ...press, message: ts })),
    );
    return [...this.#pressed, ...answered];
  }

  async #administer(text: string): Promise<void> {
    const slack = this.#slack;
    const user = slack.users.carol;
    const replies = () => slack.messages(slack.channels.general).filter(({ visibleTo }) => visibleTo === user).length;
    const before = replies();
    slack.people.slash(text, { user });
    await slack.until(() => replies() > before, `an answer to ${text}`);
  }

  get rights(): Rights {
    return { administrators: new Set([`slack:${this.#slack.users.carol}`]), members: this.#members };
  }

  async decide({ id }: PlannedOrder, deed: PlannedDeed, signal: AbortSignal): Promise<void> {
    const slack = this.#slack;
    const order = this.#orders.get(id);
    if (order === undefined) return;
    const user = slack.users[userOf(deed)];
    const find = () => {
      const visible = [...this.#seenBy(user), ...slack.messages(slack.dm(user))];
      const message = visible.find((one) => buttonFor(deed, order, idsOf(one)) !== undefined);
      const button = message === undefined ? undefined : buttonFor(deed, order, idsOf(message));
      return message === undefined || button === undefined ? undefined : { ts: message.ts, button };
    };
    const isInDetails = deed.on === 'clip' && order.isOnCard === true;
    const opening = isInDetails ? this.#openDetails(order, user, { find, signal }) : undefined;
    await Promise.all([opening, meanwhile(() => find() !== undefined, signal)]);
    await delay(deed.afterMs ?? 0);
    const found = find();
    if (found === undefined) return;
    const pressed = pressesOf(user, deed, order, found.button);
    this.#pressed.push(...pressed);
    const presses = Array.from({ length: deed.times }, () => pressOn(slack, found.ts, found.button, { user }));
    const values = deed.action === 'deny' ? { reason: 'too long' } : deed.values;
    if (values !== undefined) await this.#fillIn(values, user, found.button);
    const confirmed = isConfirmed(deed) ? await this.#confirm(found.button, user, deed) : null;
    const told = confirmed === null ? presses : [...presses, confirmed];
    if (isReview(deed)) this.#told.push(...pressed.flatMap((press) => told.map((envelope) => ({ press, envelope }))));
  }

  async #openDetails(
    order: ChatOrder,
    user: string,
    { find, signal }: { readonly find: () => unknown; readonly signal: AbortSignal },
  ): Promise<void> {
    const seen = () => {
      const all = this.#seenBy(user);
      const threads = new Set(all.filter(({ fileIds }) => fileIds.length > 0).map(({ threadTs }) => threadTs));
      return all.map((message) => ({ id: message.ts, buttons: idsOf(message), hasFile: threads.has(message.ts) }));
    };
    const press = (message: string, button: string, clip?: string): void => {
      const envelope = this.#slack.people.press(message, button, { user });
      if (clip !== undefined) this.#told.push({ press: detailsPress(user, clip), envelope });
    };
    await openDetails(order, () => find() !== undefined, { seen, press, signal });
  }

  /** Submits the form that a press opens, once it is in front of the user. */
  async #fillIn(values: Readonly<Record<string, string>>, user: string, button: string): Promise<void> {
    const { forms } = this.#slack;
    const [action = '', about = ''] = button.replace(cardOf(''), '').split(':');
    const view = await soon(() => {
      const top = forms.shown(user);
      return top?.privateMetadata.includes(`${action}:${about}`) === true ? top : undefined;
    });
    if (view !== undefined) forms.submit(view, values);
  }

  /** Confirms what is asked about, and only the user is shown: the price of a blind clip, or that there is a newer version. */
  async #confirm(button: string, user: string, deed: PlannedDeed): Promise<Envelope | null> {
    const own = () => this.#seenBy(user).filter(({ visibleTo }) => visibleTo === user);
    const find = () =>
      own().flatMap((message) => idsOf(message).flatMap((id) => (isAskedBy(button, id) ? [{ message, id }] : [])))[0];
    const question = await soon(find, questionAfterMs(deed));
    return question === undefined ? null : pressOn(this.#slack, question.message.ts, question.id, { user });
  }

  async order(order: PlannedOrder, nowMs: () => number): Promise<void> {
    const channel = this.#channels[this.#asked.length % 2] ?? '';
    const envelope = this.#slack.people.slash(commandFor(order), { channel });
    this.#asked.push({ envelope, atMs: nowMs(), order });
    const task = taskIdOf(`slack:${envelope.triggerId}`);
    this.#orders.set(order.id, { task, clips: order.takes, isOnCard: isOnOneCard(order) });
  }

  happen({ what, to }: Mischief): void {
    const slack = this.#slack;
    const last = this.#asked.at(-1)?.envelope;
    const method = MISCHIEF.slack.to.find((one) => one === to) ?? MISCHIEF.slack.to[0];
    const mischief: Readonly<Record<string, () => void>> = {
      drop: () => slack.dropNextAnswer(method),
      'act and fail': () => slack.failHttp(method, 500, { acts: true }),
      fail: () => slack.failHttp(method, 503),
      limit: () => slack.rateLimit(LIMITED.find((one) => one === method) ?? 'files.getUploadURLExternal', LIMIT_S),
      break: () => slack.breakSocket(),
      close: () => slack.closeSocket(),
      refresh: () => slack.disconnect('refresh_requested'),
      again: () => (last === undefined ? undefined : slack.redeliver(last)),
    };
    mischief[what]?.();
  }

  async delete(which: Deletable, nowMs: () => number): Promise<void> {
    const found = await soon(() => this.#everything().find((message) => isOne(message, which)));
    const card = found === undefined ? null : deletableIn(idsOf(found));
    if (found === undefined || card === null) return;
    const [order = '?'] = ORDER_IN.exec(plainOf(found)) ?? [];
    // The bot has recorded that it delivered all clips of a set once it tells of them.
    const isOver = taskIn(idsOf(found)) === null ? this.#isTold(order) : !card.isOpen;
    this.#slack.deleteMessage(found.ts);
    this.#deleted.push({ id: found.ts, task: card.task, atMs: nowMs(), wasOver: isOver });
  }

  /** Replies to a deleted message remain. @see https://slack.com/help/articles/202395258-Edit-or-delete-messages */
  get deleted(): readonly Deleted[] {
    return this.#deleted.map(({ wasOver, ...deleted }) => {
      const files = this.#filesIn(this.#everything().filter(({ threadTs }) => threadTs === deleted.id));
      const hadClip = files.length > 0;
      return { ...deleted, hadClip, names: files.map(({ name }) => name), wasDelivered: hadClip && wasOver };
    });
  }

  #isTold(order: string): boolean {
    const told = this.#everything().filter(({ ts }) => this.#slack.pings.some((ping) => ping.ts === ts));
    return told.map(plainOf).some((words) => words.includes(order) && reportsEnd(words));
  }

  refuse(what: Exclude<ChatFault, 'delete'>): () => void {
    const slack = this.#slack;
    if (what === 'token') {
      slack.revokeToken();
      return () => slack.restoreToken();
    }
    const scope = SCOPES[this.#scopesTaken % SCOPES.length] ?? 'files:write';
    this.#scopesTaken += 1;
    slack.removeScopes([scope]);
    return () => slack.grantScopes([scope]);
  }

  get offered(): readonly string[] {
    const messages = this.#channels.flatMap((channel) => this.#slack.messages(channel));
    return messages.flatMap((message) => offeredBy(idsOf(message)));
  }

  /** Includes what the requester got by direct message, since the channel refused it. */
  shown(kept: Kept): readonly Shown[] {
    const slack = this.#slack;
    const all = [...this.#everything(), ...slack.messages(slack.dm(slack.users.alice))];
    const messages = all.map((message) => ({
      id: message.ts,
      channel: message.channelId,
      buttons: idsOf(message),
      words: plainOf(message),
      // The files of a task are in the thread of its message; in one thread there may be those of several.
      files: this.#filesIn(all.filter(({ threadTs }) => threadTs === (message.threadTs ?? message.ts))),
      isVisible: true,
      isPinging: this.#slack.pings.some(({ ts }) => ts === message.ts),
    }));
    const told = this.#told.flatMap(({ envelope }) => slack.repliesTo(envelope));
    const replies = told.map((message) => ({
      id: message.ts,
      channel: message.channelId,
      words: plainOf(message),
      buttons: idsOf(message),
    }));
    return [...shownIn('slack', messages, kept), ...repliesIn(replies)];
  }

  close(): Promise<void> {
    return this.#slack.close();
  }

  get #channels(): readonly string[] {
    return [this.#slack.channels.general, this.#slack.channels.clips];
  }

  #filesIn(messages: readonly Message[]) {
    return messages
      .flatMap(({ fileIds }) => fileIds)
      .flatMap((id) => this.#slack.files.find((file) => file.id === id) ?? [])
      .map(({ title, length }) => ({ name: title, bytes: length }));
  }

  #seenBy(user: string): readonly Message[] {
    const all = this.#channels.flatMap((channel) => this.#slack.messages(channel));
    return all.filter(({ visibleTo }) => visibleTo === null || visibleTo === user);
  }

  #everything(): readonly Message[] {
    return this.#channels
      .flatMap((channel) => this.#slack.messages(channel))
      .filter(({ visibleTo }) => visibleTo === null);
  }
}

function idsOf(message: Message): readonly string[] {
  const options = selectsOf(message).flatMap((select) => select.options);
  return [...buttonsOf(message), ...options].map(({ id }) => id);
}

function isOne(message: Message, which: Deletable): boolean {
  const card = deletableIn(idsOf(message));
  return card !== null && card.isOpen === (which === 'running');
}
