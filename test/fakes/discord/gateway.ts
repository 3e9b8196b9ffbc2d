import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { systemClock } from '#src/clock.ts';
import { OP, Session } from './gateway-session.ts';
import { INTENTS } from './posting.ts';
import type { Dispatch } from './world.ts';

/** What a new session is told first. */
export interface Welcome {
  readonly ready: Dispatch['data'];
  readonly events: readonly Dispatch[];
}

/** What a gateway needs to know. */
export interface GatewayParts {
  readonly token: string;
  /** Privileged intents that the application was granted: a bitfield. */
  readonly privileged: number;
  readonly heartbeatMs: number;
  /** `ws://127.0.0.1:PORT`. */
  readonly origin: () => string;
  readonly violate: (what: string) => void;
  /** The data of READY without the session, and what comes right after it. */
  readonly welcome: () => Welcome;
  readonly changed: () => void;
}

/** Bits that are intents. @see discord docs: events/gateway, "List of Intents" */
const ALL_INTENTS = [...Array(17).keys(), 20, 21, 24, 25].reduce((sum, bit) => sum | (1 << bit), 0);
const PRIVILEGED = INTENTS.guildMembers | INTENTS.guildPresences | INTENTS.messageContent;

const packet = z.looseObject({ op: z.int(), d: z.unknown() });
const identify = z.looseObject({
  token: z.string(),
  intents: z.int(),
  properties: z.looseObject({ os: z.string(), browser: z.string(), device: z.string() }),
  shard: z.tuple([z.int(), z.int()]).optional(),
});
const resume = z.looseObject({ token: z.string(), session_id: z.string(), seq: z.int() });

/** Why a connection is closed. @see discord docs: topics/opcodes-and-status-codes, "Gateway Close Event Codes" */
class HangUp extends Error {
  readonly code: number;

  constructor(code: number, why: string) {
    super(why);
    this.name = 'HangUp';
    this.code = code;
  }
}

/** One socket of the bot. */
interface Connection {
  readonly socket: WebSocket;
  readonly isResumeUrl: boolean;
  session: Session | null;
  /** When the events of the last minute arrived. */
  received: number[];
  lastBeatMs: number;
}

/** The gateway, version 10, in JSON. @see discord docs: events/gateway */
export class Gateway {
  readonly #parts: GatewayParts;
  readonly #server = new WebSocketServer({ noServer: true });
  readonly #sessions = new Map<string, Session>();
  /** How often the bot began a session. */
  identifies = 0;
  resumes = 0;
  /** The intents of the last session. */
  intents = 0;
  /** How many connections are refused from now on. */
  refusals = 0;

  constructor(parts: GatewayParts) {
    this.#parts = parts;
  }

  get isConnected(): boolean {
    return this.#sessions.values().some((one) => one.isConnected);
  }

