import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { vi } from 'vitest';
import { Slack } from '#adapters/slack/index.ts';
import { slackManifest } from '#adapters/slack/installation/manifest.ts';
import type { CardSelect } from '#commands/ui/card.ts';
import type { Platform } from '#src/chat/platform.ts';
import { type Clock, systemClock } from '#src/clock.ts';
import { Membership } from '#src/engine/cluster/membership.ts';
import type { Store } from '#src/engine/store/store.ts';
import { SignedLinks } from '#src/media/clip-links.ts';
import { Relay } from '#src/media/relay.ts';
import type { ReadLink } from '#src/own-links.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import type { AccessConfig } from '#src/teams/access-list.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { fileLinks } from '#test/fakes/file-links.ts';
import { MemoryStore } from './memory-store.ts';
import { freePort } from './ports.ts';
import { type Heard, ScriptedBot } from './scripted-bot.ts';
import type { Block } from './slack/blocks.ts';
import { type Envelope, type FakeSlack, type FakeSlackOptions, type Message, startSlack } from './slack/index.ts';
import { richTextOf } from './slack/rich-text.ts';

/** Options of {@link SlackHouse}. */
export interface SlackHouseOptions extends FakeSlackOptions {
  /** Access control. Default: every team, without guests and external users. */
  readonly access?: AccessConfig;
  /** Transport between Slack and the bot. Default `socket`. */
  readonly mode?: 'socket' | 'http' | 'oauth';
  /** True if files can be relayed by signed links. Default false. */
  readonly hasLinks?: boolean;
  /** Largest image that services take without a public address. Default: they take none. */
  readonly keptImageBytes?: number;
  readonly store?: Store;
  /** An existing Slack, for another replica of the app. Default: a new one. */
  readonly slack?: FakeSlack;
  /** What links of the bot's own lead to. Default: nothing. */
  readonly readLink?: ReadLink;
  /** Clock of the adapter. Default: the system clock. */
  readonly clock?: Clock;
}

const EVERY_TEAM: AccessConfig = { teams: 'all', admits: [] };
/** For work inside the adapter, of which the fake is not notified. */
const WAITING = { timeout: 300_000, interval: 10 };

/** The Slack adapter against the strict fake, with a scripted bot and an in-memory store. */
export class SlackHouse {
  readonly slack: FakeSlack;
  readonly bot = new ScriptedBot();
  readonly store: Store;
  readonly #options: SlackHouseOptions;
  readonly #dataDir: string;
  #http: FastifyInstance | undefined;
  #platform: Platform | undefined;
  #relay: Relay | undefined;
  /** Base URL of the bot. */
  url = '';

  private constructor(slack: FakeSlack, dataDir: string, options: SlackHouseOptions) {
    this.slack = slack;
    this.store = options.store ?? new MemoryStore();
    this.#dataDir = dataDir;
    this.#options = options;
  }

  static async start(options: SlackHouseOptions = {}): Promise<SlackHouse> {
    const dataDir = await mkdtemp(join(tmpdir(), 'dailies-slack-'));
    const hasUrl = options.mode === 'http' || options.hasLinks === true;
    const manifest = slackManifest(
      hasUrl ? 'https://dailies.example' : null,
      options.mode === 'http' ? 'http' : 'socket',
    );
    const house = new SlackHouse(options.slack ?? (await startSlack({ manifest, ...options })), dataDir, options);
    await house.#connect(await freePort());
    return house;
  }

