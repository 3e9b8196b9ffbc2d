import {
  GatewayCloseCodes,
  GatewayDispatchEvents,
  type GatewayDispatchPayload,
  GatewayOpcodes,
  GatewayVersion,
} from 'discord.js';
import { z } from 'zod';
import type { CancelTimer, Clock } from '#src/clock.ts';

/** A session with Discord: what it takes to be told of everything that happened since. */
export interface Session {
  readonly id: string;
  /** Where it is to be resumed. */
  readonly resumeUrl: string;
  /** The number of the last event. */
  readonly sequence: number;
}

/** Told of what happens on a {@link Connection}. */
export interface ConnectionEvents {
  event(event: GatewayDispatchPayload): void;
  /** A session was begun, or, with `null`, is over. */
  session(session: Session | null): void;
  /** Events come, from now on or again. */
  connected(how: 'begun' | 'resumed'): void;
  /** No events come; it is connected again by itself. @param code as Discord gave it */
  interrupted(code: number): void;
  /** Discord wants no such connection: nothing but other settings helps. */
  refused(code: number): void;
}

/** What a {@link Connection} is made of. */
export interface ConnectionOptions {
  readonly token: string;
  /** A bitfield. */
  readonly intents: number;
  readonly shard: readonly [id: number, count: number];
  /** The session to go on with. */
  readonly session: Session | null;
  /** Waits until a session may be begun. @returns the gateway's address. */
  readonly permit: (signal: AbortSignal) => Promise<string>;
  /** Asked before anything that comes in is looked at, and before connecting: where it is not, the connection is over. */
  readonly isOurs: () => boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly events: ConnectionEvents;
}

/** An own code keeps the session; 1000 and 1001 would end it. @see https://discord.com/developers/docs/events/gateway#initiating-a-disconnect */
const LEAVE_RESUMABLE = 4200;
/** A connection that says nothing for so long, when it has to, is given up. */
const PATIENCE_MS = 30_000;
/** After so many attempts without an answer a session is gone on with at the gateway's own address. */
const MOST_UNANSWERED = 3;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/** @see https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes */
const REFUSALS: ReadonlySet<number> = new Set([
  GatewayCloseCodes.AuthenticationFailed,
  GatewayCloseCodes.InvalidShard,
  GatewayCloseCodes.ShardingRequired,
  GatewayCloseCodes.InvalidAPIVersion,
  GatewayCloseCodes.InvalidIntents,
  GatewayCloseCodes.DisallowedIntents,
]);
const SESSION_IS_OVER: ReadonlySet<number> = new Set([GatewayCloseCodes.InvalidSeq, GatewayCloseCodes.SessionTimedOut]);

const packet = z.looseObject({ op: z.int(), d: z.unknown(), s: z.int().nullish(), t: z.string().nullish() });
const hello = z.looseObject({ heartbeat_interval: z.number().positive() });
const ready = z.looseObject({ session_id: z.string(), resume_gateway_url: z.url() });

