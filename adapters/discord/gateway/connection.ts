import {
  GatewayCloseCodes,
  GatewayDispatchEvents,
  type GatewayDispatchPayload,
  GatewayOpcodes,
  GatewayVersion,
} from 'discord.js';
import { z } from 'zod';
import type { CancelTimer } from '#src/clock.ts';
import { backoffMs } from '#src/retry.ts';
import type { ShardOptions } from './shard.ts';

/** Gateway session: the state needed to resume the event stream without gaps. */
export interface Session {
  readonly id: string;
  readonly resumeUrl: string;
  /** Sequence number of the last event. */
  readonly sequence: number;
}

/** Callbacks of a {@link Connection}. */
interface ConnectionEvents {
  event(event: GatewayDispatchPayload): void;
  /** Reports a new session, or with `null` the end of the current one. */
  session(session: Session | null): void;
  /** Reports that events are coming in, from a new session or a resumed one. */
  connected(how: 'begun' | 'resumed'): void;
  /** Reports that events have stopped; the connection reconnects by itself. @param code Discord's close code, or 0 */
  interrupted(code: number): void;
  /** Reports a fatal close code: reconnecting is useless until the settings change. */
  refused(code: number): void;
}

export interface ConnectionOptions extends Pick<ShardOptions, 'token' | 'permit' | 'clock' | 'random'> {
  /** Gateway intents as a bitfield. */
  readonly intents: number;
  readonly shard: readonly [id: number, count: number];
  /** Session to resume; `null` identifies anew. */
  readonly session: Session | null;
  /**
   * Returns whether this process still holds the shard; checked before each packet and each connect. If not, the
   * connection closes.
   */
  readonly isOurs: () => boolean;
  readonly events: ConnectionEvents;
}

/**
 * Close code of our own that keeps the session resumable; 1000 and 1001 would end it.
 * @see https://discord.com/developers/docs/events/gateway#initiating-a-disconnect
 */
const CLOSE_RESUMABLE = 4200;
/** Timeout for a packet that Discord has to send next (Hello, Ready, Resumed); then the connection is dropped. */
const RESPONSE_TIMEOUT_MS = 30_000;
/** After this many failed resumes, resume through the default gateway URL. */
const MAX_UNANSWERED = 3;
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

const packet = z.looseObject({ op: z.int(), d: z.unknown().optional(), s: z.int().nullish(), t: z.string().nullish() });
const hello = z.looseObject({ heartbeat_interval: z.number().positive() });
const ready = z.looseObject({ session_id: z.string(), resume_gateway_url: z.url() });

