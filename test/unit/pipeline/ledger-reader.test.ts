import { expect, it } from 'vitest';
import { ledgerPages } from '#src/pipeline/ledger-reader.ts';
import { spendIndex } from '#src/tasks/indexes.ts';
import type { LedgerScope } from '#src/tasks/ledger.ts';
import { MemoryStore } from '#test/fakes/memory-store.ts';
import { TaskHouse } from '#test/fakes/task-house.ts';
import { BOB, orderOf, originOf, PURCHASE } from '#test/fakes/tasks.ts';
import { errorOf } from '#test/fakes/videos.ts';

it('returns the spending of a team or one user in a month', async () => {
  const house = new TaskHouse().start();
  house.videos.willCreate(() => ({ kind: 'lost', error: errorOf('lost_answer') }));
  const twice = await house.order({ key: 'twice' });
  await house.service.resubmit(twice, BOB, { afterSends: 1, price: PURCHASE });
  await house.pass(0);
  const bobs = await house.order({ key: 'bob', origin: originOf({ user: BOB }) });
  await house.order({ key: 'elsewhere', origin: originOf({ team: 'T2' }) });
  await house.order({ key: 'other platform', origin: originOf({ platform: 'other' }) });
  await house.pass(11 * 24 * 3_600_000, 24 * 3_600_000);
  await house.service.submit(orderOf({ key: 'december' }));

  const scope = { platform: 'fake', team: 'T1' };
  const month = async (of: LedgerScope, name: string) =>
    (await Array.fromAsync(ledgerPages(house.store, of, name))).flat();
  const november = await month(scope, '2026-11');
  expect(november.map(({ task, send, state }) => ({ task, send, state }))).toEqual(
    expect.arrayContaining([
      { task: twice, send: 1, state: 'in_doubt' },
      { task: twice, send: 2, state: 'reserved' },
      { task: bobs, send: 1, state: 'reserved' },
    ]),
  );
  expect(november).toHaveLength(3);
  expect((await month({ ...scope, user: 'bob' }, '2026-11')).map(({ task }) => task)).toEqual([bobs]);
  expect(await month(scope, '2026-12')).toHaveLength(1);
  expect(await month(scope, '2026-10')).toEqual([]);
});

it('reads a large month in pages, each entry once, while entries are added', async () => {
  const store = new MemoryStore();
  const index = spendIndex('fake', 'T1', '2026-11');
  const add = (at: number, score: number) =>
    store.commit({
      records: [{ namespace: 'ledger', key: `t${at}#1`, value: { task: `t${at}`, user: 'ada' }, expected: 'absent' }],
      index: [{ index, member: `t${at}#1`, score }],
    });
  // Many entries with the same time, also across the ends of pages.
  for (let at = 0; at < 2_100; at += 1) await add(at, Math.floor(at / 700));
  const tasks: string[] = [];
  let pages = 0;
  for await (const page of ledgerPages(store, { platform: 'fake', team: 'T1' }, '2026-11')) {
    tasks.push(...page.map(({ task }) => task));
    pages += 1;
    if (pages === 1) await add(9_999, 3);
  }
  expect(tasks).toHaveLength(2_101);
  expect(new Set(tasks).size).toBe(2_101);
  expect(pages).toBeGreaterThan(1);
});