  get sessions(): readonly Session[] {
    return [...this.#sessions.values()];
  }

  /** Sends an event to every session that asked for it; answers how many had it at once. */
  dispatch(dispatch: Dispatch): number {
    let taken = 0;
    for (const session of this.#sessions.values()) {
      if (dispatch.intent !== 0 && (session.intents & dispatch.intent) === 0) continue;
      taken += session.isConnected ? 1 : 0;
      session.dispatch(dispatch);
    }
    return taken;
  }

  /** "If `d` is false your app should disconnect and identify": op 9. @see discord docs: events/gateway, "Resuming" */
  invalidate(isResumable: boolean): void {
    for (const session of this.sessions) {
      if (!isResumable) this.#sessions.delete(session.id);
      session.send({ op: OP.invalid, d: isResumable });
    }
  }

  /** Takes a connection over from the HTTP server. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.refusals > 0) {
      this.refusals -= 1;
      socket.destroy();
      return;
    }
    const url = new URL(request.url ?? '/', this.#parts.origin());
    this.#server.handleUpgrade(request, socket, head, (opened) => this.#guard(opened, () => this.#open(opened, url)));
  }

  close(): void {
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
  }

  #open(socket: WebSocket, { pathname, searchParams }: URL): void {
    // @see discord docs: events/gateway, "Gateway URL Query String Params"
    if (searchParams.get('v') !== '10' || searchParams.get('encoding') !== 'json') {
      throw new HangUp(4012, `gateway asked for with ${searchParams}`);
    }
    if (searchParams.has('compress')) throw new HangUp(4012, 'the fake gateway does not compress');
    const connection: Connection = {
      socket,
      isResumeUrl: pathname.startsWith('/resume'),
      session: null,
      received: [],
      lastBeatMs: systemClock.now(),
    };
    socket.on('error', () => {});
    socket.on('message', (data) => this.#guard(socket, () => this.#receive(connection, textOf(data))));
    const stop = this.#watchHeartbeat(connection);
    socket.on('close', (code) => {
      stop();
      const { session } = connection;
      session?.detach();
      // "When you close with close code 1000 or 1001, your session will be invalidated": "Initiating a Disconnect".
      if (session !== null && (code === 1000 || code === 1001)) this.#sessions.delete(session.id);
      this.#parts.changed();
    });
    this.#send(socket, { op: OP.hello, d: { heartbeat_interval: this.#parts.heartbeatMs } });
  }

  #receive(connection: Connection, text: string): void {
    // @see discord docs: events/gateway, "Rate Limiting" and "Sending Events"
    const now = systemClock.now();
    connection.received = [...connection.received.filter((atMs) => atMs > now - 60_000), now];
    if (connection.received.length > 120) throw new HangUp(4008, 'more than 120 gateway events in a minute');
    if (Buffer.byteLength(text) > 4096) throw new HangUp(4002, 'a gateway event of more than 4096 bytes');
    const read = packet.safeParse(jsonOf(text));
    if (!read.success) throw new HangUp(4002, `no gateway event: ${text.slice(0, 80)}`);
    const { op, d } = read.data;
    switch (op) {
      case OP.heartbeat:
        this.#beat(connection, d);
        break;
      case OP.identify:
        this.#identify(connection, d);
        break;
      case OP.resume:
        this.#resume(connection, d);
        break;
      case OP.presence:
      case OP.voice:
      case OP.members:
        if (connection.session === null) throw new HangUp(4003, `op ${op} before identifying`);
        break;
      default:
        throw new HangUp(4001, `unknown opcode ${op}`);
    }
  }

  #beat(connection: Connection, seq: unknown): void {
    connection.lastBeatMs = systemClock.now();
    const last = connection.session?.seq ?? 0;
    if (seq !== null && (typeof seq !== 'number' || (connection.session !== null && seq > last))) {
      this.#parts.violate(`heartbeat with sequence ${JSON.stringify(seq)}, the last was ${last}`);
    }
    this.#send(connection.socket, { op: OP.ack });
  }

  /** @see discord docs: events/gateway-events, "Identify" */
  #identify(connection: Connection, d: unknown): void {
    const { socket } = connection;
    if (connection.session !== null) throw new HangUp(4005, 'a second IDENTIFY on a connection');
    const read = identify.safeParse(d);
    if (!read.success) throw new HangUp(4002, `invalid IDENTIFY: ${read.error.message}`);
    const { token, intents, shard = [0, 1] } = read.data;
    if (token !== this.#parts.token) throw new HangUp(4004, 'IDENTIFY with a wrong token');
    if (shard[0] >= shard[1]) throw new HangUp(4010, `IDENTIFY as shard ${shard.join('/')}`);
    if ((intents & ~ALL_INTENTS) !== 0) throw new HangUp(4013, `IDENTIFY with unknown intents ${intents}`);
    if ((intents & PRIVILEGED & ~this.#parts.privileged) !== 0) {
      throw new HangUp(4014, `IDENTIFY with privileged intents ${intents & PRIVILEGED}`);
    }
    if (connection.isResumeUrl) this.#parts.violate('IDENTIFY at the resume_gateway_url');
    const session = new Session(randomBytes(16).toString('hex'), intents);
    this.#sessions.set(session.id, session);
    this.identifies += 1;
    this.intents = intents;
    connection.session = session;
    session.attach(socket);
    const { ready, events } = this.#parts.welcome();
    const address = { session_id: session.id, resume_gateway_url: `${this.#parts.origin()}/resume` };
    session.dispatch({ event: 'READY', data: { ...ready, ...address, shard } });
    for (const one of events) if ((intents & one.intent) !== 0 || one.intent === 0) session.dispatch(one);
    this.#parts.changed();
  }

  /** @see discord docs: events/gateway, "Resuming" */
  #resume(connection: Connection, d: unknown): void {
    const { socket } = connection;
    const read = resume.safeParse(d);
    if (!read.success) throw new HangUp(4002, `invalid RESUME: ${read.error.message}`);
    const { token, session_id, seq } = read.data;
    if (token !== this.#parts.token) throw new HangUp(4004, 'RESUME with a wrong token');
    if (!connection.isResumeUrl) this.#parts.violate('RESUME elsewhere than at the resume_gateway_url');
    const session = this.#sessions.get(session_id);
    if (session === undefined) {
      this.#send(socket, { op: OP.invalid, d: false });
      return;
    }
    if (seq > session.seq) throw new HangUp(4007, `RESUME from ${seq}, the last was ${session.seq}`);
    connection.session = session;
    session.attach(socket);
    session.replay(seq);
    session.dispatch({ event: 'RESUMED', data: {} });
    this.resumes += 1;
    this.#parts.changed();
  }

  /** "If your app fails to send a heartbeat event in time, your connection will be closed": "Heartbeat Interval". */
  #watchHeartbeat(connection: Connection): () => void {
    const { heartbeatMs } = this.#parts;
    const timer = setInterval(() => {
      if (systemClock.now() - connection.lastBeatMs > 2 * heartbeatMs)
        this.#guard(connection.socket, () => {
          throw new HangUp(4000, 'no heartbeat');
        });
    }, heartbeatMs);
    timer.unref();
    return () => clearInterval(timer);
  }

  /** Closes the connection where the bot broke a rule. */
  #guard(socket: WebSocket, act: () => void): void {
    try {
      act();
    } catch (thrown) {
      if (!(thrown instanceof HangUp)) throw thrown;
      this.#parts.violate(`gateway closed with ${thrown.code}: ${thrown.message}`);
      socket.close(thrown.code);
    }
  }

  #send(socket: WebSocket, payload: { readonly op: number; readonly d?: unknown }): void {
    socket.send(JSON.stringify({ d: null, s: null, t: null, ...payload }));
  }
}

const textOf = (data: RawData): string =>
  (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString('utf8');

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