  get platform(): Platform {
    if (this.#platform === undefined) throw new TypeError('Slack is not started');
    return this.#platform;
  }

  /** Relay of the files stored for the video service. */
  get relay(): Relay {
    if (this.#relay === undefined) throw new TypeError('Slack is not started');
    return this.#relay;
  }

  /** Restarts the adapter on the same store, at the same address. */
  async restart(): Promise<void> {
    await this.#platform?.stop();
    await this.#http?.close();
    await this.#connect(Number(new URL(this.url).port));
  }

  async remove(): Promise<void> {
    await this.#platform?.stop();
    await this.#http?.close();
    if (this.#options.slack === undefined) await this.slack.close();
    await rm(this.#dataDir, { recursive: true, force: true });
  }

  /** Resolves once the bot received a matching call. */
  heard(isIt: (heard: Heard) => boolean = () => true): Promise<Heard> {
    return vi.waitFor(() => {
      const found = this.bot.heard.find(isIt);
      if (found === undefined) throw new TypeError('nothing was heard of it');
      return found;
    }, WAITING);
  }

  /** Returns the ephemeral messages of a user in a channel, oldest first. */
  whispers(user: string, channel: string): readonly Message[] {
    return this.slack.messages(channel).filter(({ visibleTo }) => visibleTo === user);
  }

  async #connect(port: number): Promise<void> {
    const {
      mode = 'socket',
      hasLinks = false,
      keptImageBytes = 0,
      clock = systemClock,
      access = EVERY_TEAM,
    } = this.#options;
    const { store, slack, bot } = this;
    const logger = pino({ level: process.env['HOUSE_LOG'] ?? 'silent' });
    const http = fastify({ forceCloseConnections: true });
    const publicUrl = hasLinks ? 'https://dailies.example' : undefined;
    const secret = 'a secret of this test alone';
    const links = publicUrl === undefined ? null : new SignedLinks({ publicUrl, secret, clock });
    const relay = new Relay({
      links: fileLinks(clock, links),
      keptImageBytes: () => [keptImageBytes],
      store,
      dataDir: this.#dataDir,
      logger,
    });
    const catalog = parseCatalog(sandboxCatalog);
    const platform = new Slack({
      http,
      access,
      store,
      clock,
      logger,
      relay,
      readLink: this.#options.readLink ?? (async () => null),
      publicUrl,
      membership: new Membership({ leases: store.leases, exclusive: store.exclusive, clock }),
      apiUrl: slack.apiUrl,
      catalog: () => catalog,
      ...credentials(slack, mode),
    });
    platform.serve(bot);
    this.url = await http.listen({ host: '127.0.0.1', port });
    this.#http = http;
    this.#relay = relay;
    this.#platform = platform;
    await platform.start();
    if (mode === 'http' && this.#options.slack === undefined) await slack.useHttp(`${this.url}/slack/events`);
  }
}

function credentials(slack: FakeSlack, mode: 'socket' | 'http' | 'oauth') {
  const { botToken, appToken, signingSecret, client } = slack;
  switch (mode) {
    case 'socket':
      return { botToken, appToken };
    case 'http':
      return { botToken, signingSecret };
    case 'oauth':
      return {
        appToken,
        installation: { clientId: client.id, clientSecret: client.secret, stateSecret: 'a secret for states' },
      };
  }
}

/** Text object of a section or context. */
interface Text {
  readonly type?: string;
  readonly text?: string;
}

/** Returns the text of a message without markup: a line for each section, text and context. */
export function plainOf({ blocks, text: words }: Pick<Message, 'blocks' | 'text'>): string {
  // Without blocks, Slack shows the text.
  const texts = (blocks.length === 0 ? [unmarked(words)] : []).concat(
    blocks.flatMap((block) => {
      const { text, type, elements = [] } = block as Block & { readonly text?: Text };
      const small = type === 'context' ? [elements.map((element) => wordsOf(element as Text)).join(' ')] : [];
      return [...(text?.text === undefined ? [] : [wordsOf(text)]), ...richTextOf(block), ...small, ...tableOf(block)];
    }),
  );
  return texts.join('\n');
}

/** Returns the rows of a table as lines. */
function tableOf(block: Block): readonly string[] {
  const { rows = [] } = block as Block & { readonly rows?: readonly (readonly Text[])[] };
  return rows.map((cells) => cells.map(({ text }) => text ?? '').join(' · '));
}

/** Slack parses markup and entities only in mrkdwn; plain and rich text are shown literally. */
function wordsOf({ type, text = '' }: Text): string {
  return type === 'mrkdwn' ? unmarked(text) : text;
}

function unmarked(mrkdwn: string): string {
  return mrkdwn
    .replace(/<@(\w+)>/g, '@$1')
    .replace(/&(lt|gt|amp);/g, (_entity, name: string) => ({ lt: '<', gt: '>' })[name] ?? '&');
}

/** Returns what a user alone sees in a channel, without the notice before an answer that takes longer than 1.8 s. */
export function whispersTo(slack: FakeSlack, user: string, channel = slack.channels.general): readonly Message[] {
  return slack
    .messages(channel)
    .filter((message) => message.visibleTo === user && !plainOf(message).startsWith('Still working on this.'));
}

/** Returns the selects of a message, each with its id. */
export function selectsOf({ blocks }: Pick<Message, 'blocks'>): readonly (CardSelect & { id: string })[] {
  return blocks.flatMap(({ elements = [] }) =>
    elements.flatMap((element) => {
      if (element.type !== 'static_select') return [];
      const { action_id: id = '', placeholder, options } = element as typeof element & SlackSelect;
      const shown = options.map(({ value, text }) => ({ id: value, label: text.text }));
      return [{ id, placeholder: placeholder.text, options: shown }];
    }),
  );
}

interface SlackSelect {
  readonly placeholder: { readonly text: string };
  readonly options: readonly { readonly value: string; readonly text: { readonly text: string } }[];
}

/** Presses a button of a message, or chooses the option of a select that is this press. */
export function pressOn(
  slack: Pick<FakeSlack, 'people' | 'message'>,
  ts: string,
  press: string,
  as: Parameters<FakeSlack['people']['press']>[2] = {},
): Envelope {
  const isIn = ({ options }: CardSelect) => options.some(({ id }) => id === press);
  const select = selectsOf(slack.message(ts)).find(isIn);
  return select === undefined ? slack.people.press(ts, press, as) : slack.people.choose(ts, select.id, press, as);
}

/** Returns the buttons of a message. */
export function buttonsOf({ blocks }: Pick<Message, 'blocks'>): readonly { id: string; label: string }[] {
  return blocks.flatMap((block) => {
    const elements = [
      ...(block.elements ?? []),
      ...(block.accessory === undefined ? [] : [block.accessory]),
    ] as readonly {
      readonly type: string;
      readonly action_id?: string;
      readonly text?: { readonly text: string };
    }[];
    return elements.flatMap(({ type, action_id: id = '', text }) =>
      type === 'button' ? [{ id, label: text?.text ?? '' }] : [],
    );
  });
}
