import { setTimeout as delay } from 'node:timers/promises';
import type { Task } from '#src/tasks/task.ts';
import type { PlannedDeed } from './deeds.ts';
import { buttonOf, isDecision, NAMED } from './due.ts';
import type { Asked, Deleted, Kept, Pressed, Rights, Shown } from './history.ts';
import type { ChatApprovers } from './money.ts';
import type { ChatFault, Deletable, Mischief, PlannedOrder } from './plan.ts';
import { cardOf, tasksOfSet } from './sets.ts';

/** Chat of a run, with users who order there. */
export interface Side {
  /** Environment of the replicas. */
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly asked: readonly Asked[];
  /** Actions of the bot that the chat's documentation forbids. */
  readonly violations: readonly string[];
  /** Resolves once the bot is connected. @param urls returns the current URLs of the replicas that are up. */
  ready(urls: () => readonly string[]): Promise<void>;
  /** Connected: events reach the bot; missed ones are sent once it is back. */
  readonly hasBot: boolean;
  /** Requires an approval of every clip, as an administrator, before anyone orders. */
  govern(approvers: ChatApprovers): Promise<void>;
  /** Switches reviews on in the first channel, as an administrator; signed-off clips are posted in the second. */
  switchReviewsOn(): Promise<void>;
  /** Presses a button of a request for approval, or of what came of an order, once it is there, unless `signal` aborts before. */
  decide(order: PlannedOrder, deed: PlannedDeed, signal: AbortSignal): Promise<void>;
  readonly pressed: readonly Pressed[];
  readonly rights: Rights;
  /** Sends an order. Whether it arrives depends on the connections at that moment. @param nowMs returns the time of the run */
  order(order: PlannedOrder, nowMs: () => number): Promise<void>;
  /** Injects a fault of the chat. */
  happen(mischief: Mischief): void;
  /** Deletes the message of a task as soon as there is one, if one appears. `nowMs` returns the time of the run. */
  delete(which: Deletable, nowMs: () => number): Promise<void>;
  readonly deleted: readonly Deleted[];
  /** Rejects the bot's token, or revokes a permission. @returns a function that restores it. */
  refuse(what: Exclude<ChatFault, 'delete'>): () => void;
  /** Ids of the tasks that the orders offered now would create. */
  readonly offered: readonly string[];
  /** Returns the messages of tasks and the mentions under them, in the form that the checker reads. */
  shown(kept: Kept): readonly Shown[];
  close(): Promise<void>;
}

/** Matches an order's id in a prompt. */
export const ORDER_IN = /s\d+-\d+/;

/** Timeout for a message to appear in answer to a press: tasks start late on a busy machine. */
const WAITED_FOR_MS = 12_000;
const LOOK_EVERY_MS = 30;
/** Time between two looks for the button of a deed, which may take as long as the run. */
const DEED_LOOK_MS = 150;

/** Number of times that details are opened for a button, and the time for a reply: the clip may not be ready, or blind. */
const DETAILS_TRIES = 8;
const DETAILS_MS = 1_500;

/** Polls `find` until it returns a value or the timeout is over. */
export async function soon<Found>(
  find: () => Found | undefined,
  waitedForMs = WAITED_FOR_MS,
): Promise<Found | undefined> {
  const untilMs = performance.now() + waitedForMs;
  for (let found = find(); ; found = find()) {
    if (found !== undefined || performance.now() > untilMs) return found;
    await delay(LOOK_EVERY_MS);
  }
}

/** Polls `isThere` until it returns true or `signal` aborts. */
export async function meanwhile(isThere: () => boolean, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !isThere()) await delay(DEED_LOOK_MS);
}

/**
 * Returns the task that a message belongs to, by its buttons, and whether it can still change; `null` without one, for a
 * request for approval, and for the card of a set.
 */
export function taskIn(buttons: readonly string[]): ShownBy | null {
  const task = detailsIn(buttons);
  return task === undefined || task.startsWith(cardOf('')) || buttons.includes(`withdraw:${task}`)
    ? null
    : { task, isOpen: buttons.includes(`cancel:${task}`) };
}

/** Returns the card of a set by its buttons, as {@link taskIn} does; `null` for a request, and for the board of a storyboard. */
export function cardIn(buttons: readonly string[]): ShownBy | null {
  const card = detailsIn(buttons);
  const isBoard = buttons.some((id) => id.startsWith('shot:'));
  const isOther = card === undefined || isBoard || buttons.includes(`withdraw:${card}`);
  return isOther || !card.startsWith(cardOf('')) ? null : { task: card, isOpen: buttons.includes(`cancel:${card}`) };
}

