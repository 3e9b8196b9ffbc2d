import type { Clock } from '#src/clock.ts';
import { type Job, type JobRun, pagesOf, type Store } from '#src/engine/index.ts';
import { isEnded, readTasks } from '#src/tasks/index.ts';
import { type Message, type MessageStore, messagesIndex } from './message-store.ts';
import type { ResponseCache } from './response-cache.ts';

/** Options of {@link messageExpiry}. */
export interface MessageExpiryOptions {
  readonly store: Store;
  readonly messages: MessageStore;
  readonly responses: Pick<ResponseCache, 'expire'>;
  /** Returns the time for which prompts are kept, in milliseconds; `null`: for good. */
  readonly promptsKeptMs: () => Promise<number | null>;
  readonly clock: Clock;
}

/** Age from which on a message is deleted, and the response to a request. */
export const MESSAGES_KEPT_MS = 365 * 24 * 3_600_000;

/**
 * Returns the daily deletion of messages that are older than a year, with their files. The message of a task that is open
 * or not delivered stays. Private replies, which quote the prompts of any task, go once prompts of their age do. A run that
 * is interrupted goes on with what is left.
 */
export function messageExpiry(options: MessageExpiryOptions): Job {
  const schedule = { everyMs: 24 * 3_600_000, firstInMs: 300_000, leaseMs: 30_000 };
  return { name: 'message_expiry', ...schedule, run: (run) => sweep(options, run) };
}

async function sweep(options: MessageExpiryOptions, { isActive }: JobRun): Promise<void> {
  const { store, messages, responses, promptsKeptMs, clock } = options;
  const nowMs = clock.now();
  const privateMs = Math.min((await promptsKeptMs()) ?? MESSAGES_KEPT_MS, MESSAGES_KEPT_MS);
  const isDue = ({ order, visibleTo }: Message): boolean => visibleTo !== null || order <= nowMs - MESSAGES_KEPT_MS;
  const max = nowMs - privateMs;
  for (const channel of await messages.channels()) {
    for await (const page of pagesOf(store, messagesIndex(channel), { max })) {
      const found = await Promise.all(page.map(({ member }) => messages.get(member)));
      const old = found.filter((message) => message !== undefined).filter(isDue);
      const needed = await neededBy(store, old);
      for (const message of old.filter((one) => !tasksOn(one).some((task) => needed.has(task)))) {
        if (!isActive()) return;
        await messages.remove(message.id);
      }
    }
  }
  if (isActive()) await responses.expire(nowMs - MESSAGES_KEPT_MS);
}

/** Returns the tasks of messages that are open or not delivered. */
async function neededBy(store: Store, messages: readonly Message[]): Promise<ReadonlySet<string>> {
  const tasks = await readTasks(store, messages.flatMap(tasksOn));
  return new Set(tasks.filter((task) => !isEnded(task) || !task.presented).map(({ id }) => id));
}

/** Returns the tasks that a message shows. */
function tasksOn({ task, tasks = [] }: Message) {
  return [task, ...tasks.map((one) => one.task)].filter((id) => id !== null);
}
