import { randomBytes, randomInt } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import type { Courier, Transport } from './courier.ts';
import type { Attempt, Envelope, Json } from './records.ts';
import type { World } from './world.ts';

/** "Up to 10 open WebSocket connections": apis/events-api/using-socket-mode "Using multiple connections". */
const MAX_CONNECTIONS = 10;

/** Schema of the messages from the app: acknowledgements only. */
const acknowledgement = z.strictObject({ envelope_id: z.string(), payload: z.looseObject({}).optional() });

/** Reason for a disconnect request. @see docs.slack.dev/apis/events-api/using-socket-mode "Disconnecting" */
export type DisconnectReason = 'warning' | 'refresh_requested' | 'link_disabled';

interface Connection {
  readonly socket: WebSocket;
  /** Attempts that were sent over this connection. */
  readonly attempts: Set<Attempt>;
  /** Asked to close: receives no new envelopes. */
  isDraining: boolean;
}

/** Socket Mode transport. @see docs.slack.dev/apis/events-api/using-socket-mode */
export class Sockets implements Transport {
  readonly timeoutReason = 'timeout';
  readonly #world: World;
  readonly #courier: () => Courier;
  readonly #server = new WebSocketServer({ noServer: true });
  readonly #tickets = new Set<string>();
  readonly #connections = new Set<Connection>();
  /** Number of connections opened so far. */
  opened = 0;
  /** Number of further connections to reject. */
  refusals = 0;

  constructor(world: World, courier: () => Courier) {
    this.#world = world;
    this.#courier = courier;
  }

  /** Number of open connections. */
  get open(): number {
    return this.#connections.size;
  }

  /** Returns a URL for one connection. @see docs.slack.dev/reference/methods/apps.connections.open */
  address(): string {
    const ticket = randomBytes(16).toString('hex');
    this.#tickets.add(ticket);
    return `${this.#world.origin().replace('http', 'ws')}/link/?ticket=${ticket}&app_id=${this.#world.appId}`;
  }

  /** Upgrades a connection of the HTTP server. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const url = new URL(request.url ?? '/', this.#world.origin());
    const ticket = url.searchParams.get('ticket') ?? '';
    const isKnown = url.pathname === '/link/' && this.#tickets.delete(ticket);
    if (!isKnown)
      this.#world.violate('a socket opened with an address that was not given out, or given out for another');
    if (this.#connections.size >= MAX_CONNECTIONS) this.#world.violate(`more than ${MAX_CONNECTIONS} connections`);
    if (!isKnown || this.#connections.size >= MAX_CONNECTIONS || this.refusals > 0) {
      this.refusals = Math.max(0, this.refusals - 1);
      socket.destroy();
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (opened) => this.#open(opened));
  }

  /** "Each payload … may be sent to any of the connections". */
  send(envelope: Envelope, attempt: Attempt): boolean {
    const ready = [...this.#connections].filter(({ isDraining }) => !isDraining);
    const connection = ready[randomInt(Math.max(1, ready.length))];
    if (connection === undefined) return false;
    connection.attempts.add(attempt);
    const { kind, payload, type } = envelope;
    const retry = { retry_attempt: attempt.number, retry_reason: attempt.reason ?? '' };
    this.#say(connection.socket, {
      envelope_id: attempt.id,
      type: kind,
      accepts_response_payload: takesPayload(type),
      ...(kind === 'events_api' ? retry : {}),
      payload,
    });
    return true;
  }

  /** Sends "the disconnect message": the app has to open another connection and close this one. */
  disconnect(reason: DisconnectReason, most = Number.POSITIVE_INFINITY): void {
    for (const connection of [...this.#connections].slice(0, most)) {
      // "warning" is sent about ten seconds before the end; until then payloads still arrive.
      connection.isDraining = reason !== 'warning';
      this.#say(connection.socket, { type: 'disconnect', reason, debug_info: { host: 'fake' } });
    }
  }

  /** Breaks the connections without a close frame. */
  break(): void {
    for (const { socket } of this.#connections) socket.terminate();
  }

  /** Closes the connections properly. */
  closeSockets(): void {
    for (const { socket } of this.#connections) socket.close(1000);
  }

  /** Stops the server and terminates all connections. */
  close(): void {
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
  }

  #open(socket: WebSocket): void {
    const connection: Connection = { socket, attempts: new Set(), isDraining: false };
    this.#connections.add(connection);
    this.opened += 1;
    socket.on('error', () => {});
    socket.on('message', (data) => this.#receive(connection, textOf(data)));
    socket.on('close', () => {
      this.#connections.delete(connection);
      for (const attempt of connection.attempts) if (attempt.ackedMs === null) this.#courier().lost(attempt);
      this.#world.changed();
    });
    this.#say(socket, {
      type: 'hello',
      num_connections: this.#connections.size,
      connection_info: { app_id: this.#world.appId },
      debug_info: { host: 'fake', build_number: 1, approximate_connection_time: 18_060 },
    });
    this.#world.changed();
  }

  #receive(connection: Connection, text: string): void {
    const read = acknowledgement.safeParse(jsonOf(text));
    if (!read.success) {
      this.#world.violate(`no acknowledgement on the socket: ${text.slice(0, 120)}`);
      return;
    }
    const { envelope_id: attemptId, payload = {} } = read.data;
    // A library that reconnected meanwhile acknowledges over its new connection, where Slack does not expect it.
    const isElsewhere =
      this.#courier().knows(attemptId) && ![...connection.attempts].some(({ id }) => id === attemptId);
    if (!isElsewhere) this.#courier().acknowledge(attemptId, payload);
  }

  #say(socket: WebSocket, message: Json): void {
    socket.send(JSON.stringify(message));
  }
}

/**
 * Returns whether the acknowledgement of this type may carry a payload. @see
 * docs.slack.dev/apis/events-api/using-socket-mode "Acknowledging": `accepts_response_payload`
 */
export const takesPayload = (type: string): boolean =>
  ['command', 'view_submission', 'block_suggestion'].includes(type);

const textOf = (data: RawData): string =>
  (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString('utf8');

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
