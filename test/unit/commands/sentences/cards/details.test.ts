import { describe, expect, it } from 'vitest';
import { detailsCard } from '#commands/orders/details.ts';
import type { LedgerEntry } from '#src/tasks/ledger.ts';
import { cardText } from '#test/fakes/card-text.ts';
import { NOON_MS, newTask } from '#test/fakes/tasks.ts';

const TASK = newTask({ state: 'failed', sends: 1 });
const ENTRY: LedgerEntry = {
  task: TASK.id,
  send: 1,
  platform: 'fake',
  team: 'T1',
  channel: 'clips',
  user: 'ada',
  userName: 'Ada',
  model: 'swift-1',
  period: '2026-11',
  amount: '0.3',
  currency: 'USD',
  state: 'refunded',
  createdAtMs: NOON_MS,
};

describe('the price in the details', () => {
  it.each<[string, Partial<LedgerEntry>, string]>([
    ['a refund that is assumed', {}, '$0.30, failed, refunded under the service’s rules'],
    ['a refund that is awaited', { counted: 'held' }, '$0.30, failed, counted until a statement shows the refund'],
    ['a refund that a statement shows', { booked: 'refunded' }, '$0.30, refunded'],
    ['a failed clip that was billed', { booked: 'settled', counted: 'settled' }, '$0.30, billed'],
    ['a doubtful send that was never billed', { state: 'in_doubt', booked: 'released' }, '$0.30, not charged'],
    ['a doubtful send', { state: 'in_doubt', counted: 'doubted' }, '$0.30, unconfirmed, may be billed'],
    ['a send in progress', { state: 'reserved', counted: 'held' }, '$0.30, in progress'],
  ])('tells %s', (_case, changes, words) => {
    expect(cardText(detailsCard(TASK, [{ ...ENTRY, ...changes }], [])).split('\n')).toContain(words);
  });
});
