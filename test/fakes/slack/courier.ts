import { randomUUID } from 'node:crypto';
import { applyAnswer } from './answers.ts';
import type { Attempt, Envelope, Json } from './records.ts';
import type { World } from './world.ts';

/** "Your app must … respond within 3 seconds": interactivity/handling-user-interaction, apis/events-api. */
export const ACK_WITHIN_MS = 3000;

/** "Nearly immediately, … after 1 minute, … after 5 minutes": apis/events-api "Retries". */
const RETRY_AFTER_MS = [0, 60_000, 5 * 60_000];

/** Transport of requests to the app. */
export interface Transport {
  /** Sends an attempt; returns false if no connection could take it. */
  send(envelope: Envelope, attempt: Attempt): boolean;
  /** Retry reason that Slack gives when no acknowledgement arrived. */
  readonly timeoutReason: string;
}

/** Delivers envelopes, waits for their acknowledgement and retries events. */
export class Courier {
  readonly #world: World;
  #transport: Transport;
  readonly #attempts = new Map<string, Envelope>();

  constructor(world: World, transport: Transport) {
    this.#world = world;
    this.#transport = transport;
  }

  /**
   * Switches the transport; Socket Mode and HTTP exclude each other. @see
   * docs.slack.dev/apis/events-api/using-socket-mode
   */
  use(transport: Transport): void {
    this.#transport = transport;
  }

  /** Sends an envelope for the first time, or again. */
  send(envelope: Envelope, number = 0, reason: string | null = null): void {
    const sentMs = this.#world.clock.now();
    const id = randomUUID();
    const attempt: Attempt = { id, number, reason, sentMs, isOut: false, isLost: false, ackedMs: null };
    envelope.attempts.push(attempt);
    this.#attempts.set(id, envelope);
    attempt.isOut = this.#transport.send(envelope, attempt);
    this.#world.clock.after(ACK_WITHIN_MS + 1, () => this.#repeat(envelope, attempt));
    this.#world.clock.after(this.#world.shortlyMs + 1, () => this.#judge(envelope, attempt));
  }

  /** Returns whether the attempt exists. */
  knows(attemptId: string): boolean {
    return this.#attempts.has(attemptId);
  }

  /** Records an acknowledgement of the app. */
  acknowledge(attemptId: string, payload: Json): void {
    const world = this.#world;
    const envelope = this.#attempts.get(attemptId);
    const attempt = envelope?.attempts.find(({ id }) => id === attemptId);
    if (envelope === undefined || attempt === undefined) {
      world.violate(`acknowledgement of an unknown envelope ${attemptId}`);
      return;
    }
    const name = `${envelope.kind} ${envelope.type}`;
    if (attempt.ackedMs !== null) {
      world.violate(`${name} acknowledged twice`);
      return;
    }
    const now = world.clock.now();
    attempt.ackedMs = now;
    // Later than that Slack has given up; the violation is recorded by then.
    if (now - attempt.sentMs <= world.shortlyMs) {
      envelope.answer ??= { atMs: now, payload };
      applyAnswer(world, envelope, payload);
    }
    world.changed();
  }

  /** Marks an attempt whose acknowledgement can no longer arrive. */
  lost(attempt: Attempt): void {
    attempt.isLost = true;
  }

  #judge({ kind, type }: Envelope, { ackedMs, isOut, isLost }: Attempt): void {
    if (ackedMs !== null || !isOut || isLost) return;
    this.#world.violate(`${kind} ${type} not acknowledged within ${this.#world.shortlyMs / 1000} s`);
  }

  #repeat(envelope: Envelope, attempt: Attempt): void {
    if (attempt.ackedMs !== null) return;
    this.#world.changed();
    const waitMs = RETRY_AFTER_MS[attempt.number];
    if (envelope.kind !== 'events_api' || waitMs === undefined) return;
    const again = (): void => this.send(envelope, attempt.number + 1, this.#transport.timeoutReason);
    if (waitMs === 0) again();
    else this.#world.clock.after(waitMs, again);
  }
}
