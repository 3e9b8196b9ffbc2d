import { setTimeout as delay } from 'node:timers/promises';
import { taskIdOf } from '#src/pipeline/task-ids.ts';
import type { Price } from '#src/tasks/task.ts';
import type { PlannedDeed } from './deeds.ts';
import type { Asked, Pressed } from './history.ts';
import { OPERATOR } from './money.ts';
import type { Plan, PlannedOrder } from './plan.ts';
import { type Message, NO_ANSWER, post, TIMEOUT_MS } from './playground.ts';
import type { Replica } from './replica.ts';
import { cardOf, commandFor, tasksOf } from './sets.ts';

const LOOK_EVERY_MS = 250;
const CHANNELS = ['general', 'clips'] as const;
const COMMAND_TRIES = 20;
/** Looks for a button in the reply to a press. */
const REPLY_LOOKS = 4;
/** Tries to delete a clip: its outcome is in the chat a moment before that is recorded. */
const DELETION_TRIES = 8;

/** Options of {@link People}. */
export interface PeopleOptions {
  readonly plan: Plan;
  readonly replicas: readonly Replica[];
  readonly nowMs: () => number;
  /** Returns the id that a user finds in the service's console for a task. */
  readonly upstreamIdOf: (task: string) => string | undefined;
}

/** Simulated users: order and press at every replica at once, and record the responses. */
export class People {
  readonly asked: Asked[] = [];
  readonly pressed: Pressed[] = [];
  readonly #options: PeopleOptions;
  readonly #done = new Set<PlannedDeed>();
  /** Latest messages. */
  #messages: readonly Message[] = [];
  readonly #inFlight = new Set<Promise<unknown>>();
  #presses = 0;

  constructor(options: PeopleOptions) {
    this.#options = options;
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

  /** Repeats every order that was not answered yet. @returns the number that is still unanswered. */
  async askAgain(): Promise<number> {
    const waiting = () => {
      const answered = new Set(this.asked.filter(isAnswered).map(({ id }) => id));
      return this.#orders(this.#options.plan).filter(({ id }) => !answered.has(id));
    };
    await Promise.all(waiting().map((order) => this.ask(order)));
    return waiting().length;
  }

  /** Sends a command of the operator, repeatedly until it is answered. */
  async command(text: string): Promise<void> {
    this.#presses += 1;
    const body = { id: `c-${this.#presses}`, user: OPERATOR, channel: 'general', text };
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
        return order === undefined ? [] : presses.map((planned) => this.#do(planned, message, order));
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
      return (await response.json()) as readonly Message[];
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
        const isRefused = status === 400 && /budget|need an approval/i.test(answer.error ?? '');
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

  /** Decides on an uncertain task: submits the id from the service's console, or resends it if there is none. */
  async decide(on: { task: string; message: string; user: string; sends: number; price: Price }): Promise<void> {
    const { task, message, user, sends, price } = on;
    const replica = this.#options.replicas.find(({ isUp }) => isUp);
    if (replica === undefined) return;
    this.#presses += 1;
    const at = { id: `d-${task}-${this.#presses}`, user, message };
    if (this.#options.upstreamIdOf(task) !== undefined) return this.#fillIn(replica, at, `lookup:${task}`, task);
    const answer = await post(replica, '/playground/presses', {
      ...at,
      button: `again:${task}:${sends}:${price.amount}${price.currency}`,
    });
    const { status, message: shown } = answer;
    this.pressed.push({ user, action: 'again', task, afterSends: sends, status, message: shown });
  }

  #orders({ orders }: Plan): readonly PlannedOrder[] {
    return orders.filter(({ platform }) => platform === 'playground');
  }

  #lookAt(message: Message): void {
    const order = this.#orderOf(message);
    if (order === undefined) return;
    const state = stateOf(message);
    const when = state === null ? unorderedState(message) : WHEN[state];
    for (const planned of order.deeds) {
      // Only the card has these, as soon as they make sense.
      const isDue = BOARD_BUTTONS.has(planned.action)
        ? buttonOf(planned, message) !== undefined
        : when === planned.when;
      if (this.#done.has(planned) || !isDue) continue;
      // Approvers are asked in a message of its own, a moment later.
      if (isDecision(planned) && this.#requestOf(planned, requestOf(order)) === undefined) continue;
      this.#done.add(planned);
      const doing = this.#do(planned, message, order).finally(() => this.#inFlight.delete(doing));
      this.#inFlight.add(doing);
    }
  }

  /** Returns the order of a task's message, or of a refusal from which its user can ask for an approval. */
  #orderOf(message: Message): PlannedOrder | undefined {
    const asked = message.buttons.find(({ id }) => /^(?:ask|order):/u.test(id))?.id.split(':')[1];
    const id = stateOf(message) === null ? asked : (message.task ?? message.tasks?.[0]?.task);
    return this.#orders(this.#options.plan).find((order) => tasksOfOrder(order).some((task) => task === id));
  }

  async #do(planned: PlannedDeed, message: Message, order: PlannedOrder): Promise<void> {
    const task = message.task ?? taskOf(order);
    const user = planned.by ?? order.user;
    await delay(planned.afterMs ?? 0);
    if (isDecision(planned)) return this.#decideRequest(planned, order);
    if (planned.action === 'order') return this.#confirm(planned, message, order);
    if (planned.action === 'delete') return this.#delete(planned, taskOf(order), order);
    const button = buttonOf(planned, message);
    const isReaction = planned.action === '🔁' || planned.action === '❌';
    if (button === undefined && !isReaction) return;
    await Promise.all(
      Array.from({ length: planned.times }, async () => {
        this.#presses += 1;
        const id = `p-${order.id}-${this.#presses}`;
        const up = this.#options.replicas.filter(({ isUp }) => isUp).slice(0, planned.copies);
        await Promise.all(
          up.map(async (replica) => {
            const at = { id, user, message: message.id };
            const path = isReaction ? '/playground/reactions' : '/playground/presses';
            const body = isReaction ? { ...at, emoji: planned.action } : { ...at, button };
            const answer = await post(replica, path, body);
            const afterSends = planned.action === 'again' ? Number(button?.split(':')[2]) : null;
            const { status, message: shown } = answer;
            for (const one of pressedOn(planned, { message, order, button }))
              this.pressed.push({ user, ...actionOf(planned), task: one, afterSends, status, message: shown });
            if (planned.action === 'lookup' && answer.form !== null) await this.#fillIn(replica, at, answer.form, task);
          }),
        );
      }),
    );
    if (planned.killsAfterMs !== undefined) await this.#killAll(planned.killsAfterMs);
  }

  /** Confirms an order whose price was asked about: repeatedly until a replica answers, and also twice at once. */
  async #confirm({ copies, times }: PlannedDeed, message: Message, order: PlannedOrder): Promise<void> {
    const { user } = order;
    const button = message.buttons.find(({ id }) => id.startsWith('order:'))?.id;
    for (let tries = 0; tries < COMMAND_TRIES; tries += 1) {
      const up = this.#options.replicas.filter(({ isUp }) => isUp).slice(0, copies);
      const presses = Array.from({ length: times }, (_, time) => `o-${order.id}-${tries}-${time}`);
      const answers = await Promise.all(
        presses.flatMap((id) =>
          up.map((replica) => post(replica, '/playground/presses', { id, user, message: message.id, button })),
        ),
      );
      for (const { status, message: shown } of answers)
        for (const task of tasksOfOrder(order))
          this.pressed.push({ user, action: 'order', task, afterSends: null, status, message: shown });
      if (answers.some(({ status }) => status === 202 || status === 400)) return;
      await delay(LOOK_EVERY_MS);
    }
  }

  async #killAll(afterMs: number): Promise<void> {
    await delay(afterMs);
    const { replicas } = this.#options;
    await Promise.all(replicas.map((replica) => replica.kill()));
    await Promise.all(replicas.map((replica) => replica.start()));
  }

