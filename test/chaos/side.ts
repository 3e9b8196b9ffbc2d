import { setTimeout as delay } from 'node:timers/promises';
import type { Task } from '#src/tasks/task.ts';
import type { Asked, Deleted, Kept, Shown } from './history.ts';
import type { ChatFault, Deletable, Mischief, PlannedOrder } from './plan.ts';

/** A chat of a run, with people who order there. */
export interface Side {
  /** For the replicas. */
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly asked: readonly Asked[];
  /** What the bot did that the chat's documentation says it must not. */
  readonly violations: readonly string[];
  /** Resolves once the bot is there. @param urls of the replicas that are up, at any time. */
  ready(urls: () => readonly string[]): Promise<void>;
  /** Whether the bot hears of what happens there; of what it missed, it hears when it is back. */
  readonly hasBot: boolean;
  /** Has somebody order, at `atMs` of the run. Whether it is heard is up to the connections of that moment. */
  order(order: PlannedOrder, atMs: number): void;
  /** Does something that the chat does on its bad days. */
  happen(mischief: Mischief): void;
  /** Has somebody delete the message of a task, as soon as there is such a one; of none, nothing is deleted. `nowMs` is of the run. */
  delete(which: Deletable, nowMs: () => number): Promise<void>;
  readonly deleted: readonly Deleted[];
  /** Refuses the bot's token, or takes a right away from it. @returns what gives it back. */
  refuse(what: Exclude<ChatFault, 'delete'>): () => void;
  /** The tasks that would come of what is offered now. */
  readonly offered: readonly string[];
  /** The messages of tasks, and the mentions under them, as the checker looks at them. */
  shown(kept: Kept): readonly Shown[];
  close(): Promise<void>;
}

/** Finds an order's id in a prompt. */
export const ORDER_IN = /s\d+-\d+/;

/** Tasks of a chat begin late on a busy machine. */
const WAITED_FOR_MS = 12_000;
const LOOK_EVERY_MS = 30;

/** What `find` finds, now or soon. */
export async function soon<Found>(find: () => Found | undefined): Promise<Found | undefined> {
  const untilMs = performance.now() + WAITED_FOR_MS;
  for (let found = find(); ; found = find()) {
    if (found !== undefined || performance.now() > untilMs) return found;
    await delay(LOOK_EVERY_MS);
  }
}

/** Whose task's message this is, by its buttons, and whether that is still going to change; `null`: of none. */
export function cardOf(buttons: readonly string[]): { readonly task: string; readonly isOpen: boolean } | null {
  const task = buttons.find((id) => id.startsWith('details:'))?.split(':')[1];
  return task === undefined ? null : { task, isOpen: buttons.includes(`cancel:${task}`) };
}

/** The tasks that would come of offers, by their buttons. */
export function offeredBy(buttons: readonly string[]): readonly string[] {
  return buttons.filter((id) => id.startsWith('order:')).map((id) => id.split(':')[1] ?? '');
}

/** What a mention says of each end. @see commands/sentences/cards/notice.ts */
const ENDS: readonly (readonly [RegExp, string])[] = [
  [/is ready|too large to post|couldn’t post the file|its message was deleted/, 'done'],
  [/is finished, but/, 'lost'],
  [/could not be made/, 'failed'],
  [/the service rejected/, 'refused'],
  [/needs a decision: the service did not answer/, 'uncertain'],
  [/needs a decision: the service says/, 'disowned'],
];

/** A message that pings because of a task, as the checker looks at it: it tells of an end, under the task's own message. */
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