/**
 * One connection to Discord's gateway that reconnects by itself. Unlike discord.js's own, it resumes a session that
 * another process started, and leaves one behind that another process can resume.
 * @see https://discord.com/developers/docs/events/gateway#connection-lifecycle
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #closing = new AbortController();
  readonly #timers = new Map<'heartbeat' | 'timeout' | 'retry', CancelTimer>();
  #socket: WebSocket | null = null;
  #session: Session | null;
  #isAcknowledged = true;
  #failures = 0;
  /** Consecutive connection attempts without a Hello packet. */
  #unanswered = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#session = options.session;
  }

  open(): void {
    void this.#connect();
  }

  /** Closes the connection for good; the session stays resumable. */
  close(): void {
    this.#closing.abort();
    this.#drop();
  }

  async #connect(): Promise<void> {
    if (!this.#isActive()) return;
    try {
      const resumeUrl = this.#unanswered < MAX_UNANSWERED ? this.#session?.resumeUrl : undefined;
      const address = resumeUrl ?? (await this.#options.permit(this.#closing.signal));
      if (this.#isActive()) this.#connectTo(address);
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
        if (this.#socket === socket && this.#isActive()) act(event);
      };
    socket.addEventListener(
      'message',
      ifCurrent<MessageEvent>(({ data }) => this.#receive(data)),
    );
    // A failed connect fires `close` as well.
    socket.addEventListener(
      'close',
      ifCurrent<CloseEvent>(({ code }) => this.#closed(code)),
    );
    this.#startTimeout();
  }

  /** Returns whether the connection is still open and ours; closes it if the shard is no longer held. */
  #isActive(): boolean {
    if (!this.#closing.signal.aborted && this.#options.isOurs()) return true;
    this.close();
    return false;
  }

  #receive(text: unknown): void {
    const read = packet.safeParse(jsonOf(text));
    // An unreadable packet may be truncated: Discord redelivers it after a resume.
    if (!read.success || !this.#handle(read.data)) this.#interrupt(GatewayCloseCodes.DecodeError);
  }

  /** Handles a packet. @returns whether it was well-formed. */
  #handle({ op, d, s = null, t = null }: z.infer<typeof packet>): boolean {
    switch (op) {
      case GatewayOpcodes.Hello:
        return this.#identifyOrResume(hello.safeParse(d).data?.heartbeat_interval);
      case GatewayOpcodes.Heartbeat:
        this.#sendHeartbeat();
        return true;
      case GatewayOpcodes.HeartbeatAck:
        this.#isAcknowledged = true;
        return true;
      case GatewayOpcodes.Dispatch:
        return this.#dispatch(t, s, d);
      case GatewayOpcodes.InvalidSession:
        if (d !== true) this.#discardSession();
        this.#interrupt(0);
        return true;
      case GatewayOpcodes.Reconnect:
        this.#interrupt(0);
        return true;
      default:
        return true;
    }
  }

  #identifyOrResume(intervalMs: number | undefined): boolean {
    if (intervalMs === undefined) return false;
    const { token, intents, shard, random } = this.#options;
    this.#isAcknowledged = true;
    this.#unanswered = 0;
    this.#scheduleHeartbeat(intervalMs * random(), intervalMs);
    if (this.#session === null) {
      const properties = { os: process.platform, browser: 'dailies', device: 'dailies' };
      this.#send(GatewayOpcodes.Identify, { token, intents, shard, properties });
    } else {
      const { id, sequence } = this.#session;
      this.#send(GatewayOpcodes.Resume, { token, session_id: id, seq: sequence });
    }
    this.#startTimeout();
    return true;
  }

  #dispatch(t: string | null, s: number | null, d: unknown): boolean {
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
      this.#cancel('timeout');
      events.connected(t === GatewayDispatchEvents.Ready ? 'begun' : 'resumed');
    }
    events.event({ op: GatewayOpcodes.Dispatch, t, s, d } as GatewayDispatchPayload);
    return true;
  }

  /**
   * Sends heartbeats; an unacknowledged one means "a zombied connection".
   * @see https://discord.com/developers/docs/events/gateway#sending-heartbeats
   */
  #scheduleHeartbeat(delayMs: number, intervalMs: number): void {
    this.#set('heartbeat', delayMs, () => {
      if (!this.#isAcknowledged) {
        this.#interrupt(0);
        return;
      }
      this.#isAcknowledged = false;
      this.#sendHeartbeat();
      this.#scheduleHeartbeat(intervalMs, intervalMs);
    });
  }

  #sendHeartbeat(): void {
    this.#send(GatewayOpcodes.Heartbeat, this.#session?.sequence ?? null);
  }

  #send(op: GatewayOpcodes, d: unknown): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ op, d }));
  }

  /** Handles a closed connection, or one that was never established. */
  #closed(code: number): void {
    if (REFUSALS.has(code)) {
      this.#drop();
      this.#options.events.refused(code);
      return;
    }
    if (SESSION_IS_OVER.has(code)) this.#discardSession();
    this.#interrupt(code);
  }

  #interrupt(code: number): void {
    this.#drop();
    this.#options.events.interrupted(code);
    this.#connectLater();
  }

  #connectLater(): void {
    const pace = { firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random: this.#options.random() };
    const delayMs = this.#failures === 0 ? 0 : backoffMs(this.#failures, pace);
    this.#failures += 1;
    this.#set('retry', delayMs, () => void this.#connect());
  }

  #discardSession(): void {
    this.#session = null;
    this.#options.events.session(null);
  }

  #drop(): void {
    for (const name of ['heartbeat', 'timeout', 'retry'] as const) this.#cancel(name);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(CLOSE_RESUMABLE);
  }

  /** Interrupts the connection unless the next expected packet arrives within {@link RESPONSE_TIMEOUT_MS}. */
  #startTimeout(): void {
    this.#set('timeout', RESPONSE_TIMEOUT_MS, () => this.#interrupt(0));
  }

  #set(name: 'heartbeat' | 'timeout' | 'retry', delayMs: number, run: () => void): void {
    this.#cancel(name);
    const act = (): void => {
      if (this.#isActive()) run();
    };
    this.#timers.set(name, this.#options.clock.after(delayMs, act));
  }

  #cancel(name: 'heartbeat' | 'timeout' | 'retry'): void {
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
