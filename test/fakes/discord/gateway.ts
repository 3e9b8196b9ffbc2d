import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { systemClock } from '#src/clock.ts';
import { OP, Session, type ShardOf } from './gateway-session.ts';
import { INTENTS } from './posting.ts';
import type { Dispatch } from './world.ts';

/** Events at the start of a new session. */
export interface Welcome {
  readonly ready: Dispatch['data'];
  readonly events: readonly Dispatch[];
}

/** Options of {@link Gateway}. */
export interface GatewayParts {
  readonly token: string;
  /** Privileged intents granted to the application: a bitfield. */
  readonly privileged: number;
  readonly heartbeatMs: number;
  /** `ws://127.0.0.1:PORT`. */
  readonly origin: () => string;
  readonly violate: (what: string) => void;
  /** Recommended number of shards. */
  readonly shards: number;
  /** Number of sessions that may be started concurrently, and the interval for that many. */
  readonly maxConcurrency: number;
  readonly identifyEveryMs: number;
  /** Returns the data of READY without the session, and the events right after it. */
  readonly welcome: (shard: ShardOf) => Welcome;
  readonly changed: () => void;
  /** Called with interactions that were sent over a closed connection. */
  readonly lost: (interactions: readonly string[]) => void;
}

/** A resumed session. */
export interface Resumption {
  readonly session: string;
  readonly shard: ShardOf;
  /** The last event that the bot reported, and the last event sent. */
  readonly seq: number;
  readonly lastSeq: number;
}

/** Bits of all intents. @see discord docs: events/gateway, "List of Intents" */
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

/** Reason for closing a connection. @see discord docs: topics/opcodes-and-status-codes, "Gateway Close Event Codes" */
class HangUp extends Error {
  readonly code: number;

  constructor(code: number, why: string) {
    super(why);
    this.name = 'HangUp';
    this.code = code;
  }
}

/** One connection of the bot. */
interface Connection {
  readonly socket: WebSocket;
  readonly isResumeUrl: boolean;
  session: Session | null;
  /** Arrival times of the events of the last minute. */
  received: number[];
  lastBeatMs: number;
}

/** Gateway, version 10, in JSON. @see discord docs: events/gateway */
export class Gateway {
  readonly #parts: GatewayParts;
  readonly #server = new WebSocketServer({ noServer: true });
  readonly #sessions = new Map<string, Session>();
  /** Number of sessions that the bot started. */
  identifies = 0;
  get resumes(): number {
    return this.resumptions.length;
  }

  readonly resumptions: Resumption[] = [];
  readonly #begunAtMs = new Map<number, number>();
  /** Intents of the last session. */
  intents = 0;
  /** Number of further connections to reject. */
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

  /** @see discord docs: events/gateway, "Get Gateway Bot" */
  get description(): object {
    const { shards, maxConcurrency: max_concurrency, origin } = this.#parts;
    const left = { total: 1000, remaining: 1000 - this.identifies, reset_after: 86_400_000 };
    return { url: origin(), shards, session_start_limit: { ...left, max_concurrency } };
  }

  /** The connected shards, sorted. */
  get shards(): readonly number[] {
    return this.sessions
      .filter(({ isConnected }) => isConnected)
      .map(({ shard }) => shard[0])
      .sort((a, b) => a - b);
  }

  /**
   * Sends an event to every session that has its intent and its server; returns the number of sessions that received it
   * at once.
   */
  dispatch(dispatch: Dispatch): number {
    const guild = guildOf(dispatch);
    let taken = 0;
    for (const session of this.#sessions.values()) {
      if (!session.hears(guild)) continue;
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

  /** Closes the connections. "Session timed out" also ends the sessions: topics/opcodes-and-status-codes, 4009. */
  hangUp(code: number): void {
    for (const session of this.sessions) {
      if (code === 4009) this.#sessions.delete(session.id);
      session.close(code);
    }
  }

  /** Upgrades a connection of the HTTP server. */
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
      this.#parts.lost(session?.detach(socket) ?? []);
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
    if (!this.#mayBegin(shard)) {
      this.#send(socket, { op: OP.invalid, d: false });
      return;
    }
    const session = new Session(randomBytes(16).toString('hex'), intents, shard);
    this.#sessions.set(session.id, session);
    this.identifies += 1;
    this.intents = intents;
    connection.session = session;
    session.attach(socket);
    const { ready, events } = this.#parts.welcome(shard);
    const address = { session_id: session.id, resume_gateway_url: `${this.#parts.origin()}/resume` };
    session.dispatch({ event: 'READY', data: { ...ready, ...address, shard } });
    for (const one of events) if ((intents & one.intent) !== 0 || one.intent === 0) session.dispatch(one);
    this.#parts.changed();
  }

  /**
   * "Apps also have a limit for concurrent Identify requests allowed per 5 seconds. If you hit this limit, Discord will
   * respond with an Opcode 9 Invalid Session." @see discord docs: events/gateway, "Rate Limiting" and "Sharding"
   */
  #mayBegin([id, count]: ShardOf): boolean {
    const { maxConcurrency, identifyEveryMs, violate } = this.#parts;
    for (const { shard, isConnected } of this.#sessions.values()) {
      if (!isConnected) continue;
      if (shard[1] !== count) violate(`IDENTIFY as shard ${id}/${count} beside shard ${shard.join('/')}`);
      else if (shard[0] === id) violate(`IDENTIFY as shard ${id}/${count}, which is connected`);
    }
    const bucket = id % maxConcurrency;
    const now = systemClock.now();
    const isSoon = now - (this.#begunAtMs.get(bucket) ?? 0) < identifyEveryMs;
    if (isSoon) violate(`a second IDENTIFY within ${identifyEveryMs} ms in bucket ${bucket}`);
    else this.#begunAtMs.set(bucket, now);
    return !isSoon;
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
    this.resumptions.push({ session: session.id, shard: session.shard, seq, lastSeq: session.seq });
    session.attach(socket, seq);
    session.replay(seq);
    session.dispatch({ event: 'RESUMED', data: {} });
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

  /** Closes the connection if the bot broke a rule. */
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

/** Returns the server of an event; `null` if it has none. */
function guildOf({ event, data }: Dispatch): string | null {
  // A malformed event may have no data.
  const id = (data as typeof data | null)?.['guild_id'] ?? (event.startsWith('GUILD_') ? data['id'] : null);
  return typeof id === 'string' ? id : null;
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
