import { type Clock, sleep } from '../../clock.ts';
import { collection, type Job, type JobRun, type Store } from '../../engine/index.ts';
import type { Logger } from '../../logger.ts';
import type { AuditTrail } from '../../teams/index.ts';
import { parseSumName } from '../sum-name.ts';
import { type BooksReport, checkBooks } from './check.ts';

/** Delay after which the heads of the audit logs are written to the log again, out of reach of changes to the store. */
const HEADS_EVERY_MS = 86_400_000;
/** Pause after each page, for other work. */
const PAUSE_MS = 20;

/** Outcome of the last check of the books, by any replica. */
interface LastCheck {
  readonly revision: 1;
  readonly atMs: number;
  readonly disagreements: number;
  /** Time at which the heads of the audit logs were last written to the log. */
  readonly headsAtMs: number;
}

const bookChecks = collection<'last', LastCheck>({
  name: 'book_checks',
  holds: 'the outcome of the last check of the books',
  personal: 'nobody',
});

/** Options of {@link booksCheck}. */
interface BookkeeperOptions {
  readonly store: Store;
  readonly audit: Pick<AuditTrail, 'verifyAll' | 'heads'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Returns the job that checks, every hour, that the sums are what the tasks count and that the audit logs are intact, and
 * writes the heads of those to the log once a day. It corrects no sum.
 */
export function booksCheck(options: BookkeeperOptions): Job {
  const schedule = { everyMs: 3_600_000, firstInMs: 5_000, leaseMs: 30_000 };
  return { name: 'books_check', ...schedule, run: (run) => check(options, run) };
}

/** Returns the number of disagreements that the last check found; 0 before the first one. */
export async function lastDisagreements(store: Pick<Store, 'keyv'>): Promise<number> {
  return (await bookChecks.get(store, 'last'))?.disagreements ?? 0;
}

async function check({ store, audit, clock, logger }: BookkeeperOptions, run: JobRun): Promise<void> {
  const pause = async (): Promise<void> => {
    run.assertActive();
    await sleep(clock, PAUSE_MS);
  };
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
  const nowMs = clock.now();
  const last = await bookChecks.get(store, 'last');
  const isDue = last === undefined || nowMs - last.headsAtMs >= HEADS_EVERY_MS;
  for (const head of isDue ? await audit.heads() : [])
    logger.info({ event: 'audit_head', ...head }, 'the audit log has this head, for npm run check-books -- --head');
  const headsAtMs = isDue ? nowMs : last.headsAtMs;
  await bookChecks.set(store, 'last', { revision: 1, atMs: nowMs, disagreements, headsAtMs });
}

/** Returns the name of a sum for the log: that of a person without their id. */
function loggableSum(sum: string): string {
  const name = parseSumName(sum);
  if (name?.kind !== 'person') return sum;
  return ['person', name.platform, name.team, '[hidden]', name.period, name.currency].join(':');
}

function disagreementsIn({ disagreements, stale }: BooksReport): number {
  return disagreements.length + stale.length;
}
