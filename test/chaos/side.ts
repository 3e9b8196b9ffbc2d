import type { Task } from '#src/tasks/task.ts';
import type { Asked, Kept, Shown } from './history.ts';
import type { Mischief, PlannedOrder } from './plan.ts';

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
  /** Has somebody order. Whether it is heard is up to the connections of that moment. */
  order(order: PlannedOrder, nowMs: () => number): Promise<void>;
  /** Does something that the chat does on its bad days. */
  happen(mischief: Mischief): void;
  /** The messages of tasks, and the mentions under them, as the checker looks at them. */
  shown(kept: Kept): readonly Shown[];
  close(): Promise<void>;
}

/** Finds an order's id in a prompt. */
export const ORDER_IN = /s\d+-\d+/;

/** What a mention says of each end. @see commands/sentences/notice.ts */
const ENDS: readonly (readonly [RegExp, string])[] = [
  [/is ready\./, 'done'],
  [/is finished, but/, 'lost'],
  [/could not be made/, 'failed'],
  [/was not taken by the service/, 'refused'],
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