  /** Deletes a clip by `/video delete`, then has its order delivered once more, which must not buy. */
  async #delete({ when, copies }: PlannedDeed, task: string, order: PlannedOrder): Promise<void> {
    const { user, channel } = order;
    for (let tries = 0; tries < DELETION_TRIES; tries += 1) {
      const up = this.#options.replicas.filter(({ isUp }) => isUp).slice(0, copies);
      this.#presses += 1;
      const asked = { id: `x-${task}-${this.#presses}`, user, channel, text: `/video delete ${task}` };
      const question = up[0] === undefined ? NO_ANSWER : await post(up[0], '/playground/interactions', asked);
      const button = question.message === null ? undefined : await this.#buttonIn(question.message, 'delete');
      if (button !== undefined) {
        const press = { id: `y-${asked.id}`, user, message: question.message, button };
        const answers = await Promise.all(up.map((replica) => post(replica, '/playground/presses', press)));
        const status = answers.some((answer) => answer.status === 202) ? 202 : null;
        this.pressed.push({ user, action: 'delete', task, afterSends: null, status, message: null });
        if (status !== null) await this.ask(order);
        if (status !== null) return;
      }
      if (when !== 'ended') return;
      await delay(LOOK_EVERY_MS);
    }
  }

  /** Returns the button of a decision in the message that asks the approvers. */
  #requestOf({ action }: PlannedDeed, task: string | null): { message: string; button: string } | undefined {
    return this.#messages
      .filter(({ visibleTo }) => visibleTo === null)
      .flatMap((message) => message.buttons.map(({ id }) => ({ message: message.id, button: id })))
      .find(({ button }) => button.split(':', 2).join(':') === `${action}:${task}`);
  }

  /** Decides on a request at several replicas at once; over a budget, also grants the amount that is missing. */
  async #decideRequest(planned: PlannedDeed, order: PlannedOrder): Promise<void> {
    const task = taskOf(order);
    const found = this.#requestOf(planned, requestOf(order));
    if (found === undefined) return;
    const { action, copies, times, by: user = OPERATOR } = planned;
    const up = this.#options.replicas.filter(({ isUp }) => isUp).slice(0, copies);
    const press = async (replica: Replica, on: { message: string; button: string }): Promise<string | null> => {
      this.#presses += 1;
      const at = { id: `a-${task}-${this.#presses}`, user, message: on.message };
      const { status, message, form } = await post(replica, '/playground/presses', { ...at, button: on.button });
      for (const one of tasksOfOrder(order))
        this.pressed.push({ user, action, task: one, afterSends: null, status, message });
      const values = { reason: 'too long' };
      if (form !== null) await post(replica, '/playground/forms', { ...at, id: `f-${at.id}`, form, values });
      return message;
    };
    await Promise.all(
      up.map(async (replica) => {
        const reply = await press(replica, found);
        // Approves in spite of a budget.
        const grant = times > 1 && reply !== null ? await this.#buttonIn(reply, 'approve') : undefined;
        if (grant !== undefined) await press(replica, { message: reply ?? '', button: grant });
      }),
    );
  }

  /** Returns a button in a reply, once it is there. */
  async #buttonIn(reply: string, action: PlannedDeed['action']): Promise<string | undefined> {
    for (let looks = 0; looks < REPLY_LOOKS; looks += 1) {
      const shown = this.#messages.find(({ id }) => id === reply);
      if (shown !== undefined) return shown.buttons.find(({ id }) => id.startsWith(`${action}:`))?.id;
      await delay(LOOK_EVERY_MS);
    }
    return undefined;
  }

  /** Submits the id from the service's console; does nothing if it has none. */
  async #fillIn(replica: Replica, at: { id: string; user: string; message: string }, form: string, task: string) {
    const id = this.#options.upstreamIdOf(task);
    if (id === undefined) return;
    await post(replica, '/playground/forms', { ...at, id: `f-${at.id}`, form, values: { id } });
  }
}

