import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MonthReport } from '#src/money/reports/monthly-reports.ts';
import type { LedgerEntry } from '#src/tasks/ledger.ts';
import type { TaskId } from '#src/tasks/task.ts';

const OCTOBER_3 = Date.UTC(2026, 9, 3, 12);

function entry(changes: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    task: 'task-1' as TaskId,
    send: 1,
    platform: 'slack',
    team: 'T1',
    channel: 'C1',
    user: 'U1',
    userName: 'Ada',
    model: 'swift-1',
    period: '2026-10',
    amount: '0.30',
    currency: 'USD',
    state: 'settled',
    createdAtMs: OCTOBER_3,
    ...changes,
  };
}

function reportOf(entries: readonly LedgerEntry[], timeZone = 'UTC', period = '2026-10') {
  const report = new MonthReport(period, timeZone);
  for (const one of entries) report.add(one);
  return report.report();
}

describe('a report', () => {
  it('of nothing has no totals, rows and chart', () => {
    expect(reportOf([])).toMatchObject({ totals: [], rows: [], chart: null, moreRows: 0 });
  });

  it('separates what was spent, is in progress, refunded and unconfirmed', () => {
    const states = ['settled', 'reserved', 'refunded', 'released', 'in_doubt'] as const;
    expect(reportOf(states.map((state) => entry({ state }))).totals).toEqual([
      {
        currency: 'USD',
        spent: '0.6',
        clips: 2,
        held: '0.3',
        awaited: '0',
        refunded: '0.3',
        refundedClips: 1,
        doubted: '0.3',
        doubtedClips: 1,
      },
    ]);
  });

  it('follows a decision, and the sums where a refund is still awaited', () => {
    const entries = [
      entry({ state: 'in_doubt', booked: 'refunded' }),
      entry({ state: 'in_doubt', booked: 'settled' }),
      entry({ state: 'refunded', counted: 'held' }),
    ];
    expect(reportOf(entries).totals).toMatchObject([
      { spent: '0.6', held: '0', awaited: '0.3', refundedClips: 1, doubtedClips: 0 },
    ]);
  });

  it('never converts currencies', () => {
    const entries = [entry({ currency: 'EUR' }), entry(), entry()];
    expect(reportOf(entries).totals.map(({ currency, spent }) => [currency, spent])).toEqual([
      ['USD', '0.6'],
      ['EUR', '0.3'],
    ]);
    expect(reportOf(entries).chart?.currency).toBe('USD');
  });

  it('lists people and models by amount, and counts the rows that it leaves out', () => {
    const entries = Array.from({ length: 20 }, (_, at) =>
      entry({ user: `U${at}`, userName: `Person ${at}`, amount: String(at + 1) }),
    );
    const { rows, moreRows } = reportOf([...entries, entry({ user: 'U0', userName: 'Person 0', model: 'epic-pro' })]);
    expect([rows.length, moreRows]).toEqual([15, 6]);
    expect(rows[0]).toEqual({
      person: { id: 'U19', name: 'Person 19' },
      model: 'swift-1',
      clips: 1,
      amount: '20',
      currency: 'USD',
    });
  });

  it('counts blind clips in the sums, and names none of their models in rows and bars', () => {
    const blind = { isBlind: true, amount: '1' } as const;
    const report = reportOf([entry({ ...blind }), entry({ ...blind, model: 'epic-pro' }), entry()]);
    expect(report.totals).toMatchObject([{ spent: '2.3', clips: 3 }]);
    expect(report.rows).toMatchObject([
      { model: 'In comparison', clips: 2, amount: '2' },
      { model: 'swift-1', clips: 1, amount: '0.3' },
    ]);
    expect(report.chart?.series).toMatchObject([{ name: 'In comparison' }, { name: 'swift-1' }]);
  });

  it('draws the weeks of the month in the team’s time zone', () => {
    const lastHour = Date.UTC(2026, 9, 7, 22, 30);
    const late = entry({ createdAtMs: lastHour, amount: '1' });
    const chart = reportOf([late, entry({ createdAtMs: Date.UTC(2026, 9, 31, 22) })]).chart;
    expect(chart?.categories).toEqual(['1–7 Oct', '8–14 Oct', '15–21 Oct', '22–28 Oct', '29–31 Oct']);
    expect(chart?.series).toEqual([{ name: 'swift-1', values: ['1', '0', '0', '0', '0.3'] }]);
    expect(reportOf([late], 'Europe/Berlin').chart?.series[0]?.values).toEqual(['0', '1', '0', '0', '0']);
    expect(reportOf([], 'UTC', '2024-02').chart).toBeNull();
  });

  it('has at most six series with different short names', () => {
    const models = Array.from({ length: 9 }, (_, at) => `a very long model name ${at}`);
    const chart = reportOf(models.map((model, at) => entry({ model, amount: String(at + 1) }))).chart;
    const names = chart?.series.map(({ name }) => name) ?? [];
    expect(new Set(names).size).toBe(6);
    expect(names.every((name) => name.length <= 20)).toBe(true);
    expect(names.at(-1)).toBe('Other models');
    expect(chart?.series.at(-1)?.values[0]).toBe('10');
  });

  it('adds up exactly, in any order', () => {
    const amounts = fc.array(fc.bigInt({ min: 0n, max: 10n ** 12n }), { maxLength: 60 });
    fc.assert(
      fc.property(amounts, (all) => {
        const text = (micros: bigint): string =>
          `${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, '0')}`;
        const { totals, rows, moreRows, chart } = reportOf(all.map((micros) => entry({ amount: text(micros) })));
        const total = all.reduce((sum, micros) => sum + micros, 0n);
        const micros = (amount = '0'): bigint => {
          const [units = '0', rest = ''] = amount.split('.');
          return BigInt(units) * 1_000_000n + BigInt(rest.padEnd(6, '0'));
        };
        expect(micros(totals[0]?.spent)).toBe(total);
        expect([micros(rows[0]?.amount), moreRows]).toEqual([total, 0]);
        expect(chart === null ? 0n : micros(chart.series[0]?.values[0])).toBe(total);
      }),
    );
  });
});
