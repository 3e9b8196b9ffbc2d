import { setTimeout as delay } from 'node:timers/promises';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import { type FakeDiscord, type Interaction, type Message, startDiscord } from '../fakes/discord/index.ts';
import { buttonsOf, plainOf, pressOn, selectsOf } from '../fakes/discord-house.ts';
import { repliesIn, shownIn } from './chat-messages.ts';
import type { PlannedDeed } from './deeds.ts';
import type { Asked, Deleted, Kept, Pressed, Rights, Shown } from './history.ts';
import { CHAT_THRESHOLD, type ChatApprovers, COMPARED } from './money.ts';
import { type ChatFault, type Deletable, MISCHIEF, type Mischief, type PlannedOrder } from './plan.ts';
import { isOnOneCard, shotsOf } from './sets.ts';
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
  userOf,
} from './side.ts';

/** Rate limits too wide to reach, since a killed process cannot pass its remaining limit to the next one. */
const WIDE = { limit: 1_000, windowMs: 1_000 };

/** Interaction response that opens a modal. @see discord docs: interactions/receiving-and-responding */
const MODAL = 9;

/** User who acts, with their permissions. */
type As = ReturnType<DiscordSide['asUser']>;

/** Discord of a run, with a user who orders there. */
export class DiscordSide implements Side {
  readonly #discord: FakeDiscord;
  readonly #interactions: Interaction[] = [];
  #ordered = 0;
  readonly asked: Asked[] = [];
  readonly deleted: Deleted[] = [];
  readonly #pressed: Pressed[] = [];
  /** Presses and forms whose private replies are checked: those of reviews say what counts. */
  readonly #told: { readonly press: Pressed; readonly interaction: Interaction }[] = [];
  readonly #orders = new Map<string, ChatOrder>();
  readonly #members = new Map<string, readonly string[]>();

  private constructor(discord: FakeDiscord) {
    this.#discord = discord;
  }

  static async start(): Promise<DiscordSide> {
    return new DiscordSide(
      await startDiscord({ limits: { edit: WIDE, webhook: WIDE, send: WIDE, other: WIDE, global: WIDE } }),
    );
  }

  get env(): Readonly<Record<string, string>> {
    return this.#discord.env;
  }

