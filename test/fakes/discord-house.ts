import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { Discord } from '#adapters/discord/index.ts';
import type { Adapter } from '#commands/adapter.ts';
import type { CardSelect } from '#commands/ui/card.ts';
import { MessageLocks } from '#src/chat/message-lock.ts';
import type { Platform } from '#src/chat/platform.ts';
import { type Clock, systemClock } from '#src/clock.ts';
import type { Jobs } from '#src/engine/jobs/jobs.ts';
import type { Store } from '#src/engine/store/store.ts';
import { SignedLinks } from '#src/media/clip-links.ts';
import { Relay } from '#src/media/relay.ts';
import type { TaskId } from '#src/tasks/task.ts';
import type { AccessConfig } from '#src/teams/access-list.ts';
import { fileLinks } from '#test/fakes/file-links.ts';
import {
  type FakeDiscord,
  type FakeDiscordOptions,
  type Interaction,
  type Message,
  startDiscord,
} from './discord/index.ts';
import { startJobs } from './jobs.ts';
import { MemoryStore } from './memory-store.ts';
import { type Heard, ScriptedBot } from './scripted-bot.ts';

/** Options of {@link DiscordHouse}. */
export interface DiscordHouseOptions extends Omit<FakeDiscordOptions, 'clock'> {
  /** Clock of both the adapter and Discord. Default: the system clock. */
  readonly clock?: Clock;
  /** Public URL of relayed files. Default: links are off. */
  readonly publicUrl?: string;
  /** Maximum number of interactions in flight. Default: the adapter's own. */
  readonly mostInHand?: number;
  /** Clock of the gateway connection. Default: the system clock. */
  readonly gatewayClock?: Clock;
  /** Default: an in-memory store of this process. */
  readonly store?: Store;
  /** Access control. Default: every user and every kind of installation. */
  readonly access?: AccessConfig;
  /** The only server that may use the bot. Default: any server. */
  readonly guildId?: string;
  readonly logger?: Logger;
  /** The Discord of another replica, which also closes it. Default: a new one. */
  readonly discord?: FakeDiscord;
}

/** The Discord adapter against the strict fake, with a scripted bot and an in-memory store. */
export class DiscordHouse {
  readonly discord: FakeDiscord;
  readonly bot = new ScriptedBot();
  readonly store: Store;
  /** Tasks whose messages were reported as reachable again. */
  readonly reached: TaskId[] = [];
  readonly #options: DiscordHouseOptions;
  readonly #dataDir: string;
  #platform: Adapter | undefined;
  #jobs: Jobs | undefined;

  private constructor(discord: FakeDiscord, dataDir: string, options: DiscordHouseOptions) {
    this.discord = discord;
    this.store = options.store ?? new MemoryStore();
    this.#dataDir = dataDir;
    this.#options = options;
  }

  static async start(options: DiscordHouseOptions = {}): Promise<DiscordHouse> {
    const { publicUrl: _publicUrl, mostInHand: _mostInHand, gatewayClock: _gatewayClock, ...rest } = options;
    const { store: _store, access: _access, guildId: _guildId, logger: _logger, discord, ...fake } = rest;
    const dataDir = await mkdtemp(join(tmpdir(), 'dailies-discord-'));
    const house = new DiscordHouse(discord ?? (await startDiscord(fake)), dataDir, options);
    await house.#connect();
    return house;
  }

