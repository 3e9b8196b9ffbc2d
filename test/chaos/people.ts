import { setTimeout as delay } from 'node:timers/promises';
import type { Asked, Pressed } from './history.ts';
import type { Plan, PlannedDeed, PlannedOrder } from './plan.ts';
import type { Replica } from './replica.ts';

/** How long a person, or a platform, waits for an answer: longer than a lease that nobody let go of. */
const PATIENCE_MS = 15_000;
const LOOK_EVERY_MS = 250;
const CHANNELS = ['general', 'clips'] as const;

/** A message as `GET /playground/messages` gives it, as far as people look at it. @see adapters/playground/readme.md */
export interface Message {
  readonly id: string;
  readonly channel: string;
  readonly replyTo: string | null;
  readonly visibleTo: string | null;
  readonly asked: unknown;
  readonly state: string | null;
  readonly task: string | null;
  readonly mentions: readonly string[];
  readonly attachments: readonly { readonly bytes: number; readonly url: string }[];
  readonly buttons: readonly { readonly id: string }[];
}

/** What people need. */
export interface PeopleOptions {
  readonly plan: Plan;
  readonly replicas: readonly Replica[];
  readonly nowMs: () => number;
  /** What somebody finds in the service's console for a task. */
  readonly upstreamIdOf: (task: string) => string | undefined;
}

/** Those who order and press, at every replica at once, and write down what they were answered. */
export class People {
  readonly asked: Asked[] = [];
  readonly pressed: Pressed[] = [];
  readonly #options: PeopleOptions;
  readonly #done = new Set<PlannedDeed>();
  readonly #underWay = new Set<Promise<unknown>>();
  #presses = 0;

  constructor(options: PeopleOptions) {
    this.#options = options;
  }

  /** Orders everything at its time by `nowMs`. Resolves when all of it was asked for, answered or not. */
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

  /** Looks at the messages until `signal` aborts, and does what was planned for what they say. */
  async look(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const message of await this.messages().catch(() => [])) this.#lookAt(message);
      await delay(LOOK_EVERY_MS);
    }
    await Promise.allSettled(this.#underWay);
  }

  /** Whoever has had no answer yet tries again. @returns how many have none still. */
  async askAgain(): Promise<number> {
    const answered = new Set(this.asked.filter(({ status }) => status === 202).map(({ id }) => id));
    const waiting = this.#orders(this.#options.plan).filter(({ id }) => !answered.has(id));
    await Promise.all(waiting.map((order) => this.ask(order)));
    return waiting.filter(({ id }) => !this.asked.some((asked) => asked.id === id && asked.status === 202)).length;
  }

  /** Every message of every channel, as some replica tells it. */
  async messages(): Promise<readonly Message[]> {
    const replica = this.#options.replicas.find(({ isUp }) => isUp);
    if (replica === undefined) return [];
    const lists = CHANNELS.map(async (channel) => {
      const response = await fetch(`${replica.url}/playground/messages?limit=1000&channel=${channel}`, {
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      if (!response.ok) throw new Error(`messages: ${response.status}`);
      return (await response.json()) as readonly Message[];
    });
    return (await Promise.all(lists)).flat();
  }

  /** Has an interaction delivered to every replica that is up. @returns whether one of them took it. */
  async ask(order: PlannedOrder): Promise<boolean> {
    const { id, user, channel } = order;
    const text = `/video create ${id}: a red fox in snow`;
    const up = this.#options.replicas.filter(({ isUp }) => isUp);
    const statuses = await Promise.all(
      up.map(async (replica) => {
        const atMs = this.#options.nowMs();
        const answer = await post(replica, '/playground/interactions', { id, user, channel, text });
        const { status, message } = answer;
        this.asked.push({ platform: 'playground', id, user, channel, replica: replica.index, atMs, status, message });
        return status;
      }),
    );
    return statuses.includes(202);
  }

  /** Decides on an uncertain task: gives the id of the service's console, or has it sent again where there is none. */
  async decide(on: { task: string; message: string; user: string; sends: number }): Promise<void> {
    const { task, message, user, sends } = on;
    const replica = this.#options.replicas.find(({ isUp }) => isUp);
    if (replica === undefined) return;
    this.#presses += 1;
    const at = { id: `d-${task}-${this.#presses}`, user, message };
    if (this.#options.upstreamIdOf(task) !== undefined) return this.#fillIn(replica, at, `lookup:${task}`, task);
    const answer = await post(replica, '/playground/presses', { ...at, button: `again:${task}:${sends}` });
    this.pressed.push({ action: 'again', task, afterSends: sends, status: answer.status, message: answer.message });
  }

  #orders({ orders }: Plan): readonly PlannedOrder[] {
    return orders.filter(({ platform }) => platform === 'playground');
  }

  #lookAt(message: Message): void {
    const { plan } = this.#options;
    if (message.task === null || message.state === null) return;
    const id = this.asked.find((asked) => asked.message === message.id)?.id;
    const order = plan.orders.find((one) => one.id === id);
    for (const deed of order?.deeds ?? []) {
      if (this.#done.has(deed) || WHEN[message.state] !== deed.when) continue;
      this.#done.add(deed);
      const doing = this.#do(deed, message, order?.id ?? '', order?.user ?? '').finally(() =>
        this.#underWay.delete(doing),
      );
      this.#underWay.add(doing);
    }
  }

  async #do(deed: PlannedDeed, message: Message, order: string, user: string): Promise<void> {
    const button = message.buttons.find(({ id }) => id.startsWith(`${deed.action}:`))?.id;
    const isReaction = deed.action === '🔁' || deed.action === '❌';
    if (button === undefined && !isReaction) return;
    await Promise.all(
      Array.from({ length: deed.times }, async () => {
        this.#presses += 1;
        const id = `p-${order}-${this.#presses}`;
        const up = this.#options.replicas.filter(({ isUp }) => isUp).slice(0, deed.copies);
        await Promise.all(
          up.map(async (replica) => {
            const at = { id, user, message: message.id };
            const path = isReaction ? '/playground/reactions' : '/playground/presses';
            const body = isReaction ? { ...at, emoji: deed.action } : { ...at, button };
            const answer = await post(replica, path, body);
            const afterSends = deed.action === 'again' ? Number(button?.split(':')[2]) : null;
            const { status, message: shown } = answer;
            this.pressed.push({ action: deed.action, task: message.task ?? '', afterSends, status, message: shown });
            if (deed.action === 'lookup' && answer.form !== null)
              await this.#fillIn(replica, at, answer.form, message.task ?? '');
          }),
        );
      }),
    );
  }

  /** Gives the id that stands in the service's console; where it has none, nobody can say more. */
  async #fillIn(replica: Replica, at: { id: string; user: string; message: string }, form: string, task: string) {
    const id = this.#options.upstreamIdOf(task);
    if (id === undefined) return;
    await post(replica, '/playground/forms', { ...at, id: `f-${at.id}`, form, values: { id } });
  }
}

const WHEN: Readonly<Record<string, PlannedDeed['when']>> = {
  claimed: 'open',
  sending: 'open',
  polling: 'open',
  uncertain: 'uncertain',
  completed: 'ended',
  failed: 'ended',
  rejected: 'ended',
};

interface Answered {
  readonly status: number | null;
  readonly message: string | null;
  readonly form: string | null;
}

async function post({ url }: Replica, path: string, body: object): Promise<Answered> {
  try {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const said = (await response.json()) as { message?: string | null; form?: { id: string } };
    return { status: response.status, message: said.message ?? null, form: said.form?.id ?? null };
  } catch {
    return { status: null, message: null, form: null };
  }
}