/** Returns what users delete the message of: a task, or takes or clips to compare with their card. */
export function deletableIn(buttons: readonly string[]): ShownBy | null {
  return taskIn(buttons) ?? cardIn(buttons);
}

interface ShownBy {
  /** Of a set, the id of its card. */
  readonly task: string;
  readonly isOpen: boolean;
}

/** Returns what a message is about; the card of a set also leads to the details of its tasks. */
function detailsIn(buttons: readonly string[]): string | undefined {
  const about = buttons.filter((id) => id.startsWith('details:')).map((id) => id.split(':')[1]);
  return about.find((one) => one?.startsWith(cardOf('')) === true) ?? about[0];
}

/** Returns the ids of the tasks that the offers with these buttons would create. */
export function offeredBy(buttons: readonly string[]): readonly string[] {
  return buttons.filter((id) => id.startsWith('order:')).map((id) => id.split(':')[1] ?? '');
}

/** Actions on a task, or a set, elsewhere than on its own message: in its notice, on its card, in a question about it. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'approve',
  'deny',
  'retry',
  'remake',
  'vote',
  'reveal',
  'prefer',
  'order',
  'ask',
]);

/** Returns whether a message with these buttons shows a task, rather than asking its approvers or being the card of its set. */
export function showsTask(buttons: readonly string[], task: string): boolean {
  const about = detailsIn(buttons);
  // On the card of a set, they lead to the details of the task.
  if (about?.startsWith(cardOf('')) === true && about !== task) return false;
  const own = buttons.filter((id) => id.split(':')[1] === task);
  return own.some((id) => !ELSEWHERE.has(id.split(':')[0] ?? ''));
}

/** Returns whether a message with these buttons is the card of a set. */
export function showsCard(buttons: readonly string[], set: string): boolean {
  return showsTask(buttons, cardOf(set));
}

/** Order of a chat, by its first task and its number of clips. */
export interface ChatOrder {
  readonly task: string;
  readonly clips: number;
  /** Its clips are on the card of their set. Default: each has a message of its own. */
  readonly isOnCard?: boolean;
}

/** What a user sees, and presses there. */
interface Seeing {
  /** Returns the messages that the user sees, private replies included. */
  readonly seen: () => readonly {
    readonly id: string;
    readonly buttons: readonly string[];
    readonly hasFile: boolean;
  }[];
  /** Presses a button; `clip`: it opens the details of one. */
  readonly press: (message: string, button: string, clip?: string) => void;
  readonly signal: AbortSignal;
  /** Longest time for what a press leads to. */
  readonly replyMs?: number;
}

/**
 * Opens the details of one clip of a set after the other, by those of the set, until `isThere` returns true: they have the
 * buttons of clips without a message of their own.
 */
export async function openDetails(
  { task, clips }: ChatOrder,
  isThere: () => boolean,
  { seen, press, signal, replyMs = DETAILS_MS }: Seeing,
): Promise<void> {
  const whole = `details:${cardOf(task)}`;
  const has = (button: string) => seen().find(({ id, buttons }) => id !== cardId() && buttons.includes(button));
  const cardId = () => seen().find(({ buttons, hasFile }) => hasFile && showsCard(buttons, task))?.id;
  await meanwhile(() => cardId() !== undefined, signal);
  for (let tries = 0; tries < DETAILS_TRIES && !signal.aborted && !isThere(); tries += 1) {
    const clip = tasksOfSet(task, clips)[tries % clips] ?? task;
    const card = cardId();
    if (card !== undefined) press(card, whole);
    const list = await soon(() => has(`details:${clip}`), replyMs);
    if (list !== undefined) press(list.id, `details:${clip}`, clip);
    await soon(() => (isThere() ? true : undefined), replyMs);
  }
}

/** Returns the button of a message that a user presses on an order; undefined where the message has none. */
export function buttonFor(deed: PlannedDeed, { task, clips }: ChatOrder, ids: readonly string[]): string | undefined {
  const buttons = ids.map((id) => ({ id }));
  if (deed.on === 'card') return showsCard(ids, task) ? buttonOf(deed, { buttons }) : undefined;
  if (deed.on === 'clip') return ids.find((id) => isOfClip(deed, { task, clips }, id));
  const about = clips > 1 && (isDecision(deed) || deed.action === 'withdraw') ? cardOf(task) : task;
  return ids.find((id) => id.split(':', 2).join(':') === `${deed.action}:${about}`);
}

