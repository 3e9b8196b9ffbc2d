import { taskIdOf } from '#src/pipeline/task-ids.ts';
import type { PlannedDeed } from './deeds.ts';
import type { Pressed } from './history.ts';
import type { PlannedOrder } from './plan.ts';
import type { Message } from './playground.ts';
import { cardOf, isOnOneCard, tasksOf } from './sets.ts';

type When = PlannedDeed['when'];

/** Channel of the playground whose clips are reviewed, in runs with reviews. */
const REVIEWED = 'general';

const WHEN: Readonly<Record<string, When>> = {
  requested: 'requested',
  waiting: 'open',
  claimed: 'open',
  sending: 'open',
  polling: 'open',
  uncertain: 'uncertain',
  completed: 'ended',
  failed: 'ended',
  rejected: 'ended',
};

/** Returns the id of the task that an order becomes. */
export function taskOf({ platform, id }: Pick<PlannedOrder, 'platform' | 'id'>): string {
  return taskIdOf(`${platform}:${id}`);
}

/** Returns the ids of the tasks that an order becomes. */
export function tasksOfOrder({ platform, id, takes }: PlannedOrder): readonly string[] {
  return tasksOf(`${platform}:${id}`, takes);
}

/** Returns the id by which the buttons of a decision name the request of an order. */
export function requestOf(order: PlannedOrder): string {
  return order.takes === 1 ? taskOf(order) : cardOf(taskOf(order));
}

/** Returns the state of a task's message; of a set's card, that of the task that is furthest from its end. */
export function stateOf({ state, tasks = [] }: Message): string | null {
  const all = tasks.map((one) => one.state);
  return all.find((one) => one === 'requested') ?? all.find((one) => WHEN[one] === 'open') ?? all[0] ?? state;
}

/** Returns whether a user acts now on a message of their order, or on a clip on its card. */
export function isDue(
  planned: PlannedDeed,
  message: Message,
  order: Pick<PlannedOrder, 'ordered' | 'channel'>,
): boolean {
  if (planned.on === 'card') return message.task === null && buttonOf(planned, message) !== undefined;
  if (clipsOn(planned, message, order).length > 0) return true;
  if (planned.on === 'clip') return message.task !== null && buttonOf(planned, message) !== undefined;
  return isOnWhole(planned, message);
}

/** Returns whether a deed is due by the state of a message as a whole. */
export function isOnWhole({ on, when }: PlannedDeed, message: Message): boolean {
  const state = stateOf(message);
  return on !== 'clip' && when === (state === null ? unorderedState(message) : WHEN[state]);
}

/** States of a clip in which users act on it, and not on its set alone. */
const ON_CLIPS: ReadonlySet<When> = new Set(['open', 'uncertain', 'ended'] as const);

/** Returns the clips of takes, or of a comparison, that a deed is due on: they are on the card of their set. */
export function clipsOn(
  { on, when }: PlannedDeed,
  { task, tasks = [] }: Message,
  { ordered, channel }: Pick<PlannedOrder, 'ordered' | 'channel'>,
): readonly string[] {
  if (task !== null || on === 'card' || !isOnOneCard({ ordered })) return [];
  if (on === 'clip' && channel !== REVIEWED) return [];
  const isDueOn = (state: string): boolean =>
    on === 'clip' ? state === 'completed' : ON_CLIPS.has(when) && WHEN[state] === when;
  return tasks.filter(({ state }) => isDueOn(state)).map((one) => one.task);
}

/** Returns the state of a message without a task: it asks about a price, or refuses an order. */
function unorderedState({ buttons }: Message): When {
  return buttons.some(({ id }) => id.startsWith('ask:')) ? 'refused' : 'asked';
}

/** Returns the id of the button that a user presses. */
export function buttonOf({ action, choice }: PlannedDeed, { buttons }: Pick<Message, 'buttons'>): string | undefined {
  const ids = buttons.map(({ id }) => id).filter((id) => id.startsWith(`${action}:`));
  return choice === undefined ? ids[0] : ids.find((id) => id.endsWith(`:${choice}`));
}

/** Actions whose button names the task, of whatever message. */
export const NAMED: ReadonlySet<PlannedDeed['action']> = new Set([
  'retry',
  'vote',
  'reveal',
  'remake',
  'signoff',
  'changes',
] as const);

/** Returns the tasks that a press is about: on the card of a set all of them, unless its button names one. */
export function pressedOn(
  { action }: PlannedDeed,
  { message: { task }, order, button }: { message: Message; order: PlannedOrder; button: string | undefined },
): readonly string[] {
  if (NAMED.has(action)) return [button?.split(':')[1] ?? ''];
  if (task !== null || order.takes === 1) return [task ?? taskOf(order)];
  return action === '🔁' ? [requestOf(order)] : tasksOfOrder(order);
}

/** Returns the action of a press as it is recorded. */
export function actionOf({ action, choice }: PlannedDeed): Pick<Pressed, 'action' | 'choice'> {
  return choice === undefined ? { action } : { action, choice };
}

/** Returns whether a user action decides on a request for approval. */
export function isDecision({ action }: PlannedDeed): boolean {
  return action === 'approve' || action === 'deny';
}