/**
 * One connection to Discord's gateway that comes back by itself. Unlike discord.js's own it goes on with a session that
 * another process began, and leaves one behind that another process can go on with.
 * @see https://discord.com/developers/docs/events/gateway#connection-lifecycle
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #closing = new AbortController();
  readonly #timers = new Map<'beat' | 'patience' | 'retry', CancelTimer>();
  #socket: WebSocket | null = null;
  #session: Session | null;
  #isAcknowledged = true;
  #failures = 0;
  /** Attempts in a row to which nobody said hello. */
  #unanswered = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#session = options.session;
  }

  /** Begins to connect. */
  open(): void {
    void this.#connect();
  }

  /** Takes nothing more in; the session stays. */
  close(): void {
    this.#closing.abort();
    this.#drop();
  }

  async #connect(): Promise<void> {
    if (!this.#isWanted()) return;
    try {
      const resumeUrl = this.#unanswered < MOST_UNANSWERED ? this.#session?.resumeUrl : undefined;
      const address = resumeUrl ?? (await this.#options.permit(this.#closing.signal));
      if (this.#isWanted()) this.#connectTo(address);
    } catch {
      this.#connectLater();
    }
  }

  #connectTo(address: string): void {
    const url = new URL(address);
    url.searchParams.set('v', GatewayVersion);
    url.searchParams.set('encoding', 'json');
    const socket = new WebSocket(url);
    this.#socket = socket;
    this.#unanswered += 1;
    const ifCurrent =
      <Event>(act: (event: Event) => void) =>
      (event: Event): void => {
        if (this.#socket === socket && this.#isWanted()) act(event);
      };
    socket.addEventListener(
      'message',
      ifCurrent<MessageEvent>(({ data }) => this.#receive(data)),
    );
    // What cannot be connected to is closed as well.
    socket.addEventListener(
      'close',
      ifCurrent<CloseEvent>(({ code }) => this.#ended(code)),
    );
    this.#expect();
  }

  /** Whether there is any use in going on; what is not ours any more is closed by whoever finds out. */
  #isWanted(): boolean {
    if (!this.#closing.signal.aborted && this.#options.isOurs()) return true;
    this.close();
    return false;
  }

  #receive(text: unknown): void {
    const read = packet.safeParse(jsonOf(text));
    // What cannot be read may be half of something: it is told again after a new beginning.
    if (!read.success || !this.#understood(read.data)) this.#interrupt(GatewayCloseCodes.DecodeError);
  }

  /** Does what a packet says. @returns whether it says something. */
  #understood({ op, d, s = null, t = null }: z.infer<typeof packet>): boolean {
    switch (op) {
      case GatewayOpcodes.Hello:
        return this.#greeted(hello.safeParse(d).data?.heartbeat_interval);
      case GatewayOpcodes.Heartbeat:
        this.#sendBeat();
        return true;
      case GatewayOpcodes.HeartbeatAck:
        this.#isAcknowledged = true;
        return true;
      case GatewayOpcodes.Dispatch:
        return this.#told(t, s, d);
      case GatewayOpcodes.InvalidSession:
        if (d !== true) this.#forget();
        this.#interrupt(0);
        return true;
      case GatewayOpcodes.Reconnect:
        this.#interrupt(0);
        return true;
      default:
        return true;
    }
  }

  #greeted(intervalMs: number | undefined): boolean {
    if (intervalMs === undefined) return false;
    const { token, intents, shard, random } = this.#options;
    this.#isAcknowledged = true;
    this.#unanswered = 0;
    this.#beatIn(intervalMs * random(), intervalMs);
    if (this.#session === null) {
      const properties = { os: process.platform, browser: 'dailies', device: 'dailies' };
      this.#send(GatewayOpcodes.Identify, { token, intents, shard, properties });
    } else {
      const { id, sequence } = this.#session;
      this.#send(GatewayOpcodes.Resume, { token, session_id: id, seq: sequence });
    }
    this.#expect();
    return true;
  }

  #told(t: string | null, s: number | null, d: unknown): boolean {
    const { events } = this.#options;
    if (t === GatewayDispatchEvents.Ready) {
      const { data } = ready.safeParse(d);
      if (data === undefined) return false;
      this.#session = { id: data.session_id, resumeUrl: data.resume_gateway_url, sequence: s ?? 0 };
      events.session(this.#session);
    } else if (s !== null && this.#session !== null) {
      this.#session = { ...this.#session, sequence: Math.max(this.#session.sequence, s) };
    }
    if (t === GatewayDispatchEvents.Ready || t === GatewayDispatchEvents.Resumed) {
      this.#failures = 0;
      this.#cancel('patience');
      events.connected(t === GatewayDispatchEvents.Ready ? 'begun' : 'resumed');
    }
    events.event({ op: GatewayOpcodes.Dispatch, t, s, d } as GatewayDispatchPayload);
    return true;
  }

  /** "A zombied connection": a heartbeat that is not answered. @see https://discord.com/developers/docs/events/gateway#sending-heartbeats */
  #beatIn(delayMs: number, intervalMs: number): void {
    this.#set('beat', delayMs, () => {
      if (!this.#isAcknowledged) {
        this.#interrupt(0);
        return;
      }
      this.#isAcknowledged = false;
      this.#sendBeat();
      this.#beatIn(intervalMs, intervalMs);
    });
  }

  #sendBeat(): void {
    this.#send(GatewayOpcodes.Heartbeat, this.#session?.sequence ?? null);
  }

  #send(op: GatewayOpcodes, d: unknown): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ op, d }));
  }

  /** The connection ended, or never began. */
  #ended(code: number): void {
    if (REFUSALS.has(code)) {
      this.#drop();
      this.#options.events.refused(code);
      return;
    }
    if (SESSION_IS_OVER.has(code)) this.#forget();
    this.#interrupt(code);
  }

  #interrupt(code: number): void {
    this.#drop();
    this.#options.events.interrupted(code);
    this.#connectLater();
  }

  #connectLater(): void {
    const { random } = this.#options;
    const pauseMs = this.#failures === 0 ? 0 : Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.#failures - 1));
    this.#failures += 1;
    this.#set('retry', pauseMs * (1 - random() / 2), () => void this.#connect());
  }

  #forget(): void {
    this.#session = null;
    this.#options.events.session(null);
  }

  #drop(): void {
    for (const name of ['beat', 'patience', 'retry'] as const) this.#cancel(name);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(LEAVE_RESUMABLE);
  }

  /** Something has to come within {@link PATIENCE_MS}. */
  #expect(): void {
    this.#set('patience', PATIENCE_MS, () => this.#interrupt(0));
  }

  #set(name: 'beat' | 'patience' | 'retry', delayMs: number, run: () => void): void {
    this.#cancel(name);
    const act = (): void => {
      if (this.#isWanted()) run();
    };
    this.#timers.set(name, this.#options.clock.after(delayMs, act));
  }

  #cancel(name: 'beat' | 'patience' | 'retry'): void {
    this.#timers.get(name)?.();
    this.#timers.delete(name);
  }
}

function jsonOf(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
