import { setTimeout as delay } from 'node:timers/promises';
import type { Price } from '#src/tasks/task.ts';
import type { PlannedDeed } from './deeds.ts';
import {
  actionOf,
  buttonOf,
  clipsOn,
  isDecision,
  isOnWhole,
  pressedOn,
  requestOf,
  taskOf,
  tasksOfOrder,
} from './due.ts';
import type { Pressed } from './history.ts';
import { OPERATOR } from './money.ts';
import type { PlannedOrder } from './plan.ts';
import { type Answered, type Message, NO_ANSWER, post } from './playground.ts';
import type { Replica } from './replica.ts';
import { cardOf } from './sets.ts';
import { isAskedBy, isConfirmed } from './side.ts';

const LOOK_EVERY_MS = 250;
const CONFIRM_TRIES = 20;
/** Times that a user presses a button of a set or a review while nobody answers. */
const INSISTING_TRIES = 20;
/** Looks for the reply to a press. */
const REPLY_LOOKS = 4;
/** Looks for a button in the details of a clip, and the time between them: what it needs may be a moment away. */
const DETAILS_TRIES = 8;
const DETAILS_EVERY_MS = 1_000;
/** Tries to delete a clip: its outcome is in the chat a moment before that is recorded. */
const DELETION_TRIES = 8;

/** Options of {@link Presses}. */
export interface PressesOptions {
  readonly replicas: readonly Replica[];
  readonly nowMs: () => number;
  /** Returns the id that a user finds in the service's console for a task. */
  readonly upstreamIdOf: (task: string) => string | undefined;
  /** Returns the latest messages. */
  readonly messages: () => readonly Message[];
  /** Has an order delivered once more. */
  readonly ask: (order: PlannedOrder) => Promise<unknown>;
}

/** Message, its button and the user who presses it. */
interface Target {
  readonly user: string;
  readonly message: string;
  readonly button: string;
}

/** Simulated users: press buttons, react and fill in forms, each at several replicas at once, and record the responses. */
export class Presses {
  readonly pressed: Pressed[] = [];
  readonly #options: PressesOptions;
  #presses = 0;
  #turn = 0;

  constructor(options: PressesOptions) {
    this.#options = options;
  }

  /** Returns whether the approvers of an order were asked, who then can decide. */
  isAsked(planned: PlannedDeed, order: PlannedOrder): boolean {
    return this.#requestOf(planned, requestOf(order)) !== undefined;
  }

  /** Performs an action that is due on a message of an order. */
  async do(planned: PlannedDeed, message: Message, order: PlannedOrder): Promise<void> {
    await delay(planned.afterMs ?? 0);
    if (isDecision(planned)) return this.#decideRequest(planned, order);
    if (planned.action === 'order') return this.#confirm(planned, message, order);
    const [clip] = clipsOn(planned, message, order);
    if (planned.action === 'delete') return this.#delete(planned, clip ?? taskOf(order), order);
    const isReaction = planned.action === '🔁' || planned.action === '❌';
    const isOnMessage = buttonOf(planned, message) !== undefined || isReaction;
    // A deed on one clip of a set is done in its details, unless all of the set is ready for it.
    if (clip !== undefined && !(isOnMessage && isOnWhole(planned, message)))
      return this.#doInDetails(planned, message, order);
    if (isOnMessage) await this.#insist(planned, message, order);
    if (isOnMessage && planned.killsAfterMs !== undefined) await this.#killAll(planned.killsAfterMs);
  }

  /** Presses until a replica answers, if the button is one of a set or a review. */
  async #insist(planned: PlannedDeed, message: Message, order: PlannedOrder): Promise<void> {
    for (let tries = 0; tries < (planned.on === undefined ? 1 : INSISTING_TRIES); tries += 1) {
      const presses = Array.from({ length: planned.times }, () => this.#next(`p-${order.id}`));
      const answers = await Promise.all(
        presses.flatMap((id) =>
          this.#up(planned).map((replica) => this.#pressOne(replica, id, { planned, message, order })),
        ),
      );
      if (answers.some(({ status }) => status === 202 || status === 400)) break;
      await delay(LOOK_EVERY_MS);
    }
  }

