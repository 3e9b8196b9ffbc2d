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

/** What the app sends: nothing but acknowledgements. */
const acknowledgement = z.strictObject({ envelope_id: z.string(), payload: z.looseObject({}).optional() });

/** Why Slack wants a connection closed. @see docs.slack.dev/apis/events-api/using-socket-mode "Disconnecting" */
export type DisconnectReason = 'warning' | 'refresh_requested' | 'link_disabled';

interface Connection {
  readonly socket: WebSocket;
  /** Attempts that were sent here. */
  readonly attempts: Set<Attempt>;
  /** Told to close: nothing new goes here. */
  isLeaving: boolean;
}

/** Socket Mode. @see docs.slack.dev/apis/events-api/using-socket-mode */
export class Sockets implements Transport {
  readonly timeoutReason = 'timeout';
  readonly #world: World;
  readonly #courier: () => Courier;
  readonly #server = new WebSocketServer({ noServer: true });
  readonly #tickets = new Set<string>();
  readonly #connections = new Set<Connection>();
  /** How many connections were opened. */
  opened = 0;
  /** How many connections are refused from now on. */
  refusals = 0;

  constructor(world: World, courier: () => Courier) {
    this.#world = world;
    this.#courier = courier;
  }

  /** How many connections are open. */
  get open(): number {
    return this.#connections.size;
  }

  /** An address for one connection. @see docs.slack.dev/reference/methods/apps.connections.open */
  address(): string {
    const ticket = randomBytes(16).toString('hex');
    this.#tickets.add(ticket);
    return `${this.#world.origin().replace('http', 'ws')}/link/?ticket=${ticket}&app_id=${this.#world.appId}`;
  }

  /** Takes a connection over from the HTTP server. */
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
    const ready = [...this.#connections].filter(({ isLeaving }) => !isLeaving);
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

  /** "The disconnect message": the app has to open another connection and leave this one. */
  disconnect(reason: DisconnectReason, most = Number.POSITIVE_INFINITY): void {
    for (const connection of [...this.#connections].slice(0, most)) {
      // "warning" comes about ten seconds before the end; until then payloads still arrive.
      connection.isLeaving = reason !== 'warning';
      this.#say(connection.socket, { type: 'disconnect', reason, debug_info: { host: 'fake' } });
    }
  }

  /** The connections break, without a close frame. */
  break(): void {
    for (const { socket } of this.#connections) socket.terminate();
  }

  /** The connections are closed properly. */
  closeSockets(): void {
    for (const { socket } of this.#connections) socket.close(1000);
  }

  /** Ends everything. */
  close(): void {
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
  }

  #open(socket: WebSocket): void {
    const connection: Connection = { socket, attempts: new Set(), isLeaving: false };
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
    // A library that reconnected meanwhile answers by its new connection, where Slack does not wait for it.
    const isElsewhere =
      this.#courier().knows(attemptId) && ![...connection.attempts].some(({ id }) => id === attemptId);
    if (!isElsewhere) this.#courier().acknowledge(attemptId, payload);
  }

  #say(socket: WebSocket, message: Json): void {
    socket.send(JSON.stringify(message));
  }
}

/** Whose acknowledgement may say something. @see docs.slack.dev/apis/events-api/using-socket-mode "Acknowledging": `accepts_response_payload` */
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
