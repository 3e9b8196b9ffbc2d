import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { type TestContext, test } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { openStore } from '#src/engine/store/open.ts';
import type { Store } from '#src/engine/store/store.ts';
import { Statements } from '#src/money/statement/decisions.ts';
import { TaskRepository } from '#src/pipeline/repository.ts';
import type { TaskEvent, TaskId } from '#src/tasks/task.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { wrongBooks } from '../fakes/books.ts';
import { RedisServer } from '../fakes/redis-server.ts';
import { ADA, EVENTS, newTask, originOf } from '../fakes/tasks.ts';
import { makeDir, runCommand } from './dailies.ts';

// The service's statement, compared by processes of their own with books on Redis.

const SERVICE = 'https://video.example';
const TEAM = { platform: 'fake', team: 'T1' };
const ALL = { offset: 0, limit: 10 };
/** More than two pages of matches. */
const MATCHES = 1_100;
const OCTOBER_MS = Date.UTC(2026, 9, 3, 12);

/** A replica's view of the store. */
interface Replica {
  readonly statements: Statements;
  readonly store: Store;
  readonly repository: TaskRepository;
  readonly audit: AuditTrail;
}

async function open(url: string, { onTestFinished }: Pick<TestContext, 'onTestFinished'>): Promise<Replica> {
  const logger = pino({ level: 'silent' });
  const store = await openStore(url, { logger });
  onTestFinished(() => store.close());
  const repository = new TaskRepository(store, () => SERVICE);
  const audit = new AuditTrail(store, systemClock);
  return {
    store,
    repository,
    audit,
    statements: new Statements({ store, repository, audit, clock: systemClock, logger }),
  };
}

/** Claims a clip for $0.30 that the service accepted under an id and completed. */
async function completed({ repository }: Replica, upstream: string): Promise<void> {
  const id = `of-${upstream}` as TaskId;
  await repository.claim([newTask({ id, createdAtMs: OCTOBER_MS, origin: originOf({ interaction: id }) })]);
  const events: readonly TaskEvent[] = [
    EVENTS.send,
    { kind: 'accepted', upstreamId: upstream as UpstreamId, atMs: OCTOBER_MS + 1_000 },
    { kind: 'completed', atMs: OCTOBER_MS + 60_000 },
  ];
  for (const event of events) await repository.record(id, event);
}

test('a statement on Redis is imported once by two processes at once, and its matches are booked once', async (context) => {
  const { expect, onTestFinished } = context;
  const dir = await makeDir();
  onTestFinished(() => dir.remove());
  const redis = await RedisServer.start();
  onTestFinished(() => redis.remove());
  const [one, two] = [await open(redis.url, context), await open(redis.url, context)];
  const matching = Array.from({ length: MATCHES }, (_, at) => `up-${at}`);
  for (let from = 0; from < MATCHES; from += 100) {
    await Promise.all(matching.slice(from, from + 100).map((id) => completed(one, id)));
  }
  for (const id of ['more', 'less', 'absent']) await completed(one, id);
  const rows = [...matching.map((id) => `${id},0.30`), 'more,0.45', 'less,0.15', 'foreign,0.50'];
  await writeFile(
    join(dir.path, 'october.csv'),
    `task,cost,time\n${rows.map((row) => `${row},2026-10-31\n`).join('')}`,
  );

  const args = ['--statement', 'october.csv', '--map', 'id=task,amount=cost,at=time'];
  const env = { STORE_URL: redis.url, VIDEO_API_BASE_URL: SERVICE };
  const reconcile = () => runCommand('money/statement/main.ts', { dir: dir.path, args, env });
  const both = await Promise.all([reconcile(), reconcile()]);
  const KINDS = ['statement_imports', 'statements', 'statement_pages'];
  const countOf = async (kind: string) => (await Array.fromAsync(one.store.contents.records(kind))).flat().length;
  const records = () => Promise.all(KINDS.map(countOf));
  const stored = await records();
  const outcomes = [...both, await reconcile()];
  expect(outcomes.map(({ code }) => code)).toEqual([0, 0, 0]);
  for (const { said } of outcomes) {
    expect(said).toContain(
      '1,103 rows, $331.10. 1,100 match. 2 differ by $0.30 in total. 1 not in our records: $0.50. ' +
        '1 missing from the statement: $0.30.',
    );
  }
  expect(outcomes.filter(({ said }) => said.includes('Stored.'))).toHaveLength(1);
  expect(outcomes[2]?.said).toContain('This file was imported before; nothing was stored.');
  // The import, the team's statement, three pages of matches and one of discrepancies; nothing of the other processes.
  expect([stored, await records()]).toEqual([
    [1, 1, 4],
    [1, 1, 4],
  ]);
  const { statements, total } = await one.statements.list(TEAM, ALL);
  expect([total, statements]).toMatchObject([1, [{ confirmed: MATCHES, discrepancies: 4 }]]);

  const id = statements[0]?.id ?? '';
  const actor = { person: ADA, surface: 'button' } as const;
  await Promise.all([one, two].map((replica) => replica.statements.bookMatches(TEAM, id, actor)));
  await two.statements.bookMatches(TEAM, id, actor);
  const tasks = await Promise.all(matching.map((upstream) => two.repository.get(`of-${upstream}` as TaskId)));
  // Claimed, sent, accepted, completed, booked.
  expect(new Set(tasks.map((task) => [task?.revision, task?.money?.sends[0]?.booked].join()))).toEqual(
    new Set(['5,settled']),
  );
  expect((await two.repository.get('of-more' as TaskId))?.money?.sends[0]?.booked).toBeUndefined();
  const { entries } = await two.audit.page(TEAM, ALL);
  expect(entries.map(({ action }) => action)).toEqual(['statement_booking', 'statement_import']);
  expect(await two.audit.verify(TEAM)).toMatchObject({ ok: true });
  expect(await wrongBooks(two.store)).toEqual([]);
});