  /** Acts on a clip without a message of its own, one after the other of those that the deed is due on. */
  async #doInDetails(planned: PlannedDeed, { id: card }: Message, order: PlannedOrder): Promise<void> {
    const action = { '🔁': 'retry', '❌': 'cancel' }[planned.action as string] ?? planned.action;
    const deed = { ...planned, action } as PlannedDeed;
    const user = planned.by ?? order.user;
    for (let tries = 0; tries < DETAILS_TRIES; tries += 1) {
      const message = this.#options.messages().find(({ id }) => id === card);
      const clips = message === undefined ? [] : clipsOn(planned, message, order);
      const clip = clips[tries % Math.max(1, clips.length)];
      const details =
        message === undefined || clip === undefined ? undefined : await this.#detailsOf(clip, message, user);
      if (clip !== undefined && details !== undefined && buttonOf(deed, details) !== undefined)
        return this.#insist(deed, { ...details, task: clip }, order);
      await delay(DETAILS_EVERY_MS);
    }
  }

  /** Opens the details of a clip: by the button of its card that leads there, or by the details of its set. */
  async #detailsOf(clip: string, { id, buttons }: Message, user: string): Promise<Message | undefined> {
    const button = `details:${clip}`;
    const has = (shown: Pick<Message, 'buttons'>): boolean => shown.buttons.some((one) => one.id === button);
    const open = async (message: string, pressed: string): Promise<string | null> => {
      const [replica] = this.#up({ copies: 1 });
      if (replica === undefined) return null;
      return (await this.#press(replica, this.#next(`i-${clip}`), { user, message, button: pressed })).message;
    };
    const whole = buttons.find((one) => one.id.startsWith(`details:${cardOf('')}`))?.id;
    const leading = has({ buttons }) ? { id, buttons } : whole && (await this.#reply(await open(id, whole)));
    if (!leading || !has(leading)) return undefined;
    const message = await open(leading.id, button);
    this.pressed.push({ user, action: 'details', task: clip, afterSends: null, status: 202, message });
    return this.#reply(message);
  }

  /** Decides on an uncertain task: submits the id from the service's console, or resends it if there is none. */
  async decide(on: { task: string; message: string; user: string; sends: number; price: Price }): Promise<void> {
    const { task, message, user, sends, price } = on;
    const [replica] = this.#up({ copies: 1 });
    if (replica === undefined) return;
    const at = { id: this.#next(`d-${task}`), user, message };
    if (this.#options.upstreamIdOf(task) !== undefined) return this.#enterId(replica, at, `lookup:${task}`, task);
    const answer = await post(replica, '/playground/presses', {
      ...at,
      button: `again:${task}:${sends}:${price.amount}${price.currency}`,
    });
    const { status, message: shown } = answer;
    this.pressed.push({ user, action: 'again', task, afterSends: sends, status, message: shown });
  }

  #next(name: string): string {
    this.#presses += 1;
    return `${name}-${this.#presses}`;
  }

  /** Returns the replicas that receive a press; they take turns, so that presses meet. */
  #up({ copies }: Pick<PlannedDeed, 'copies'>): readonly Replica[] {
    const up = this.#options.replicas.filter(({ isUp }) => isUp);
    this.#turn += 1;
    const from = this.#turn % Math.max(1, up.length);
    return [...up.slice(from), ...up.slice(0, from)].slice(0, copies);
  }

  /** Presses at one replica, and goes on with the form or question that it answers with. @returns the first answer */
  async #pressOne(
    replica: Replica,
    id: string,
    { planned, message, order }: { planned: PlannedDeed; message: Message; order: PlannedOrder },
  ): Promise<Answered> {
    const { action, values } = planned;
    const user = planned.by ?? order.user;
    const button = buttonOf(planned, message);
    const at = { id, user, message: message.id };
    const record = ({ status, message: shown }: Answered): void => {
      const afterSends = action === 'again' ? Number(button?.split(':')[2]) : null;
      for (const task of pressedOn(planned, { message, order, button }))
        this.pressed.push({ user, ...actionOf(planned), task, afterSends, status, message: shown });
    };
    const answer =
      button === undefined
        ? await post(replica, '/playground/reactions', { ...at, emoji: action })
        : await post(replica, '/playground/presses', { ...at, button });
    record(answer);
    if (action === 'lookup' && answer.form !== null)
      await this.#enterId(replica, at, answer.form, message.task ?? taskOf(order));
    if (values !== undefined && answer.form !== null)
      record(await post(replica, '/playground/forms', { ...at, id: `f-${id}`, form: answer.form, values }));
    // A newer version, or the price of a blind clip, is asked about.
    const asked =
      isConfirmed(planned) && button !== undefined ? await this.#buttonIn(answer.message, button) : undefined;
    if (asked !== undefined)
      record(await this.#press(replica, `q-${id}`, { user, message: answer.message ?? '', button: asked }));
    return answer;
  }

  #press(replica: Replica, id: string, target: Target): Promise<Answered> {
    return post(replica, '/playground/presses', { id, ...target });
  }

  /** Confirms an order whose price was asked about: repeatedly until a replica answers, and also twice at once. */
  async #confirm({ copies, times }: PlannedDeed, message: Message, order: PlannedOrder): Promise<void> {
    const { user } = order;
    const button = message.buttons.find(({ id }) => id.startsWith('order:'))?.id ?? '';
    for (let tries = 0; tries < CONFIRM_TRIES; tries += 1) {
      const atMs = this.#options.nowMs();
      const presses = Array.from({ length: times }, (_, time) => `o-${order.id}-${tries}-${time}`);
      const answers = await Promise.all(
        presses.flatMap((id) =>
          this.#up({ copies }).map((replica) => this.#press(replica, id, { user, message: message.id, button })),
        ),
      );
      for (const { status, message: shown } of answers)
        for (const task of tasksOfOrder(order))
          this.pressed.push({ user, action: 'order', task, afterSends: null, status, message: shown, atMs });
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
      const up = this.#up({ copies });
      const asked = { id: this.#next(`x-${task}`), user, channel, text: `/video delete ${task}` };
      const question = up[0] === undefined ? NO_ANSWER : await post(up[0], '/playground/interactions', asked);
      const button = await this.#buttonIn(question.message, 'delete');
      if (button !== undefined) {
        const press = { user, message: question.message ?? '', button };
        const answers = await Promise.all(up.map((replica) => this.#press(replica, `y-${asked.id}`, press)));
        const status = answers.some((answer) => answer.status === 202) ? 202 : null;
        this.pressed.push({ user, action: 'delete', task, afterSends: null, status, message: null });
        if (status !== null) await this.#options.ask(order);
        if (status !== null) return;
      }
      if (when !== 'ended') return;
      await delay(LOOK_EVERY_MS);
    }
  }

  /** Returns the button of a decision in the message that asks the approvers. */
  #requestOf({ action }: PlannedDeed, task: string): Pick<Target, 'message' | 'button'> | undefined {
    return this.#options
      .messages()
      .filter(({ visibleTo }) => visibleTo === null)
      .flatMap((message) => message.buttons.map(({ id }) => ({ message: message.id, button: id })))
      .find(({ button }) => button.split(':', 2).join(':') === `${action}:${task}`);
  }

  /** Decides on a request at several replicas at once; over a budget, also grants the amount that is missing. */
  async #decideRequest(planned: PlannedDeed, order: PlannedOrder): Promise<void> {
    const found = this.#requestOf(planned, requestOf(order));
    if (found === undefined) return;
    const { action, times, by: user = OPERATOR } = planned;
    const press = async (replica: Replica, on: Pick<Target, 'message' | 'button'>): Promise<string | null> => {
      const at = { id: this.#next(`a-${taskOf(order)}`), user, message: on.message };
      const { status, message, form } = await post(replica, '/playground/presses', { ...at, button: on.button });
      for (const task of tasksOfOrder(order))
        this.pressed.push({ user, action, task, afterSends: null, status, message });
      const values = { reason: 'too long' };
      if (form !== null) await post(replica, '/playground/forms', { ...at, id: `f-${at.id}`, form, values });
      return message;
    };
    await Promise.all(
      this.#up(planned).map(async (replica) => {
        const reply = await press(replica, found);
        // Approves in spite of a budget.
        const grant = times > 1 ? await this.#buttonIn(reply, 'approve') : undefined;
        if (grant !== undefined) await press(replica, { message: reply ?? '', button: grant });
      }),
    );
  }

  /** Returns the button in a reply that goes on with a press, once it is there. */
  async #buttonIn(reply: string | null, pressed: string): Promise<string | undefined> {
    return (await this.#reply(reply))?.buttons.find(({ id }) => isAskedBy(pressed, id))?.id;
  }

  /** Returns a reply once it is there. */
  async #reply(reply: string | null): Promise<Message | undefined> {
    for (let looks = 0; reply !== null && looks < REPLY_LOOKS; looks += 1) {
      const shown = this.#options.messages().find(({ id }) => id === reply);
      if (shown !== undefined) return shown;
      await delay(LOOK_EVERY_MS);
    }
    return undefined;
  }

  /** Submits the id from the service's console; does nothing if it has none. */
  async #enterId(replica: Replica, at: { id: string; user: string; message: string }, form: string, task: string) {
    const id = this.#options.upstreamIdOf(task);
    if (id === undefined) return;
    await post(replica, '/playground/forms', { ...at, id: `f-${at.id}`, form, values: { id } });
  }
}
