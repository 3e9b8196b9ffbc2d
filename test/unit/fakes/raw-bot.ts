import { request } from 'undici';
import { WebSocket } from 'ws';
import type { FakeDiscord } from '#test/fakes/discord/index.ts';

/** A response of the API. */
export interface Answered {
  readonly status: number;
  readonly json: { readonly [field: string]: unknown; readonly id: string; readonly code?: number };
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Overrides of a valid request of {@link RawBot}. */
export interface Sending {
  readonly files?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Encodes JSON, or a form if there are files. @see discord docs: reference, "Uploading Files" */
function encode(body: unknown, files: NonNullable<Sending['files']>): Response {
  const names = Object.keys(files);
  if (names.length === 0) return Response.json(body);
  const form = new FormData();
  for (const [index, name] of names.entries()) form.append(`files[${index}]`, new File([files[name] ?? ''], name));
  form.append('payload_json', JSON.stringify(body));
  return new Response(form);
}

/** A bot without a library that sends exactly the requests of a test, valid or not. */
export class RawBot {
  readonly #discord: FakeDiscord;

  constructor(discord: FakeDiscord) {
    this.#discord = discord;
  }

  /** Sends one request. @param call method and path below the version, e.g. `GET /users/@me` */
  async call(call: string, body?: unknown, { files = {}, headers = {} }: Sending = {}): Promise<Answered> {
    const [method = 'GET', path = ''] = call.split(' ');
    const encoded = body === undefined ? null : encode(body, files);
    const response = await request(`${this.#discord.apiUrl}/v10${path}`, {
      method,
      body: encoded === null ? null : Buffer.from(await encoded.arrayBuffer()),
      headers: {
        ...(encoded === null ? {} : { 'content-type': encoded.headers.get('content-type') ?? '' }),
        'user-agent': 'DiscordBot (https://example.org, 1.0)',
        authorization: `Bot ${this.#discord.token}`,
        ...headers,
      },
    });
    const text = await response.body.text();
    return { status: response.statusCode, json: text === '' ? {} : JSON.parse(text), headers: response.headers };
  }

  /** Opens a gateway connection. */
  async connect(path = '/?v=10&encoding=json'): Promise<RawGateway> {
    const { json } = await this.call('GET /gateway/bot');
    return new RawGateway(`${String(json['url'])}${path}`, this.#discord);
  }
}

/** An event or other packet of the gateway. */
export interface Packet {
  readonly op: number;
  readonly t: string | null;
  readonly s: number | null;
  readonly d: { readonly [field: string]: unknown };
}

/** A gateway connection that records the packets it receives. */
export class RawGateway {
  readonly packets: Packet[] = [];
  /** The close code; null while open. */
  closed: number | null = null;
  readonly #socket: WebSocket;
  readonly #token: string;
  #look: () => void = () => {};

  constructor(url: string, { token }: FakeDiscord) {
    this.#token = token;
    this.#socket = new WebSocket(url);
    this.#socket.on('error', () => {});
    this.#socket.on('message', (data) => {
      this.packets.push(JSON.parse((data as Buffer).toString('utf8')) as Packet);
      this.#look();
    });
    this.#socket.on('close', (code) => {
      this.closed = code;
      this.#look();
    });
  }

  /** Sends a packet once the connection has received hello. */
  async send(op: number, d: unknown): Promise<void> {
    await this.until(() => this.packets.length > 0);
    this.#socket.send(JSON.stringify({ op, d }));
  }

  async identify(intents: number, overrides: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const properties = { os: 'linux', browser: 'raw', device: 'raw' };
    await this.send(2, { token: this.#token, intents, properties, ...overrides });
  }

  async event(name: string): Promise<Packet> {
    const found = (): Packet | undefined => this.packets.find(({ t }) => t === name);
    await this.until(() => found() !== undefined);
    return found() as Packet;
  }

  close(code: number): void {
    this.#socket.close(code);
  }

  until(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (isTrue()) resolve();
      };
      this.#look();
    });
  }
}
