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

/** Shard of a session: its id and the total number of shards. */
export type ShardOf = readonly [id: number, count: number];

/** A dispatched event. */
interface Sent {
  readonly text: string;
  /** Id of the interaction in the event. */
  readonly interaction: string | null;
}

/** A gateway session. Keeps the events sent, so that it can replay them after a RESUME. */
export class Session {
  readonly id: string;
  readonly intents: number;
  readonly shard: ShardOf;
  #sent: Sent[] = [];
  #socket: WebSocket | null = null;
  /** Number of events sent when the current connection began. */
  #connectedFrom = 0;

  constructor(id: string, intents: number, shard: ShardOf) {
    this.id = id;
    this.intents = intents;
    this.shard = shard;
  }

  /** Sequence number of the last event. */
  get seq(): number {
    return this.#sent.length;
  }

  get isConnected(): boolean {
    return this.#socket?.readyState === 1;
  }

  /** Returns whether the session receives the events of a server; events without a server go to shard 0. */
  hears(guild: string | null): boolean {
    const [id, count] = this.shard;
    return shardOf(guild, count) === id;
  }

  /**
   * Continues over another connection and closes the previous one. @param afterSeq last sequence number that the bot
   * received
   */
  attach(socket: WebSocket, afterSeq = 0): void {
    const before = this.#socket;
    this.#socket = socket;
    this.#connectedFrom = afterSeq;
    before?.close(4000);
  }

  /**
   * Handles a closed connection. @returns the interactions sent over it; `null` if another connection has replaced it.
   */
  detach(socket: WebSocket): readonly string[] | null {
    if (this.#socket !== socket) return null;
    this.#socket = null;
    return this.#sent.slice(this.#connectedFrom).flatMap(({ interaction }) => interaction ?? []);
  }

  /** Sends an event, or keeps it until the bot resumes. */
  dispatch({ event, data }: Pick<Dispatch, 'event' | 'data'>): void {
    const text = JSON.stringify({ op: OP.dispatch, t: event, s: this.seq + 1, d: data });
    this.#sent.push({
      text,
      interaction: event === 'INTERACTION_CREATE' ? String((data as typeof data | null)?.['id']) : null,
    });
    if (this.isConnected) this.#socket?.send(text);
  }

  /**
   * "The Gateway will send the missed events in order." @see discord docs: events/gateway, "Resuming"
   * @returns the interactions among them
   */
  replay(afterSeq: number): void {
    for (const { text } of this.#sent.slice(afterSeq)) this.#socket?.send(text);
  }

  send(payload: { readonly op: number; readonly d?: unknown }): void {
    if (this.isConnected) this.#socket?.send(JSON.stringify({ d: null, s: null, t: null, ...payload }));
  }

  close(code: number): void {
    this.#socket?.close(code);
  }

  /** Breaks the connection without a close frame. */
  terminate(): void {
    this.#socket?.terminate();
  }
}

/** "shard_id = (guild_id >> 22) % num_shards"; direct messages: 0. @see discord docs: events/gateway, "Sharding" */
export function shardOf(guild: string | null, count: number): number {
  return guild === null ? 0 : Number((BigInt(guild) >> 22n) % BigInt(count));
}
