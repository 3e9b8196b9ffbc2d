/** A monthly report over 100,000 sends, their CSV, and a statement of them: time, and memory at its peak. */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#src/clock.ts';
import { openStore } from '#src/engine/store/open.ts';
import type { Store } from '#src/engine/store/store.ts';
import { createLogger } from '#src/logger.ts';
import { readReport } from '#src/money/reports/monthly-reports.ts';
import { writeSpendCsv } from '#src/money/reports/spend-csv.ts';
import { importStatement } from '#src/money/statement/imports.ts';
import { parseMapping, readStatement } from '#src/money/statement/read.ts';
import { reconcileStatement } from '#src/money/statement/reconciliation.ts';
import { UpstreamIds } from '#src/pipeline/upstream-ids.ts';
import { toChange } from '#src/tasks/indexes.ts';
import { recount } from '#src/tasks/recount.ts';
import type { TaskId } from '#src/tasks/task.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { NODE_FLAGS } from '../fakes/node-flags.ts';
import { newTask, originOf } from '../fakes/tasks.ts';
import { type Figure, report } from './figure.ts';
import { inFolder } from './house.ts';

const SENDS = 100_000;
const MAX_REPORT_MS = 2_000;
const MAX_BYTES = 64 * 1024 ** 2;
/** A statement is added up by task before it is compared: its memory grows with the tasks on it. */
const MAX_STATEMENT_BYTES = 256 * 1024 ** 2;
const PERIOD = '2026-10';
const SERVICE = 'https://video.example';
const OF = { platform: 'fake', team: 'T1' };
const FIRST_MS = Date.UTC(2026, 9, 1);
const MONTH_MS = 31 * 24 * 3_600_000;

const [, , role, folder = ''] = process.argv;
const url = `sqlite:${join(folder, 'store.db')}`;
const STATEMENT = join(folder, 'statement.csv');
if (role === 'fill') await fill();
else if (role === 'measure') await measure();
else await inFolder(runBoth);

/** Fills a store, then measures in another process, with the memory limits of `npm start`. */
async function runBoth(into: string): Promise<void> {
  const execArgv = [...NODE_FLAGS, '--expose-gc'];
  await once(fork(import.meta.filename, ['fill', into], { execArgv }), 'exit');
  const [figures] = (await once(fork(import.meta.filename, ['measure', into], { execArgv }), 'message')) as [
    readonly Figure[],
  ];
  report(figures);
}

/** Writes the tasks of a month with their ledger entries. */
async function fill(): Promise<void> {
  const store = await openStore(url, { logger: createLogger('error') });
  const ids = new UpstreamIds(store, () => SERVICE);
  for (let from = 0; from < SENDS; from += 500) {
    const changes = Array.from({ length: 500 }, async (_, at) => {
      const number = from + at;
      const user = { id: `U${number % 40}`, name: `Person ${number % 40}` };
      const createdAtMs = FIRST_MS + Math.floor((number / SENDS) * MONTH_MS);
      const origin = originOf({ user, channel: `C${number % 7}`, audience: 'team' });
      const task = newTask({ id: `task-${number}` as TaskId, origin, createdAtMs, state: 'completed', sends: 1 });
      const upstreamId = `up-${number}` as UpstreamId;
      const ended = recount({ ...task, upstreamId, endedAtMs: createdAtMs + 60_000 });
      const change = toChange(null, ended);
      const { records } = await ids.writes(task, ended, false);
      return store.commit({ ...change, records: [...change.records, ...records] });
    });
    await Promise.all(changes);
  }
  await store.close();
  const rows = Array.from({ length: SENDS }, (_, number) => `up-${number},0.30,2026-10-31T23:59:00Z`);
  writeFileSync(STATEMENT, ['task,cost,time', ...rows].join('\n'));
}

/** Compares the books with the statement and stores the findings, as `npm run reconcile`. @returns the matches. */
async function reconcile(store: Store): Promise<number> {
  const statement = await readStatement({ path: STATEMENT, mapping: parseMapping('id=task,amount=cost,at=time') });
  const found = await reconcileStatement({ store, upstreamIds: new UpstreamIds(store, () => SERVICE) }, statement);
  const audit = new AuditTrail(store, systemClock);
  await importStatement({ store, audit, clock: systemClock }, statement.hash, found);
  return found.months.reduce((sum, { matched }) => sum + matched, 0);
}

/** Returns a field of this process's status in bytes. @see proc_pid_status(5) */
function statusBytes(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync('/proc/self/status', 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}

/** Runs `work`. @returns its result, its time, and the growth of the resident memory at its peak, in bytes. */
async function watched<Result>(work: () => Promise<Result>) {
  globalThis.gc?.();
  // 5 resets the peak. @see proc_pid_clear_refs(5)
  writeFileSync('/proc/self/clear_refs', '5');
  const before = statusBytes('VmRSS');
  const startedAt = performance.now();
  const result = await work();
  return { result, ms: performance.now() - startedAt, bytes: statusBytes('VmHWM') - before };
}

async function measure(): Promise<void> {
  const store = await openStore(url, { logger: createLogger('error') });
  const query = { catalog: { models: [] }, of: OF, period: PERIOD, timeZone: 'UTC', skipped: [] };
  const added = await watched(() => readReport(store, query));
  const path = join(folder, 'spend.csv');
  const csv = await watched(() => writeSpendCsv(store, { ...OF, month: PERIOD }, path));
  const statement = await watched(() => reconcile(store));
  await store.close();
  const megabytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MB`;
  const [totals] = added.result.totals;
  report([
    {
      what: `report over ${SENDS.toLocaleString('en')} sends`,
      measured: `${Math.round(added.ms)} ms, ${megabytes(added.bytes)}`,
      target: 'at most 2 s and 64 MB',
      isMet: added.ms <= MAX_REPORT_MS && added.bytes <= MAX_BYTES,
      remark: `${totals?.clips} clips, ${totals?.spent} ${totals?.currency}; SQLite; growth of the resident memory`,
    },
    {
      what: `CSV of ${SENDS.toLocaleString('en')} rows`,
      measured: megabytes(csv.bytes),
      target: 'at most 64 MB',
      isMet: csv.bytes <= MAX_BYTES,
      remark: `${Math.round(csv.ms)} ms, a file of ${megabytes(statSync(path).size)}, streamed`,
    },
    {
      what: `statement of ${SENDS.toLocaleString('en')} rows`,
      measured: megabytes(statement.bytes),
      target: 'at most 256 MB',
      isMet: statement.bytes <= MAX_STATEMENT_BYTES && statement.result === SENDS,
      remark: `${Math.round(statement.ms)} ms, ${statement.result} match, findings stored`,
    },
  ]);
}
