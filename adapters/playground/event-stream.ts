import { PassThrough } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#src/clock.ts';
import type { BoardEvent } from './live-updates.ts';
import { type MessageStore, maySee, toWire } from './message-store.ts';

/** Interval between heartbeats, which keep proxies from closing an idle stream. */
const HEARTBEAT_MS = 20_000;

/** Event on which the page reloads its channel. */
const HELLO = 'event: hello\ndata: {}\n\n';

/** Largest buffer of a stream whose page does not read; beyond it the stream is closed, and the page reconnects. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;

/**
 * Server-sent events of the open pages, one stream per page, with every change of a message its user may see. Nothing
 * is replayed: a page that (re)connects, or may have missed events, gets `hello`, reloads its channel and merges by
 * `revision`.
 */
export class LiveStreams {
  readonly #messages: MessageStore;
  readonly #clock: Clock;
  readonly #open = new Set<PassThrough>();

  constructor(messages: MessageStore, clock: Clock) {
    this.#messages = messages;
    this.#clock = clock;
  }

  /** Streams the events `user` may see until either side closes. */
  send(request: FastifyRequest, reply: FastifyReply, user: string): FastifyReply {
    const stream = new PassThrough({ highWaterMark: MAX_BUFFERED_BYTES });
    const write = (chunk: string): void => {
      if (!stream.write(chunk)) stream.destroy();
    };
    const unsubscribe = this.#messages.updates.subscribe((event) => {
      if (event.kind === 'missed') write(HELLO);
      else if (maySee(event.message, user)) write(eventText(event));
    });
    const beat = (): void => {
      write(': still here\n\n');
      stopHeartbeat = this.#clock.after(HEARTBEAT_MS, beat);
    };
    let stopHeartbeat = this.#clock.after(HEARTBEAT_MS, beat);
    this.#open.add(stream);
    stream.on('close', () => {
      unsubscribe();
      stopHeartbeat();
      this.#open.delete(stream);
    });
    request.raw.on('close', () => stream.destroy());
    write(`retry: 1000\n${HELLO}`);
    return reply.header('cache-control', 'no-store').type('text/event-stream').send(stream);
  }

  /** Ends every stream, so that the server can close on shutdown. */
  end(): void {
    for (const stream of this.#open) stream.end();
  }
}

function eventText(event: Exclude<BoardEvent, { kind: 'missed' }>): string {
  const data =
    event.kind === 'message' ? toWire(event.message) : { id: event.message.id, channel: event.message.channel };
  return `event: ${event.kind}\ndata: ${JSON.stringify(data)}\n\n`;
}
