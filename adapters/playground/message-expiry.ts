import type { Clock } from '#src/clock.ts';
import { OnOneReplica, pagesOf, type Store } from '#src/engine/index.ts';
import type { Logger } from '#src/logger.ts';
import { isEnded, readTasks } from '#src/tasks/index.ts';
import type { AttachmentFolder } from './files.ts';
import { type Message, type MessageStore, messagesIndex } from './message-store.ts';
import type { ResponseCache } from './response-cache.ts';

/** Options of {@link createMessageExpiry}. */
export interface MessageExpiryOptions {
  readonly store: Store;
  readonly messages: MessageStore;
  readonly files: AttachmentFolder;
  readonly responses: Pick<ResponseCache, 'expire'>;
  /** Returns the time for which prompts are kept, in milliseconds; `null`: for good. */
  readonly promptsKeptMs: () => Promise<number | null>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Age from which on a message is deleted, and the response to a request. */
export const MESSAGES_KEPT_MS = 365 * 24 * 3_600_000;
const SWEEP_EVERY_MS = 24 * 3_600_000;
const FIRST_SWEEP_MS = 300_000;
/** TTL of the lease: the time until another replica takes over from one that died. */
const LEASE_MS = 30_000;

/**
 * Creates the daily deletion of messages that are older than a year, with their files, on one replica. The message of a
 * task that is open or not delivered stays. Private replies, which quote the prompts of any task, go once prompts of their
 * age do. A sweep that is interrupted goes on with what is left.
 */
export function createMessageExpiry(options: MessageExpiryOptions): Pick<OnOneReplica, 'start' | 'stop' | 'runNow'> {
  const { store, clock, logger } = options;
  const sweeper = new OnOneReplica({
    leases: store.leases,
    clock,
    name: 'playground-messages',
    ttlMs: LEASE_MS,
    everyMs: SWEEP_EVERY_MS,
    run: (lease) => sweep(options, () => lease.isHeld()),
    failed: (thrown) =>
      logger.warn({ event: 'messages_not_expired', err: thrown }, 'failed to delete old messages, retrying'),
  });
  return {
    start: () => sweeper.start(FIRST_SWEEP_MS),
    stop: () => sweeper.stop(),
    runNow: () => sweeper.runNow(),
  };
}

async function sweep(options: MessageExpiryOptions, isActive: () => boolean): Promise<void> {
  const { store, messages, files, responses, promptsKeptMs, clock } = options;
  const nowMs = clock.now();
  const privateMs = Math.min((await promptsKeptMs()) ?? MESSAGES_KEPT_MS, MESSAGES_KEPT_MS);
  const isDue = ({ order, visibleTo }: Message): boolean => visibleTo !== null || order <= nowMs - MESSAGES_KEPT_MS;
  const max = nowMs - privateMs;
  for (const channel of await messages.channels()) {
    for await (const page of pagesOf(store, messagesIndex(channel), { max })) {
      const found = await Promise.all(page.map(({ member }) => messages.get(member)));
      const old = found.filter((message) => message !== undefined).filter(isDue);
      const needed = await neededBy(store, old);
      for (const message of old.filter(({ task }) => task === null || !needed.has(task))) {
        if (!isActive()) return;
        for (const { name } of message.attachments) await files.remove(message.id, name);
        await messages.remove(message.id);
      }
    }
  }
  if (isActive()) await responses.expire(nowMs - MESSAGES_KEPT_MS);
}

/** Returns the tasks of messages that are open or not delivered. */
async function neededBy(store: Store, messages: readonly Message[]): Promise<ReadonlySet<string>> {
  const ids = messages.flatMap(({ task }) => task ?? []);
  const tasks = await readTasks(store, ids);
  return new Set(tasks.filter((task) => !isEnded(task) || !task.presented).map(({ id }) => id));
}
