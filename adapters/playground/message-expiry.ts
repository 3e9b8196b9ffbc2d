import type { Clock } from '#src/clock.ts';
import { OnOneReplica } from '#src/cluster/on-one-replica.ts';
import type { Logger } from '#src/logger.ts';
import { pagesOf } from '#src/store/pages.ts';
import type { Store } from '#src/store/store.ts';
import { readTasks } from '#src/tasks/record-shape.ts';
import { isEnded } from '#src/tasks/state-machine.ts';
import type { AttachmentFolder } from './files.ts';
import { type Message, type MessageStore, messagesIndex } from './message-store.ts';

/** Options of {@link createMessageExpiry}. */
export interface MessageExpiryOptions {
  readonly store: Store;
  readonly messages: MessageStore;
  readonly files: AttachmentFolder;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Age from which on a message is deleted. */
export const MESSAGES_KEPT_MS = 365 * 24 * 3_600_000;
const SWEEP_EVERY_MS = 24 * 3_600_000;
const FIRST_SWEEP_MS = 300_000;
/** TTL of the lease: the time until another replica takes over from one that died. */
const LEASE_MS = 30_000;

/**
 * Creates the daily deletion of messages that are older than a year, with their files, on one replica. The message of a
 * task that is open or not delivered stays. A sweep that is interrupted goes on with what is left.
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

async function sweep({ store, messages, files, clock }: MessageExpiryOptions, isActive: () => boolean): Promise<void> {
  const max = clock.now() - MESSAGES_KEPT_MS;
  for (const channel of await messages.channels()) {
    for await (const page of pagesOf(store, messagesIndex(channel), { max })) {
      const found = await Promise.all(page.map(({ member }) => messages.get(member)));
      const old = found.filter((message) => message !== undefined);
      const needed = await neededBy(store, old);
      for (const message of old.filter(({ task }) => task === null || !needed.has(task))) {
        if (!isActive()) return;
        for (const { name } of message.attachments) await files.remove(message.id, name);
        await messages.remove(message.id);
      }
    }
  }
}

/** Returns the tasks of messages that are open or not delivered. */
async function neededBy(store: Store, messages: readonly Message[]): Promise<ReadonlySet<string>> {
  const ids = messages.flatMap(({ task }) => task ?? []);
  const tasks = await readTasks(store.keyv('tasks'), ids);
  return new Set(tasks.filter((task) => !isEnded(task) || !task.presented).map(({ id }) => id));
}
