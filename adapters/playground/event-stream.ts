import { PassThrough } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#src/clock.ts';
import type { BoardEvent } from './live-updates.ts';
import { type MessageStore, maySee, toWire } from './message-store.ts';

/** Keeps proxies from closing a quiet stream. */
const HEARTBEAT_MS = 20_000;

/** Has the page read its channel again. */
const HELLO = 'event: hello\ndata: {}\n\n';

/** A page that does not read is let go when this much waits for it; it reconnects and reads the channel again. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

/** So many pages may be open at once; each is written to whenever a message changes. */
const MOST_OPEN = 1_000;

/**
 * The live side of open pages: server-sent events of every message a person may see. Nothing is replayed: a page
 * that (re)connects, or may have missed something, gets `hello`, reads its channel again and merges by `revision`.
 */
export class LiveStreams {
  readonly #board: MessageStore;
  readonly #clock: Clock;
  readonly #mostOpen: number;
  readonly #open = new Set<PassThrough>();

  constructor(board: MessageStore, clock: Clock, mostOpen = MOST_OPEN) {
    this.#board = board;
    this.#mostOpen = mostOpen;
    this.#clock = clock;
  }

  /** Answers a request with the events `user` may see, until either side ends it; with 503 where too many are open. */
  send(request: FastifyRequest, reply: FastifyReply, user: string): FastifyReply {
    if (this.#open.size >= this.#mostOpen) {
      return reply.code(503).header('retry-after', '30').send({ error: 'Too many pages are open. Close one.' });
    }
    const stream = new PassThrough({ highWaterMark: MAX_WAITING_BYTES });
    const write = (chunk: string): void => {
      if (!stream.write(chunk)) stream.destroy();
    };
    const stopListening = this.#board.news.listen((event) => {
      if (event.kind === 'missed') write(HELLO);
      else if (maySee(event.message, user)) write(eventText(event));
    });
    const stopBeating = this.#beat(write);
    this.#open.add(stream);
    stream.on('close', () => {
      stopListening();
      stopBeating();
      this.#open.delete(stream);
    });
    request.raw.on('close', () => stream.destroy());
    write(`retry: 1000\n${HELLO}`);
    return reply.header('cache-control', 'no-store').type('text/event-stream').send(stream);
  }

  /** Ends every stream, so that the server can close. */
  end(): void {
    for (const stream of this.#open) stream.end();
  }

  #beat(write: (chunk: string) => void): () => void {
    let cancel = this.#clock.after(HEARTBEAT_MS, beat);
    const clock = this.#clock;
    function beat(): void {
      write(': still here\n\n');
      cancel = clock.after(HEARTBEAT_MS, beat);
    }
    return () => cancel();
  }
}

function eventText(event: Exclude<BoardEvent, { kind: 'missed' }>): string {
  const data =
    event.kind === 'message' ? toWire(event.message) : { id: event.message.id, channel: event.message.channel };
  return `event: ${event.kind}\ndata: ${JSON.stringify(data)}\n\n`;
}
