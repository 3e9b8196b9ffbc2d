import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { openStore } from '#src/engine/store/open.ts';
import type { Store } from '#src/engine/store/store.ts';
import { AuditTrail } from '#src/teams/audit/audit.ts';
import { ADA } from '../fakes/tasks.ts';
import { makeDir, runCommand } from './dailies.ts';

const TEAM = { platform: 'fake', team: 'T1' };

test('npm run check-books -- --head misses a noted head once the end of its audit log is cut off', async (context) => {
  const { expect, onTestFinished } = context;
  const dir = await makeDir();
  onTestFinished(() => dir.remove());
  /** Works on the store while no process checks it. */
  const onStore = async <Result>(work: (store: Store, trail: AuditTrail) => Promise<Result>): Promise<Result> => {
    const store = await openStore(`sqlite:${join(dir.path, 'data/dailies.db')}`, { logger: pino({ level: 'silent' }) });
    return work(store, new AuditTrail(store, systemClock)).finally(() => store.close());
  };
  const check = (...args: readonly string[]) => runCommand('money/books/main.ts', { dir: dir.path, args });
  const heads = await onStore(async (_store, trail) => {
    const noted: string[] = [];
    for (const text of ['EUR', 'GBP', 'USD']) {
      await trail.commitAudited(TEAM, { person: ADA, surface: 'command' }, async () => ({
        change: { records: [] },
        entries: [{ action: 'currency', before: [], after: [{ kind: 'text', text }] }],
        result: undefined,
      }));
      for (const { hash } of await trail.heads()) noted.push(hash);
    }
    return noted;
  });
  const [first = '', , last = ''] = heads;
  const intact = await check('--head', first, '--head', last);
  expect(intact).toMatchObject({ code: 0, said: expect.stringContaining('The books are right.') });

  // The second entry and the head are cut off; the last entry is left over.
  await onStore(async (store) => {
    await store.keyv('audit').delete('entry:fake:T1#2');
    await store.keyv('audit').set('head:fake:T1', { revision: 9, entries: 1, hash: first });
  });
  expect(await check()).toMatchObject({ code: 0 });
  expect(await check('--head', first)).toMatchObject({ code: 0 });
  const cut = await check('--head', first, '--head', last);
  expect(cut.code).toBe(1);
  expect(cut.said).toContain(`No audit log has the head ${last}: its end was cut off, or it was deleted.`);
  expect(cut.said).not.toContain(first);
});