const WHEN: Readonly<Record<string, PlannedDeed['when']>> = {
  requested: 'requested',
  claimed: 'open',
  sending: 'open',
  polling: 'open',
  uncertain: 'uncertain',
  completed: 'ended',
  failed: 'ended',
  rejected: 'ended',
};

/** Returns the id of the task that an order becomes. */
function taskOf({ id }: PlannedOrder): string {
  return taskIdOf(`playground:${id}`);
}

/** Returns the ids of the tasks that an order becomes. */
function tasksOfOrder({ id, takes }: PlannedOrder): readonly string[] {
  return tasksOf(`playground:${id}`, takes);
}

/** Returns the id by which the buttons of a decision name the request of an order. */
function requestOf(order: PlannedOrder): string {
  return order.takes === 1 ? taskOf(order) : cardOf(taskOf(order));
}

/** Returns the tasks that a press is about: on the card of a set all of them, except that it is the card that is retried. */
function pressedOn(
  { action }: PlannedDeed,
  { message: { task }, order, button }: { message: Message; order: PlannedOrder; button: string | undefined },
): readonly string[] {
  // The card of a set offers to make those again that failed.
  if (action === 'retry' || action === 'vote' || action === 'reveal') return [button?.split(':')[1] ?? ''];
  if (task !== null || order.takes === 1) return [task ?? taskOf(order)];
  return action === '🔁' ? [requestOf(order)] : tasksOfOrder(order);
}

/** Returns the state of a task's message; of a set's card, that of the task that is furthest from its end. */
function stateOf({ state, tasks = [] }: Message): string | null {
  const all = tasks.map((one) => one.state);
  return all.find((one) => one === 'requested') ?? all.find((one) => WHEN[one] === 'open') ?? all[0] ?? state;
}

/** Actions on the card of a storyboard or comparison. */
const BOARD_BUTTONS: ReadonlySet<PlannedDeed['action']> = new Set(['join', 'vote', 'reveal'] as const);

function buttonOf({ action, choice }: PlannedDeed, { buttons }: Message): string | undefined {
  const ids = buttons.map(({ id }) => id).filter((id) => id.startsWith(`${action}:`));
  return choice === undefined ? ids[0] : ids.find((id) => id.endsWith(`:${choice}`));
}

function actionOf({ action, choice }: PlannedDeed): Pick<Pressed, 'action' | 'choice'> {
  return choice === undefined ? { action } : { action, choice };
}

/** Returns whether a message without a task asks about a price, or refuses an order. */
function unorderedState({ buttons }: Message): PlannedDeed['when'] {
  return buttons.some(({ id }) => id.startsWith('ask:')) ? 'refused' : 'asked';
}

/** Returns whether a user action decides on a request for approval. */
function isDecision({ action }: PlannedDeed): boolean {
  return action === 'approve' || action === 'deny';
}

/** Returns whether an order was taken, or refused for good: a user does not repeat it. */
function isAnswered({ status, isRefused }: Asked): boolean {
  return status === 202 || isRefused === true;
}
