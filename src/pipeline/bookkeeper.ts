import { type Clock, sleep } from '../clock.ts';
import type { Lease } from '../cluster/leases.ts';
import { OnOneReplica } from '../cluster/on-one-replica.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { AuditTrail } from '../money/audit.ts';
import { type BooksReport, checkBooks } from '../money/books/check.ts';
import type { OlderReplicas, UncountedTasks } from '../money/older-replicas.ts';
import { loggableSum } from '../money/sum-name.ts';
import type { Store } from '../store/store.ts';
import { isTask } from '../tasks/record-shape.ts';
import { isCounted } from '../tasks/recount.ts';
import type { Task } from '../tasks/task.ts';
import type { TaskRepository } from './repository.ts';

/** Delay between two checks of the books. */
const CHECK_EVERY_MS = 3_600_000;
/** Delay of the first one after the start, which counts the tasks of an earlier version. */
const FIRST_CHECK_MS = 5_000;
/** TTL of the lease: another replica takes over within a minute from one that died. */
const LEASE_MS = 30_000;
/** Tasks counted in one commit: small enough not to delay the orders of others. */
const AT_ONCE = 50;
/** Delay between two looks for replicas of an older version. */
const OLDER_MS = 5_000;
/** Pause after each page and each commit, for other work. */
const PAUSE_MS = 20;

/** Key, in the namespace `waits`, of the outcome of the last check. */
const RECORD_KEY = 'books';

/** Outcome of the last check of the books, by any replica. */
interface LastCheck {
  readonly revision: 1;
  readonly atMs: number;
  /** Number of disagreements that were found. */
  readonly disagreements: number;
}

/** Options of {@link createBookkeeper}. */
export interface BookkeeperOptions {
  readonly store: Store;
  readonly repository: TaskRepository;
  readonly audit: Pick<AuditTrail, 'verifyAll'>;
  readonly older: Pick<OlderReplicas, 'areAlive'>;
  readonly uncounted: Pick<UncountedTasks, 'end'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Creates the bookkeeper of one process. Every hour, on one replica, once no older one is left, it counts the tasks that an earlier version left
 * uncounted, and checks that the sums are what the tasks count and that the audit logs are intact. It corrects no sum.
 */
export function createBookkeeper(options: BookkeeperOptions): Pick<OnOneReplica, 'start' | 'stop' | 'runNow'> {
  const { store, clock, logger } = options;
  const stopping = new AbortController();
  const keeper = new OnOneReplica({
    leases: store.leases,
    clock,
    name: 'books',
    ttlMs: LEASE_MS,
    everyMs: CHECK_EVERY_MS,
    run: (lease) => check(options, lease, stopping.signal),
    failed: (thrown) => {
      if (stopping.signal.aborted) return;
      logger.warn({ event: 'books_check_failed', err: thrown }, 'failed to check the books, retrying in half a minute');
    },
  });
  return {
    start: () => keeper.start(FIRST_CHECK_MS),
    stop: () => {
      stopping.abort();
      return keeper.stop();
    },
    runNow: () => keeper.runNow(),
  };
}

/** Returns the number of disagreements that the last check found; 0 before the first one. */
export async function lastDisagreements(store: Pick<Store, 'keyv'>): Promise<number> {
  return (await store.keyv('waits').get<LastCheck>(RECORD_KEY))?.disagreements ?? 0;
}

async function check(options: BookkeeperOptions, lease: Lease, stopping: AbortSignal): Promise<void> {
  const { store, audit, older, uncounted, clock, logger } = options;
  // What it goes on changing would have to be counted again, and would look wrong meanwhile.
  while (await older.areAlive()) await sleep(clock, OLDER_MS, stopping);
  const pause = async (): Promise<void> => {
    stopping.throwIfAborted();
    await sleep(clock, PAUSE_MS);
  };
  const counted = await countTasks(options, { pause, isActive: () => lease.isHeld() });
  if (counted > 0) logger.info({ event: 'tasks_counted', counted }, 'counted tasks of an earlier version in the sums');
  if (!lease.isHeld()) {
    throw new DailiesError('counting tasks: the lease was lost', { code: 'store_unavailable', retryable: true });
  }
  await uncounted.end();
  const report = await checkBooks(store, pause);
  const logs = await audit.verifyAll();
  const disagreements = disagreementsIn(report) + logs.length;
  if (disagreements > 0) {
    const found = report.disagreements.map(
      ({ sum, part, stored, counted: is }) => `${loggableSum(sum)} ${part} ${stored} ${is}`,
    );
    const shown = { sums: found.slice(0, 20), tasks: report.stale.slice(0, 20), logs: logs.map(({ log }) => log) };
    logger.error(
      { event: 'money_disagrees', disagreements, ...shown },
      'sums of spend are not what the tasks count, or an audit log was changed',
    );
  }
  await store.keyv('waits').set(RECORD_KEY, { revision: 1, atMs: clock.now(), disagreements } satisfies LastCheck);
}

/** Returns the number of disagreements of a report. */
function disagreementsIn({ disagreements, stale }: BooksReport): number {
  return disagreements.length + stale.length;
}

/**
 * Counts the tasks that an earlier version left uncounted. Can be interrupted and repeated: what a task counts is stored
 * with it. Skips a task whose outcome is being delivered, since a new revision would show it again, and one that is
 * being sent; both are counted with their next event.
 * @returns the number of tasks it counted.
 */
export async function countTasks(
  { store, repository }: Pick<BookkeeperOptions, 'store' | 'repository'>,
  { pause, isActive }: { readonly pause: () => Promise<void>; readonly isActive: () => boolean },
): Promise<number> {
  let counted = 0;
  for await (const page of store.contents.records('tasks')) {
    const due = page.flatMap(({ key, value }) => (isTask(value, key) && isDue(value) ? [value] : []));
    for (let at = 0; at < due.length; at += AT_ONCE) {
      if (!isActive()) return counted;
      counted += await countSome(repository, due.slice(at, at + AT_ONCE));
      await pause();
    }
    await pause();
  }
  return counted;
}

async function countSome(repository: TaskRepository, tasks: readonly Task[]): Promise<number> {
  if (await repository.count(tasks)) return tasks.length;
  // At least one has changed since it was read: each one is read again.
  let counted = 0;
  for (const { id } of tasks) {
    const task = await repository.get(id);
    if (task !== undefined && isDue(task) && (await repository.count([task]))) counted += 1;
  }
  return counted;
}

function isDue(task: Task): boolean {
  return task.presented && task.state !== 'sending' && !isCounted(task);
}