  get secrets(): readonly string[] {
    return [this.#discord.token];
  }

  /** Violations except late responses, which are expected of paused or killed processes. */
  get violations(): readonly string[] {
    return this.#discord.violations.filter((what) => !/^(no|late) answer to/.test(what));
  }

  ready(): Promise<void> {
    return this.#discord.botReady();
  }

  get hasBot(): boolean {
    return this.#discord.gateway.isConnected;
  }

  async govern(approvers: ChatApprovers): Promise<void> {
    const { users } = this.#discord;
    const role = this.#discord.addRole('directors');
    for (const user of [users.bob, users.carol]) this.#discord.setRoles(user, [role]);
    this.#members.set(role, [`discord:${users.bob}`, `discord:${users.carol}`]);
    await this.#administer('video-admin settings', { approve_above: CHAT_THRESHOLD });
    if (approvers === 'administrator') return;
    await this.#administer('video-admin approvers', { who: approvers === 'group' ? role : users.bob });
  }

  switchReviewsOn(): Promise<void> {
    return this.#administer('video-admin review', { state: 'on', post_to: this.#discord.channels.clips });
  }

  get pressed(): readonly Pressed[] {
    const answered = this.#told.map(({ press, interaction }) => ({
      ...press,
      message: this.#discord.original(interaction)?.id ?? null,
    }));
    return [...this.#pressed, ...answered];
  }

  async #administer(command: string, options: Readonly<Record<string, string>>): Promise<void> {
    const discord = this.#discord;
    const interaction = discord.people.slash(command, options, this.asUser('carol'));
    const isDone = () => plainOf(discord.original(interaction) ?? { content: '', components: [] }) !== '';
    await discord.until(isDone, `an answer to ${command}`);
  }

  /** Returns a user; only Carol may administer the server. */
  asUser(name: 'alice' | 'bob' | 'carol') {
    return { user: this.#discord.users[name], permissions: name === 'carol' ? (['MANAGE_GUILD'] as const) : [] };
  }

  get rights(): Rights {
    return { administrators: new Set([`discord:${this.#discord.users.carol}`]), members: this.#members };
  }

  async decide({ id }: PlannedOrder, deed: PlannedDeed, signal: AbortSignal): Promise<void> {
    const discord = this.#discord;
    const order = this.#orders.get(id);
    if (order === undefined) return;
    const as = this.asUser(userOf(deed));
    const seen = () => [...this.#everything(), ...discord.messages(discord.dm(as.user))];
    const find = () => {
      const visible = seen().filter(({ visibleTo }) => visibleTo === null || visibleTo === as.user);
      const message = visible.find((one) => buttonFor(deed, order, idsOf(one)) !== undefined);
      const button = message === undefined ? undefined : buttonFor(deed, order, idsOf(message));
      return message === undefined || button === undefined ? undefined : { message: message.id, button };
    };
    const isInDetails = deed.on === 'clip' && order.isOnCard === true;
    const opening = isInDetails ? this.#openDetails(order, as, { find, signal }) : undefined;
    await Promise.all([opening, meanwhile(() => find() !== undefined, signal)]);
    await delay(deed.afterMs ?? 0);
    const found = find();
    if (found === undefined) return;
    const pressed = pressesOf(as.user, deed, order, found.button);
    this.#pressed.push(...pressed);
    const presses = Array.from({ length: deed.times }, () => pressOn(discord, found.message, found.button, as));
    const values = deed.action === 'deny' ? { reason: 'too long' } : deed.values;
    const submitted = values === undefined ? null : await this.#fillIn(presses, values, as);
    const confirmed = isConfirmed(deed) ? await this.#confirm(found.button, as, deed) : null;
    const told = [...presses, submitted, confirmed].filter((interaction) => interaction !== null);
    if (isReview(deed))
      this.#told.push(...pressed.flatMap((press) => told.map((interaction) => ({ press, interaction }))));
  }

  async #openDetails(
    order: ChatOrder,
    as: As,
    { find, signal }: { readonly find: () => unknown; readonly signal: AbortSignal },
  ): Promise<void> {
    const seen = () =>
      this.#everything()
        .filter(({ visibleTo }) => visibleTo === null || visibleTo === as.user)
        .map((message) => ({
          id: message.id,
          buttons: idsOf(message),
          hasFile: message.visibleTo === null && message.attachments.length > 0,
        }));
    const press = (message: string, button: string, clip?: string): void => {
      const interaction = this.#discord.people.press(message, button, as);
      if (clip !== undefined) this.#told.push({ press: detailsPress(as.user, clip), interaction });
    };
    await openDetails(order, () => find() !== undefined, { seen, press, signal });
  }

  /** Submits the form that one of the presses opens. */
  async #fillIn(
    presses: readonly Interaction[],
    values: Readonly<Record<string, string>>,
    as: As,
  ): Promise<Interaction | null> {
    const opener = await soon(() => presses.find(({ answer }) => answer?.type === MODAL));
    return opener === undefined ? null : this.#discord.people.submitModal(opener, values, as);
  }

  /** Confirms what is asked about, and only the user is shown: the price of a blind clip, or that there is a newer version. */
  async #confirm(button: string, as: As, deed: PlannedDeed): Promise<Interaction | null> {
    const own = () => this.#everything().filter(({ visibleTo }) => visibleTo === as.user);
    const find = () =>
      own().flatMap((message) => idsOf(message).flatMap((id) => (isAskedBy(button, id) ? [{ message, id }] : [])))[0];
    const question = await soon(find, questionAfterMs(deed));
    return question === undefined ? null : pressOn(this.#discord, question.message.id, question.id, as);
  }

  async order(order: PlannedOrder, nowMs: () => number): Promise<void> {
    const { channels, users, people } = this.#discord;
    const { id, ordered, takes } = order;
    const at = this.#ordered % 2 === 0 ? channels.general : channels.clips;
    this.#ordered += 1;
    const as = { channel: at, user: users.alice };
    const prompt = `${id}: a red fox in snow`;
    const atMs = nowMs();
    const slash = (): Interaction | Promise<Interaction | null> => {
      if (ordered === 'storyboard') return this.#storyboard(order, as);
      if (ordered === 'comparison')
        return people.slash('video compare', { prompt, models: COMPARED.slice(0, takes).join(',') }, as);
      return people.slash('video create', takes === 1 ? { prompt } : { prompt, takes }, as);
    };
    const interaction = await slash();
    if (interaction === null) return;
    this.#interactions.push(interaction);
    this.#orders.set(id, { task: taskIdOf(`discord:${interaction.id}`), clips: takes, isOnCard: isOnOneCard(order) });
    this.asked.push({
      platform: 'discord',
      id: interaction.id,
      user: users.alice,
      channel: at,
      replica: 0,
      atMs,
      status: null,
      message: null,
      takes,
      ...(ordered === 'storyboard' ? { isAskedAbout: true } : {}),
    });
  }

  /** Enters the shots in a form; `null` if none opens. */
  async #storyboard(order: PlannedOrder, as: { readonly channel: string; readonly user: string }) {
    const { people } = this.#discord;
    const opener = people.slash('video storyboard', {}, as);
    const isOpen = await soon(() => (opener.answer?.type === MODAL ? true : undefined));
    return isOpen === undefined ? null : people.submitModal(opener, { shots: shotsOf(order) });
  }

  happen({ what, to }: Mischief): void {
    const discord = this.#discord;
    const last = this.#interactions.at(-1);
    const route = MISCHIEF.discord.to.find((one) => one === to) ?? MISCHIEF.discord.to[0];
    const mischief: Readonly<Record<string, () => void>> = {
      drop: () => discord.dropNextAnswer(route),
      'act and fail': () => discord.fail(route, 500, { acts: true }),
      fail: () => discord.fail(route, 503),
      limit: () => discord.rateLimit(route, { retryAfterMs: 700 }),
      break: () => discord.breakGateway(),
      close: () => discord.closeGateway(4000),
      invalidate: () => discord.invalidSession(),
      again: () => (last === undefined ? undefined : discord.redeliver(last)),
    };
    mischief[what]?.();
  }

  /** Deletes a message. A mention shows that the clip was delivered before and that the bot had recorded it. */
  async delete(which: Deletable, nowMs: () => number): Promise<void> {
    const found = await soon(() => this.#everything().find((message) => isOne(message, which)));
    const card = found === undefined ? null : deletableIn(idsOf(found));
    if (found === undefined || card === null) return;
    const [order = '?'] = ORDER_IN.exec(plainOf(found)) ?? [];
    const names = found.attachments.map(({ filename }) => filename);
    const hadClip = names.length > 0;
    const wasDelivered = hadClip && this.#everything().some((message) => this.#pings(message, order));
    this.#discord.deleteMessage(found.id);
    this.deleted.push({ id: found.id, task: card.task, atMs: nowMs(), hadClip, names, wasDelivered });
  }

  refuse(what: Exclude<ChatFault, 'delete'>): () => void {
    const discord = this.#discord;
    const channels = [discord.channels.general, discord.channels.clips];
    if (what === 'token') {
      discord.revokeToken();
      return () => discord.restoreToken();
    }
    for (const channel of channels) discord.deny(channel, ['ATTACH_FILES']);
    return () => {
      for (const channel of channels) discord.deny(channel, []);
    };
  }

  get offered(): readonly string[] {
    return this.#everything().flatMap((message) => offeredBy(idsOf(message)));
  }

  shown(kept: Kept): readonly Shown[] {
    const messages = this.#everything().map((message) => ({
      id: message.id,
      channel: this.#channelOf(message),
      buttons: idsOf(message),
      words: plainOf(message),
      files: message.attachments.map(({ filename, bytes }) => ({ name: filename, bytes })),
      isVisible: message.visibleTo === null,
      isPinging: this.#discord.pings.some(({ messageId }) => messageId === message.id),
    }));
    const told = this.#told.flatMap(({ interaction }) => this.#discord.original(interaction) ?? []);
    const replies = told.map((message) => ({
      id: message.id,
      channel: message.channelId,
      words: plainOf(message),
      buttons: idsOf(message),
    }));
    return [...shownIn('discord', messages, kept), ...repliesIn(replies)];
  }

  close(): Promise<void> {
    return this.#discord.close();
  }

  #pings(message: Message, order: string): boolean {
    const words = plainOf(message);
    const isPing = this.#discord.pings.some(({ messageId }) => messageId === message.id);
    return isPing && words.includes(order) && reportsEnd(words);
  }

  /** Returns the channel of a message; of one in the thread of a card, that of the card. */
  #channelOf({ channelId }: Message): string {
    return this.#discord.channelOf(channelId) ?? channelId;
  }

  #everything(): readonly Message[] {
    const { channels } = this.#discord;
    const inChannels = [channels.general, channels.clips].flatMap((channel) => this.#discord.messages(channel));
    // The thread of a message has its id.
    return [...inChannels, ...inChannels.flatMap(({ id }) => this.#discord.messages(id))];
  }
}

function idsOf(message: Message): readonly string[] {
  const options = selectsOf(message).flatMap((select) => select.options);
  return [...buttonsOf(message), ...options].map(({ id }) => id);
}

function isOne(message: Message, which: Deletable): boolean {
  const card = deletableIn(idsOf(message));
  return message.visibleTo === null && card !== null && card.isOpen === (which === 'running');
}
