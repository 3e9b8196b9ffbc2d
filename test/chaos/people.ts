import { setTimeout as delay } from 'node:timers/promises';
import type { PlannedDeed } from './deeds.ts';
import { isDecision, isDue, stateOf, tasksOfOrder } from './due.ts';
import type { Asked, Pressed } from './history.ts';
import { OPERATOR } from './money.ts';
import type { Plan, PlannedOrder } from './plan.ts';
import { type Message, NO_ANSWER, post, pressable, TIMEOUT_MS, type WireMessage } from './playground.ts';
import { Presses } from './presses.ts';
import type { Replica } from './replica.ts';
import { commandFor } from './sets.ts';

const LOOK_EVERY_MS = 250;
const CHANNELS = ['general', 'clips'] as const;
const COMMAND_TRIES = 20;
/** Number of times that users repeat orders which the replicas turn away. */
const REFUSALS = 20;

/** Options of {@link People}. */
export interface PeopleOptions {
  readonly plan: Plan;
  readonly replicas: readonly Replica[];
  readonly nowMs: () => number;
  /** Returns the id that a user finds in the service's console for a task. */
  readonly upstreamIdOf: (task: string) => string | undefined;
}

/** Outcome of asking again. */
export interface AskedAgain {
  readonly unanswered: number;
  /** A replica responded, if only to turn an order away. */
  readonly wasHeard: boolean;
}

/**
 * Asks again until every order is answered, has been turned away {@link REFUSALS} times, or the timeout is over. While
 * no replica responds nothing counts: a user's press may have all of them killed, several times in a row.
 */
export async function insist(
  askAgain: () => Promise<AskedAgain>,
  { withinMs, nowMs, pause }: { withinMs: number; nowMs: () => number; pause: () => Promise<unknown> },
): Promise<void> {
  const untilMs = nowMs() + withinMs;
  for (let refusals = 0; refusals < REFUSALS && nowMs() < untilMs; ) {
    const { unanswered, wasHeard } = await askAgain();
    if (unanswered === 0) return;
    if (wasHeard) refusals += 1;
    await pause();
  }
}

/** Simulated users: order and press at every replica at once, and record the responses. */
export class People {
  readonly asked: Asked[] = [];
  readonly #options: PeopleOptions;
  readonly #presses: Presses;
  readonly #done = new Set<PlannedDeed>();
  /** Latest messages. */
  #messages: readonly Message[] = [];
  readonly #inFlight = new Set<Promise<unknown>>();
  #commands = 0;

  constructor(options: PeopleOptions) {
    this.#options = options;
    const { replicas, nowMs, upstreamIdOf } = options;
    const messages = (): readonly Message[] => this.#messages;
    this.#presses = new Presses({ replicas, nowMs, upstreamIdOf, messages, ask: (order) => this.ask(order) });
  }

  get pressed(): readonly Pressed[] {
    return this.#presses.pressed;
  }