/** Returns whether a button is that of a deed on a clip of an order: of any, or for another take of the last one. */
function isOfClip({ action }: PlannedDeed, { task, clips }: ChatOrder, button: string): boolean {
  const [of, about = ''] = button.split(':', 2);
  const own: readonly string[] = tasksOfSet(task, clips);
  return of === action && (action === 'retry' ? own.slice(-1) : own).includes(about);
}

/** Returns the presses of a button on an order as they are recorded: on the card of a set, one of each task. */
export function pressesOf(
  user: string,
  deed: PlannedDeed,
  { task, clips }: ChatOrder,
  button: string,
): readonly Pressed[] {
  const { action, choice } = deed;
  const about = NAMED.has(action) ? [button.split(':')[1] ?? ''] : tasksOfSet(task, clips);
  const press = {
    user,
    action,
    ...(choice === undefined ? {} : { choice }),
    afterSends: null,
    status: null,
    message: null,
  };
  return about.map((one) => ({ ...press, task: one }));
}

/** Returns the press that opens the details of a clip, as it is recorded. */
export function detailsPress(user: string, clip: string): Pressed {
  return { user, action: 'details', task: clip, afterSends: null, status: null, message: null };
}

/** Time for the question whether to sign off an old version, which is mostly not asked. */
const NEWER_ASKED_MS = 3_000;

/** Returns whether a press may be answered with a question, by a button of which it counts. */
export function isConfirmed({ action }: PlannedDeed): boolean {
  return action === 'remake' || action === 'signoff' || action === 'shot';
}

/** Returns whether a user reviews a clip. */
export function isReview({ action }: PlannedDeed): boolean {
  return action === 'signoff' || action === 'changes';
}

/** Returns how long a user waits for the question about a press. */
export function questionAfterMs({ action }: PlannedDeed): number {
  return action === 'signoff' ? NEWER_ASKED_MS : WAITED_FOR_MS;
}

/** Returns whether a button is that of the question about the press of another one, or on the menu of a shot, its change. */
export function isAskedBy(pressed: string, button: string): boolean {
  const [action, set, shot] = pressed.split(':');
  if (action !== 'shot') return button.startsWith(`${pressed}:`);
  // Every other shot is skipped, and the others are moved.
  const [change, of, , changed] = button.split(':');
  return change === (Number(shot) % 2 === 0 ? 'skip' : 'move') && of === set && changed === shot;
}

/** Users of a chat in the place of the playground's. */
const NAMES: Readonly<Record<string, 'alice' | 'bob' | 'carol'>> = {
  ben: 'bob',
  bob: 'bob',
  eva: 'carol',
  carol: 'carol',
};

/** Returns the name of the user who acts; Alice orders. */
export function userOf({ by = 'alice' }: PlannedDeed): 'alice' | 'bob' | 'carol' {
  return NAMES[by] ?? 'alice';
}

/** Returns whether a message that pings reports an end: the notice to approvers and its reminder do not. */
export function reportsEnd(words: string): boolean {
  return !/requests (?:a clip|\d+ \w+|a comparison of .+) for|still waits for the approval/.test(words);
}

/** Texts of a mention for each end. @see commands/sentences/cards/notice.ts */
const ENDS: readonly (readonly [RegExp, string])[] = [
  [/is ready|too large to post|couldn’t post the file|its message was deleted/, 'done'],
  [/is finished, but/, 'lost'],
  [/could not be made/, 'failed'],
  [/was not made/, 'refused'],
  [/was denied|was not approved in time|was not bought/, 'declined'],
  [/needs a decision: the service did not answer/, 'uncertain'],
  [/needs a decision: the service says/, 'disowned'],
];

/** Converts a message that pings because of a task to the checker's form: an end reported under the task's message. */
export function mentionOf(
  message: Shown,
  {
    task,
    own,
    words,
  }: { readonly task: Pick<Task, 'sends'>; readonly own: string | undefined; readonly words: string },
): Shown {
  const phase = ENDS.find(([pattern]) => pattern.test(words))?.[1];
  const end = phase === undefined ? '?' : `${phase}:${task.sends}`;
  return { ...message, task: null, files: [], buttons: [], replyTo: own ?? null, end };
}
