import { request } from 'undici';
import { WebSocket } from 'ws';
import type { FakeSlack } from '#test/fakes/slack/index.ts';

/** A response of the Web API. */
export interface Answered {
  readonly ok?: boolean;
  readonly error?: string;
  readonly ts?: string;
  readonly [field: string]: unknown;
}

/** Overrides of a valid call of {@link RawApp}. */
export interface Sending {
  readonly token?: string | null;
  /** Default `form`, as Slack's own SDK sends it. */
  readonly as?: 'form' | 'json' | 'text';
}

/** An app without a library that sends exactly the calls of a test, valid or not. */
export class RawApp {
  readonly #slack: FakeSlack;

  constructor(slack: FakeSlack) {
    this.#slack = slack;
  }

  /** Calls a method; `status` and `retryAfter` in the result come from HTTP. */
  async call(method: string, args: object = {}, { token, as = 'form' }: Sending = {}): Promise<Answered> {
    const bearer = token === undefined ? this.#slack.botToken : token;
    const texts = Object.entries(args).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    const types = { form: 'application/x-www-form-urlencoded', json: 'application/json', text: 'text/html' };
    const { statusCode, headers, body } = await request(`${this.#slack.apiUrl}${method}`, {
      method: 'POST',
      headers: { 'content-type': types[as], ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }) },
      body: as === 'form' ? new URLSearchParams(texts).toString() : JSON.stringify(args),
    });
    const text = await body.text();
    return { ...(JSON.parse(text) as object), status: statusCode, retryAfter: headers['retry-after'] };
  }

  /** Posts a message to `general`. */
  post(message: object): Promise<Answered> {
    return this.call('chat.postMessage', { channel: this.#slack.channels.general, text: 'text', ...message });
  }

  /** Sends JSON to a response_url. */
  async respond(url: string | null, body: object): Promise<number> {
    const headers = { 'content-type': 'application/json' };
    const sent = await request(url ?? '', { method: 'POST', headers, body: JSON.stringify(body) });
    await sent.body.dump();
    return sent.statusCode;
  }

  /** Announces a file. */
  async announce(length: number, filename = 'fox.mp4'): Promise<{ url: string; fileId: string }> {
    const answer = await this.call('files.getUploadURLExternal', { filename, length });
    return { url: String(answer['upload_url']), fileId: String(answer['file_id']) };
  }

  /** Sends a file's bytes, raw or as a form. */
  async send(
    url: string,
    content: Buffer,
    as: 'raw' | 'form' = 'raw',
    method: 'POST' | 'PUT' = 'POST',
  ): Promise<number> {
    const { body, headers } = as === 'raw' ? { body: content, headers: {} } : await formOf(content);
    const sent = await request(url, { method, body, headers });
    await sent.body.dump();
    return sent.statusCode;
  }

  /** Runs all three steps of an upload. */
  async upload(content: string, place: object): Promise<Answered> {
    const { url, fileId } = await this.announce(content.length);
    await this.send(url, Buffer.from(content));
    return this.call('files.completeUploadExternal', { files: [{ id: fileId, title: 'A fox' }], ...place });
  }

  /** Opens a socket and waits for its hello. */
  async connect(): Promise<RawSocket> {
    const { url } = await this.call('apps.connections.open', {}, { token: this.#slack.appToken });
    const socket = new RawSocket(String(url), this.#slack);
    await socket.received(1);
    return socket;
  }
}

/** A packet received over a socket. */
export interface Packet {
  readonly type: string;
  readonly envelope_id: string;
  readonly accepts_response_payload?: boolean;
  readonly retry_attempt?: number;
  readonly retry_reason?: string;
  readonly reason?: string;
  readonly payload: { readonly [field: string]: unknown };
}

/** A socket that records all packets and acknowledges only on request. */
export class RawSocket {
  readonly packets: Packet[] = [];
  readonly #socket: WebSocket;
  readonly #slack: FakeSlack;
  #isClosed = false;
  #waiting: (() => void)[] = [];

  constructor(url: string, slack: FakeSlack) {
    this.#slack = slack;
    this.#socket = new WebSocket(url);
    this.#socket.on('error', () => {});
    this.#socket.on('message', (data: Buffer) => {
      this.packets.push(JSON.parse(data.toString('utf8')) as Packet);
      this.#look();
    });
    this.#socket.on('close', () => {
      this.#isClosed = true;
      this.#look();
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolves to the last of `count` packets; the hello is the first. */
  async received(count: number): Promise<Packet> {
    await this.#until(() => this.packets.length >= count);
    const packet = this.packets[count - 1];
    if (packet === undefined) throw new Error(`Only ${this.packets.length} packets.`);
    return packet;
  }

  /** Resolves once the socket has closed. */
  ended(): Promise<void> {
    return this.#until(() => this.#isClosed);
  }

  /** Acknowledges, and resolves once the fake has received it. */
  async acknowledge({ envelope_id }: Packet, payload?: object): Promise<void> {
    this.send({ envelope_id, ...(payload === undefined ? {} : { payload }) });
    await this.heard();
  }

  send(message: unknown): void {
    this.#socket.send(JSON.stringify(message));
  }

  /** Resolves once all messages sent before have arrived. */
  heard(): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.once('pong', () => resolve());
      this.#socket.ping();
    });
  }

  close(): void {
    this.#socket.close();
  }

  #look(): void {
    for (const one of this.#waiting.splice(0)) one();
  }

  async #until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) {
      if (this.#isClosed) throw new Error(`The socket ended; violations: ${this.#slack.violations.join('; ')}.`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

/**
 * Encodes the bytes as the file of a form. Not sent as a stream: a streamed form once stalled until the server's
 * timeout.
 */
async function formOf(content: Buffer): Promise<{ body: Buffer; headers: Readonly<Record<string, string>> }> {
  const form = new FormData();
  form.append('filename', new File([new Uint8Array(content)], 'fox.mp4'), 'fox.mp4');
  const encoded = new Response(form);
  const headers = { 'content-type': encoded.headers.get('content-type') ?? '' };
  return { body: Buffer.from(await encoded.arrayBuffer()), headers };
}
