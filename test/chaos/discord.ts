import { taskIdOf } from '#src/pipeline/task-ids.ts';
import type { Task } from '#src/tasks/task.ts';
import { type FakeDiscord, type Interaction, type Message, startDiscord } from '../fakes/discord/index.ts';
import { buttonsOf, plainOf } from '../fakes/discord-house.ts';
import type { PlannedDeed } from './deeds.ts';
import type { Asked, Deleted, Kept, Pressed, Rights, Shown } from './history.ts';
import { CHAT_THRESHOLD, type ChatApprovers } from './money.ts';
import { type ChatFault, type Deletable, MISCHIEF, type Mischief, type PlannedOrder } from './plan.ts';
import {
  cardOf,
  mentionOf,
  ORDER_IN,
  offeredBy,
  pressOf,
  reportsEnd,
  type Side,
  showsTask,
  soon,
  userOf,
} from './side.ts';

/** Rate limits too wide to reach, since a killed process cannot pass its remaining limit to the next one. */
const WIDE = { limit: 1_000, windowMs: 1_000 };

/** Interaction response that opens a modal. @see discord docs: interactions/receiving-and-responding */
const MODAL = 9;

/** Discord of a run, with a user who orders there. */
export class DiscordSide implements Side {
  readonly #discord: FakeDiscord;
  readonly #interactions: Interaction[] = [];
  readonly asked: Asked[] = [];
  readonly deleted: Deleted[] = [];
  readonly pressed: Pressed[] = [];
  /** Ids of the tasks that the orders become. */
  readonly #tasks = new Map<string, string>();
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

  async #administer(command: string, options: Readonly<Record<string, string>>): Promise<void> {
    const discord = this.#discord;
    const interaction = discord.people.slash(command, options, this.#as('carol'));
    const isDone = () => plainOf(discord.original(interaction) ?? { content: '', components: [] }) !== '';
    await discord.until(isDone, `an answer to ${command}`);
  }

  /** Only Carol may administer the server. */
  #as(name: 'alice' | 'bob' | 'carol') {
    return { user: this.#discord.users[name], permissions: name === 'carol' ? (['MANAGE_GUILD'] as const) : [] };
  }

  get rights(): Rights {
    return { administrators: new Set([`discord:${this.#discord.users.carol}`]), members: this.#members };
  }

  async decide({ id }: PlannedOrder, deed: PlannedDeed): Promise<void> {
    const discord = this.#discord;
    const task = this.#tasks.get(id) ?? '';
    const as = this.#as(userOf(deed));
    const seen = () => [...this.#everything(), ...discord.messages(discord.dm(as.user))];
    const wanted = `${deed.action}:${task}`;
    const found = await soon(() => seen().find((message) => idsOf(message).some((one) => one.startsWith(wanted))));
    const button = found === undefined ? undefined : idsOf(found).find((one) => one.startsWith(wanted));
    if (found === undefined || button === undefined) return;
    this.pressed.push(pressOf(as.user, deed, task));
    const presses = Array.from({ length: deed.times }, () => discord.people.press(found.id, button, as));
    if (deed.action !== 'deny') return;
    const opener = await soon(() => presses.find(({ answer }) => answer?.type === MODAL));
    if (opener !== undefined) discord.people.submitModal(opener, { reason: 'too long' }, as);
  }

  order({ id }: PlannedOrder, atMs: number): void {
    const { channels, users } = this.#discord;
    const at = this.#interactions.length % 2 === 0 ? channels.general : channels.clips;
    const prompt = `${id}: a red fox in snow`;
    const interaction = this.#discord.people.slash('video create', { prompt }, { channel: at, user: users.alice });
    this.#interactions.push(interaction);
    this.#tasks.set(id, taskIdOf(`discord:${interaction.id}`));
    this.asked.push({
      platform: 'discord',
      id: interaction.id,
      user: users.alice,
      channel: at,
      replica: 0,
      atMs,
      status: null,
      message: null,
    });
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
    const card = found === undefined ? null : cardOf(idsOf(found));
    if (found === undefined || card === null) return;
    const [order = '?'] = ORDER_IN.exec(plainOf(found)) ?? [];
    const hadClip = found.attachments.length > 0;
    const wasDelivered = hadClip && this.#everything().some((message) => this.#pings(message, order));
    this.#discord.deleteMessage(found.id);
    this.deleted.push({ id: found.id, task: card.task, atMs: nowMs(), hadClip, wasDelivered });
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

  shown({ tasks, cards }: Kept): readonly Shown[] {
    return [...tasks.values()]
      .filter(({ origin }) => origin.platform === 'discord')
      .flatMap((task) => {
        const ref = (cards.get(task.id) as { message?: { message: string } } | undefined)?.message;
        const known = this.#everything().filter(({ id }) => id === ref?.message);
        // Any message with a button for the task counts as its message, even one that the bot did not record.
        const others = this.#everything().filter(
          (message) => message.id !== ref?.message && showsTask(idsOf(message), task.id),
        );
        const visible = others.filter(({ visibleTo }) => visibleTo === null);
        return [...[...known, ...visible].map((own) => this.#card(own, task)), ...this.#mentions(task, ref?.message)];
      });
  }

  close(): Promise<void> {
    return this.#discord.close();
  }

  #card(message: Message, task: Task): Shown {
    return {
      id: message.id,
      channel: message.channelId,
      task: task.id,
      state: null,
      files: message.attachments.map(({ bytes }) => bytes),
      buttons: buttonsOf(message).map(({ id }) => id.split(':')[0] ?? ''),
      replyTo: null,
      end: null,
    };
  }

  /** Messages that pinged a user because of a task, regardless of the message that they reply to. */
  #mentions(task: Task, own: string | undefined): readonly Shown[] {
    const [order = ''] = ORDER_IN.exec(task.request.prompt) ?? [];
    const pinging = this.#everything().filter((message) => this.#pings(message, order));
    return pinging.map((message) => mentionOf(this.#card(message, task), { task, own, words: plainOf(message) }));
  }

  #pings(message: Message, order: string): boolean {
    const words = plainOf(message);
    const isPing = this.#discord.pings.some(({ messageId }) => messageId === message.id);
    return isPing && words.includes(order) && reportsEnd(words);
  }

  #everything(): readonly Message[] {
    const { channels } = this.#discord;
    return [channels.general, channels.clips].flatMap((channel) => this.#discord.messages(channel));
  }
}

function idsOf(message: Message): readonly string[] {
  return buttonsOf(message).map(({ id }) => id);
}

function isOne(message: Message, which: Deletable): boolean {
  const card = cardOf(idsOf(message));
  return message.visibleTo === null && card !== null && card.isOpen === (which === 'running');
}
