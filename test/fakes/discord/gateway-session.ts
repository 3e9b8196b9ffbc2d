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

/** Which of how many parts of all servers a session is told of. */
export type ShardOf = readonly [id: number, count: number];

/** An event as it was sent. */
interface Sent {
  readonly text: string;
  /** The interaction that it told of. */
  readonly interaction: string | null;
}

/** A session: what was sent to it is kept, so that it can be sent again after a RESUME. */
export class Session {
  readonly id: string;
  readonly intents: number;
  readonly shard: ShardOf;
  #sent: Sent[] = [];
  #socket: WebSocket | null = null;
  /** How many events had been sent when the present connection began. */
  #connectedFrom = 0;

  constructor(id: string, intents: number, shard: ShardOf) {
    this.id = id;
    this.intents = intents;
    this.shard = shard;
  }

  /** The number of the last event. */
  get seq(): number {
    return this.#sent.length;
  }

  get isConnected(): boolean {
    return this.#socket?.readyState === 1;
  }

  /** Whether what happens in a server comes here; what happens in none comes to shard 0. */
  hears(guild: string | null): boolean {
    const [id, count] = this.shard;
    return shardOf(guild, count) === id;
  }

  /** Goes on over another connection; the one before it is closed. @param afterSeq what the bot has seen */
  attach(socket: WebSocket, afterSeq = 0): void {
    const before = this.#socket;
    this.#socket = socket;
    this.#connectedFrom = afterSeq;
    before?.close(4000);
  }

  /** The connection is closed. @returns the interactions that were told over it; `null` where it is another's by now. */
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
  replay(afterSeq: number): readonly string[] {
    const missed = this.#sent.slice(afterSeq);
    for (const { text } of missed) this.#socket?.send(text);
    return missed.flatMap(({ interaction }) => interaction ?? []);
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

/** "shard_id = (guild_id >> 22) % num_shards"; direct messages: 0. @see discord docs: events/gateway, "Sharding" */
export function shardOf(guild: string | null, count: number): number {
  return guild === null ? 0 : Number((BigInt(guild) >> 22n) % BigInt(count));
}
