import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { createPlayground, type PlaygroundOptions } from '#adapters/playground/index.ts';
import type { WireMessage } from '#adapters/playground/message-store.ts';
import type { Platform } from '#src/chat/platform.ts';
import type { Store } from '#src/engine/store/store.ts';
import { WrongTokens } from '#src/http/access-tokens.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { SERVED_HERE } from './clip-links.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryStore } from './memory-store.ts';
import { freePort } from './ports.ts';
import { ScriptedBot } from './scripted-bot.ts';

/** A response of the playground. */
export interface PlaygroundAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body
  readonly body: any; // oxlint-disable-line typescript/no-explicit-any
}

/** The playground on its own server, with a scripted bot and an in-memory store. */
export class PlaygroundHouse {
  readonly bot = new ScriptedBot();
  readonly clock = new ManualClock(Date.UTC(2026, 10, 21, 12));
  readonly store: Store;
  readonly #dataDir: string;
  readonly #options: Partial<PlaygroundOptions>;
  #http: FastifyInstance | undefined;
  #platform: Platform | undefined;
  url = '';

  private constructor(dataDir: string, options: Partial<PlaygroundOptions>) {
    this.#dataDir = dataDir;
    this.#options = options;
    this.store = options.store ?? new MemoryStore();
  }

  static async start(options: Partial<PlaygroundOptions> = {}): Promise<PlaygroundHouse> {
    const house = new PlaygroundHouse(await mkdtemp(join(tmpdir(), 'dailies-playground-')), options);
    await house.#listen(await freePort());
    return house;
  }

  get platform(): Platform {
    if (this.#platform === undefined) throw new TypeError('the playground is not started');
    return this.#platform;
  }

  /** Restarts the process at the same address; store and files persist. */
  async restart(meanwhile: () => Promise<unknown> = () => Promise.resolve()): Promise<void> {
    await this.#http?.close();
    await meanwhile();
    await this.#listen(Number(new URL(this.url).port));
  }

  async remove(): Promise<void> {
    await this.#http?.close();
    await rm(this.#dataDir, { recursive: true });
  }

  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<PlaygroundAnswer> {
    return answerOf(await fetch(this.url + path, { headers, redirect: 'manual' }));
  }

  async post(what: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<PlaygroundAnswer> {
    const response = await fetch(`${this.url}/playground/${what}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return answerOf(response);
  }

  /** Returns a channel's messages over HTTP. */
  async messages(channel = 'general', query = ''): Promise<readonly WireMessage[]> {
    return (await this.get(`/playground/messages?channel=${encodeURIComponent(channel)}${query}`)).body;
  }

  /** Deletes a message directly in the store, which the page does not offer. */
  async deleteMessage(id: string): Promise<void> {
    await this.store.keyv('playground_messages').delete(id);
  }

  async #listen(port: number): Promise<void> {
    const http = fastify({ forceCloseConnections: true });
    const { bot, clock, store } = this;
    const logger = this.#options.logger ?? pino({ level: 'silent' });
    this.#http = http;
    const platform = createPlayground({
      promptsKeptMs: async () => null,
      http,
      store,
      clock,
      dataDir: this.#dataDir,
      catalog: () => parseCatalog(sandboxCatalog),
      clipOf: () => Promise.resolve(null),
      posterOf: () => Promise.resolve(null),
      clipLinks: SERVED_HERE,
      logger,
      wrongTokens: new WrongTokens({ entrance: 'playground', clock, logger }),
      host: '127.0.0.1',
      publicUrl: null,
      accessToken: null,
      isEmbeddedService: true,
      ...this.#options,
    });
    this.#platform = platform;
    platform.serve(bot);
    this.url = await http.listen({ host: '127.0.0.1', port });
    await platform.start();
  }
}

async function answerOf(response: Response): Promise<PlaygroundAnswer> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}
