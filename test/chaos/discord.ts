import type { Task } from '#src/tasks/task.ts';
import { type FakeDiscord, type Interaction, type Message, startDiscord } from '../fakes/discord/index.ts';
import { buttonsOf, plainOf } from '../fakes/discord-house.ts';
import type { Asked, Deleted, Kept, Shown } from './history.ts';
import { type ChatFault, type Deletable, MISCHIEF, type Mischief, type PlannedOrder } from './plan.ts';
import { cardOf, mentionOf, ORDER_IN, offeredBy, type Side, soon } from './side.ts';

/** Rate limits too wide to reach, since a killed process cannot pass its remaining limit to the next one. */
const WIDE = { limit: 1_000, windowMs: 1_000 };

/** Discord of a run, with a user who orders there. */
export class DiscordSide implements Side {
  readonly #discord: FakeDiscord;
  readonly #interactions: Interaction[] = [];
  readonly asked: Asked[] = [];
  readonly deleted: Deleted[] = [];

  private constructor(discord: FakeDiscord) {
    this.#discord = discord;
  }

  static async start(): Promise<DiscordSide> {
    return new DiscordSide(
      await startDiscord({ limits: { edit: WIDE, webhook: WIDE, send: WIDE, other: WIDE, global: WIDE } }),
    );
  }

  get env(): Readonly<Record<string, string>> {
    return { DISCORD_TOKEN: this.#discord.token, DISCORD_API_URL: this.#discord.apiUrl };
  }

  get secrets(): readonly string[] {
    return [this.#discord.token];
  }

  /** Violations except late responses, which are expected of paused or killed processes. */
  get violations(): readonly string[] {
    return this.#discord.violations.filter((what) => !/^(no|late) answer to/.test(what));
  }

  async ready(): Promise<void> {
    const discord = this.#discord;
    await discord.until(
      () => discord.commands().length > 0 && discord.gateway.isConnected,
      'the bot on Discord',
      60_000,
    );
  }

  get hasBot(): boolean {
    return this.#discord.gateway.isConnected;
  }

  order({ id }: PlannedOrder, atMs: number): void {
    const { channels, users } = this.#discord;
    const at = this.#interactions.length % 2 === 0 ? channels.general : channels.clips;
    const prompt = `${id}: a red fox in snow`;
    const interaction = this.#discord.people.slash('video create', { prompt }, { channel: at, user: users.alice });
    this.#interactions.push(interaction);
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
          (message) => message.id !== ref?.message && buttonsOf(message).some(({ id }) => id.split(':')[1] === task.id),
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
    return this.#discord.pings.some(({ messageId }) => messageId === message.id) && plainOf(message).includes(order);
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
