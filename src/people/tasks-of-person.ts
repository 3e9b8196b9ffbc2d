import { pagesOf, type Store } from '../engine/index.ts';
import { ledgerPages } from '../pipeline/index.ts';
import { historyIndex, type LedgerScope, spendScopeOf, type TaskId } from '../tasks/index.ts';

/**
 * Returns every task that a person requested in a team, without those from which they were removed. A task without
 * content is not in their history: it is found by what it cost.
 * @throws `store_unavailable`
 */
export async function tasksOfPerson(
  store: Pick<Store, 'scan' | 'keyv' | 'contents'>,
  scope: Required<LedgerScope> & { readonly user: string },
): Promise<ReadonlySet<TaskId>> {
  const { platform, team, user } = scope;
  const found = new Set<TaskId>();
  for await (const page of pagesOf(store, historyIndex(platform, team, user))) {
    for (const { member } of page) found.add(member as TaskId);
  }
  for (const index of await store.contents.indexes()) {
    const spent = spendScopeOf(index);
    if (spent === null || spent.platform !== platform || spent.team !== team) continue;
    for await (const entries of ledgerPages(store, scope, spent.month)) {
      for (const { task } of entries) found.add(task);
    }
  }
  return found;
}