  /** Sends all orders, each at its time by `nowMs`. Resolves once all were sent, answered or not. */
  async order(nowMs: () => number): Promise<void> {
    const { plan } = this.#options;
    await Promise.all(
      this.#orders(plan).flatMap((order) =>
        [0, ...order.againAfterMs].map(async (afterMs) => {
          await delay(Math.max(0, order.atMs + afterMs - nowMs()));
          await this.ask(order);
        }),
      ),
    );
  }

  /** Watches the messages until `signal` aborts, and performs the actions that are planned for their states. */
  async look(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#messages = await this.messages().catch(() => []);
      for (const message of this.#messages) this.#lookAt(message);
      await delay(LOOK_EVERY_MS);
    }
    await Promise.allSettled(this.#inFlight);
  }

  /** Repeats every order that was not answered yet. */
  async askAgain(): Promise<AskedAgain> {
    const waiting = () => {
      const answered = new Set(this.asked.filter(isAnswered).map(({ id }) => id));
      return this.#orders(this.#options.plan).filter(({ id }) => !answered.has(id));
    };
    const before = this.asked.length;
    await Promise.all(waiting().map((order) => this.ask(order)));
    return {
      unanswered: waiting().length,
      wasHeard: this.asked.slice(before).some(({ status }) => status !== null),
    };
  }

  /** Sends a command of the operator, repeatedly until it is answered. */
  async command(text: string): Promise<void> {
    this.#commands += 1;
    const body = { id: `c-${this.#commands}`, user: OPERATOR, channel: 'general', text };
    for (let tries = 0; tries < COMMAND_TRIES; tries += 1) {
      const replica = this.#options.replicas.find(({ isUp }) => isUp);
      const { status } = replica === undefined ? NO_ANSWER : await post(replica, '/playground/interactions', body);
      if (status === 202 || status === 400) return;
      await delay(LOOK_EVERY_MS);
    }
  }

  /** Presses on each request that waits now. */
  async pressAll(presses: readonly PlannedDeed[]): Promise<void> {
    const waiting = this.#messages.filter((message) => stateOf(message) === 'requested');
    await Promise.all(
      waiting.flatMap((message) => {
        const order = this.#orderOf(message);
        return order === undefined ? [] : presses.map((planned) => this.#presses.do(planned, message, order));
      }),
    );
  }

  /** Returns every message of every channel, as reported by one of the replicas. */
  async messages(): Promise<readonly Message[]> {
    const replica = this.#options.replicas.find(({ isUp }) => isUp);
    if (replica === undefined) return [];
    const lists = CHANNELS.map(async (channel) => {
      const response = await fetch(`${replica.url}/playground/messages?limit=1000&channel=${channel}`, {
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (!response.ok) throw new Error(`messages: ${response.status}`);
      return ((await response.json()) as readonly WireMessage[]).map(pressable);
    });
    return (await Promise.all(lists)).flat();
  }

  /** Returns a file of the playground, from any replica that serves it. */
  async file(path: string): Promise<Buffer | null> {
    for (const { url } of this.#options.replicas.filter(({ isUp }) => isUp)) {
      const response = await fetch(new URL(path, url ?? ''), { signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (response.ok) return Buffer.from(await response.arrayBuffer());
    }
    return null;
  }

  /** Delivers an interaction to every replica that is up. @returns whether one of them accepted it. */
  async ask(order: PlannedOrder): Promise<boolean> {
    const { id, user, channel, takes, ordered } = order;
    const text = commandFor(order);
    const up = this.#options.replicas.filter(({ isUp }) => isUp);
    const statuses = await Promise.all(
      up.map(async (replica) => {
        const atMs = this.#options.nowMs();
        const answer = await post(replica, '/playground/interactions', { id, user, channel, text });
        const { status, message } = answer;
        const isRefused = status === 400 && /budget|need an approval|settings changed/i.test(answer.error ?? '');
        const of = { platform: 'playground' as const, id, user, channel, takes, replica: replica.index, atMs };
        const isAskedAbout = ordered === 'storyboard';
        this.asked.push({
          ...of,
          status,
          message,
          ...(isRefused ? { isRefused } : {}),
          ...(isAskedAbout ? { isAskedAbout } : {}),
        });
        return status;
      }),
    );
    return statuses.includes(202);
  }

  /** Decides on an uncertain task, as {@link Presses.decide} does. */
  decide(on: Parameters<Presses['decide']>[0]): Promise<void> {
    return this.#presses.decide(on);
  }

  #orders({ orders }: Plan): readonly PlannedOrder[] {
    return orders.filter(({ platform }) => platform === 'playground');
  }

  #lookAt(message: Message): void {
    const order = this.#orderOf(message);
    if (order === undefined) return;
    for (const planned of order.deeds) {
      if (this.#done.has(planned) || !isDue(planned, message, order)) continue;
      // Approvers are asked in a message of its own, a moment later.
      if (isDecision(planned) && !this.#presses.isAsked(planned, order)) continue;
      this.#done.add(planned);
      const doing = this.#presses.do(planned, message, order).finally(() => this.#inFlight.delete(doing));
      this.#inFlight.add(doing);
    }
  }

  /** Returns the order of a task's message, or of a refusal from which its user can ask for an approval. */
  #orderOf(message: Message): PlannedOrder | undefined {
    const asked = message.buttons.find(({ id }) => /^(?:ask|order):/u.test(id))?.id.split(':')[1];
    const own = message.task === null ? (message.tasks ?? []).map(({ task }) => task) : [message.task];
    // On a board, a later take may stand first.
    const ids = new Set(stateOf(message) === null ? [asked] : own);
    return this.#orders(this.#options.plan).find((order) => tasksOfOrder(order).some((task) => ids.has(task)));
  }
}

/** Returns whether an order was taken, or refused for good: a user does not repeat it. */
function isAnswered({ status, isRefused }: Asked): boolean {
  return status === 202 || isRefused === true;
}