  get platform(): Platform {
    if (this.#platform === undefined) throw new TypeError('Discord is not started');
    return this.#platform;
  }

  /** Restarts the adapter on the same store. */
  async restart(): Promise<void> {
    await this.stop();
    await this.#connect();
  }

  /** Stops the adapter. */
  async stop(): Promise<void> {
    await this.#jobs?.stop();
    await this.#platform?.stop();
  }

  async remove(): Promise<void> {
    await this.stop();
    if (this.#options.discord === undefined) await this.discord.close();
    await rm(this.#dataDir, { recursive: true, force: true });
  }

  /** Resolves once the bot received an interaction. */
  async heard(interaction: Interaction): Promise<Heard> {
    return this.hears(({ caller }) => caller.interaction === interaction.id);
  }

  /** Resolves once the bot received a matching call. */
  async hears(isIt: (heard: Heard) => boolean): Promise<Heard> {
    for (;;) {
      const found = this.bot.heard.find(isIt);
      if (found !== undefined) return found;
      await setImmediate();
    }
  }

  /** Resolves to the message of an interaction's response, once it exists. */
  async answerTo(interaction: Interaction): Promise<Message> {
    await this.discord.answered(interaction);
    const message = this.discord.original(interaction);
    if (message === null) throw new TypeError('the answer made no message');
    return message;
  }

  async #connect(): Promise<void> {
    const { clock = systemClock, gatewayClock = systemClock, publicUrl, mostInHand, guildId } = this.#options;
    const { logger = pino({ level: 'silent' }), access = { teams: 'all', admits: ['user_install'] } } = this.#options;
    const secret = 'a secret of this test alone';
    const links = publicUrl === undefined ? null : new SignedLinks({ publicUrl, secret, clock });
    const { leases, exclusive } = this.store;
    const locks = new MessageLocks({ leases, exclusive, clock });
    this.#platform = new Discord({
      token: this.discord.token,
      apiUrl: this.discord.apiUrl,
      access,
      guildId,
      store: this.store,
      clock,
      gatewayClock,
      random: Math.random,
      logger,
      relay: new Relay({ links: fileLinks(clock, links), store: this.store, dataDir: this.#dataDir, logger }),
      mostInHand,
      reachable: (task) => this.reached.push(task),
      withMessageLock: (task, act) => locks.run(task, 'message', act),
    });
    this.#platform.serve(this.bot);
    await this.#platform.start();
    this.#jobs = startJobs({ store: this.store, clock, logger }, ...this.#platform.jobs);
    await this.discord.until(() => this.discord.commands(guildId).length > 0, 'the commands being registered');
  }
}

/** Returns the text of a message without markup. */
export function plainOf({ content, components }: Pick<Message, 'content' | 'components'>): string {
  const texts = [content, ...components.flatMap(textsOf)];
  return texts
    .join('\n')
    .replace(/\u200B/g, '')
    .replace(/\\([^0-9A-Za-z\s])/g, '$1');
}

interface Nested {
  readonly type?: number | undefined;
  readonly content?: string | undefined;
  readonly custom_id?: string | undefined;
  readonly components?: readonly Nested[] | undefined;
  readonly label?: string | undefined;
  readonly placeholder?: string | undefined;
  readonly options?: readonly { readonly value: string; readonly label: string }[] | undefined;
}

function textsOf({ content, components = [] }: Nested): readonly string[] {
  return [...(content === undefined ? [] : [content]), ...components.flatMap(textsOf)];
}

/** Returns the selects of a message, each with its id. */
export function selectsOf({ components }: Pick<Message, 'components'>): readonly (CardSelect & { id: string })[] {
  const walk = (one: Nested): readonly (CardSelect & { id: string })[] => {
    const { type, custom_id: id = '', placeholder = '', options = [], components: inside = [] } = one;
    const own = { id, placeholder, options: options.map(({ value, label }) => ({ id: value, label })) };
    return [...(type === 3 ? [own] : []), ...inside.flatMap(walk)];
  };
  return (components as readonly Nested[]).flatMap(walk);
}

/** Presses a button of a message, or chooses the option of a select that is this press. */
export function pressOn(
  discord: Pick<FakeDiscord, 'people' | 'message'>,
  message: string,
  press: string,
  as: Parameters<FakeDiscord['people']['press']>[2] = {},
): Interaction {
  const isIn = ({ options }: CardSelect) => options.some(({ id }) => id === press);
  const select = selectsOf(discord.message(message)).find(isIn);
  return select === undefined
    ? discord.people.press(message, press, as)
    : discord.people.select(message, select.id, [press], as);
}

/** Returns the buttons of a message. */
export function buttonsOf({ components }: Pick<Message, 'components'>): readonly { id: string; label: string }[] {
  const walk = (one: Nested): readonly { id: string; label: string }[] => [
    ...(one.type === 2 && one.custom_id !== undefined ? [{ id: one.custom_id, label: one.label ?? '' }] : []),
    ...(one.components ?? []).flatMap(walk),
  ];
  return (components as readonly Nested[]).flatMap(walk);
}
