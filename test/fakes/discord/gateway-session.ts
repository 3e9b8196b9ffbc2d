import type { WebSocket } from 'ws';
import type { Dispatch } from './world.ts';

/** @see discord docs: topics/opcodes-and-status-codes, "Gateway Opcodes" */
export const OP = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  presence: 3,
  voice: 4,
  resume: 6,
  reconnect: 7,
  members: 8,
  invalid: 9,
  hello: 10,
  ack: 11,
} as const;

/** A session: what was sent to it is kept, so that it can be sent again after a RESUME. */
export class Session {
  readonly id: string;
  readonly intents: number;
  #sent: string[] = [];
  #socket: WebSocket | null = null;

  constructor(id: string, intents: number) {
    this.id = id;
    this.intents = intents;
  }

  /** The number of the last event. */
  get seq(): number {
    return this.#sent.length;
  }

  get isConnected(): boolean {
    return this.#socket?.readyState === 1;
  }

  attach(socket: WebSocket): void {
    this.#socket = socket;
  }

  detach(): void {
    this.#socket = null;
  }

  /** Sends an event, or keeps it until the bot resumes. */
  dispatch({ event, data }: Pick<Dispatch, 'event' | 'data'>): void {
    const text = JSON.stringify({ op: OP.dispatch, t: event, s: this.seq + 1, d: data });
    this.#sent.push(text);
    if (this.isConnected) this.#socket?.send(text);
  }

  /** "The Gateway will send the missed events in order." @see discord docs: events/gateway, "Resuming" */
  replay(afterSeq: number): void {
    for (const text of this.#sent.slice(afterSeq)) this.#socket?.send(text);
  }

  send(payload: { readonly op: number; readonly d?: unknown }): void {
    if (this.isConnected) this.#socket?.send(JSON.stringify({ d: null, s: null, t: null, ...payload }));
  }

  close(code: number): void {
    this.#socket?.close(code);
  }

  /** The line breaks without a word. */
  terminate(): void {
    this.#socket?.terminate();
  }
}
