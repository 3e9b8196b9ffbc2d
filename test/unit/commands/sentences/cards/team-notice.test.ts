import { describe, expect, it } from 'vitest';
import { teamNoticeCard } from '#commands/sentences/cards/team-notice.ts';
import type { BudgetAlert, ReportCorrection, SpendTotals, TeamNotice } from '#src/chat/team-notice.ts';
import { cardText } from '#test/fakes/card-text.ts';
import { spendReport } from '#test/fakes/views.ts';

const ALERT: BudgetAlert = {
  kind: 'budget_alert',
  scope: { kind: 'team' },
  period: '2026-11',
  currency: 'USD',
  percent: 80,
  limit: '100',
  used: '80.40',
  held: '3.00',
  refunds: 'assumed',
  doubted: '0',
  runsOutAtMs: Date.UTC(2026, 10, 24, 12),
  timeZone: 'Europe/Berlin',
};
const TOTALS: SpendTotals = {
  currency: 'USD',
  spent: '212.40',
  clips: 431,
  held: '0',
  awaited: '0',
  refunded: '0',
  refundedClips: 0,
  doubted: '0',
  doubtedClips: 0,
};
const CORRECTION: ReportCorrection = {
  kind: 'correction',
  period: '2026-10',
  currency: 'USD',
  change: '-0.60',
  failed: 2,
  billed: 0,
};
const shown = (notice: TeamNotice): string => cardText(teamNoticeCard(notice));

describe('an alert', () => {
  it('names the budget, what is used and in progress, and when it runs out', () => {
    expect(shown(ALERT)).toBe(
      '80 % of the team’s November budget is used: $80.40 of $100.00 ($3.00 in progress). At this rate it runs out on 24 November.',
    );
  });

  it.each([
    [
      { scope: { kind: 'person', person: { id: 'U1', name: 'Ada' } }, held: '0', runsOutAtMs: null },
      '80 % of your November budget is used: $80.40 of $100.00.',
    ],
    [
      { scope: { kind: 'deployment' }, held: '0', doubted: '0.4', runsOutAtMs: null },
      '80 % of the November budget of this installation is used: $80.40 of $100.00 ($0.40 unconfirmed).',
    ],
    [
      { refunds: 'by_statement', runsOutAtMs: null },
      '80 % of the team’s November budget is used: $80.40 of $100.00 ($3.00 in progress or awaiting refund).',
    ],
    [
      { scope: { kind: 'person', person: { id: 'U1', name: 'Ada' } }, used: '86.9', held: '0', runsOutAtMs: null },
      '86 % of your November budget is used: $86.90 of $100.00.',
    ],
    [
      { percent: 100, used: '100', held: '0', period: '2026-12', runsOutAtMs: null },
      '100 % of the team’s December budget is used: $100.00 of $100.00. It resets on 1 January (Berlin time).',
    ],
  ] as const)('fits its scope and threshold: %j', (changes, sentence) => {
    expect(shown({ ...ALERT, ...changes })).toBe(sentence);
  });
});

describe('a report', () => {
  it('says what was spent, refunded and unconfirmed', () => {
    const text = shown(spendReport({ rows: [] }));
    expect(text).toContain('October: $212.40 for 431 clips. $6.20 refunded for 14 failed clips. $0.80 unconfirmed.');
    expect(text).toContain('Prices are those of the catalog');
  });

  it.each([
    [[], 'October: nothing was spent.'],
    [
      [{ ...TOTALS, spent: '0.30', clips: 1, held: '0.30' }],
      'October: $0.30 for 1 clip. Includes $0.30 for clips in progress.',
    ],
    [
      [{ ...TOTALS, spent: '0.30', clips: 1, awaited: '0.30' }],
      'October: $0.30 for 1 clip. Includes $0.30 for failed clips that await their refund.',
    ],
    [
      [{ ...TOTALS, spent: '0', clips: 0, refunded: '0.6', refundedClips: 2 }],
      'October: $0.00 for 0 clips. $0.60 refunded for 2 failed clips.',
    ],
    [[TOTALS, { ...TOTALS, currency: 'EUR', spent: '3', clips: 1 }], 'October: $212.40 and €3.00 for 432 clips.'],
  ] as const)('of few or several kinds of entries: %#', (totals, sentence) => {
    expect(shown(spendReport({ rows: [], totals })).split('\n')[0]).toBe(sentence);
  });

  it('names the months that have none', () => {
    expect(shown(spendReport({ skipped: ['2026-09'] }))).toContain(
      'September has no report, since the bot was not running at its end. `/video usage` for 2026-09 shows it.',
    );
  });

  it('says how many rows are left out', () => {
    expect(shown(spendReport({ moreRows: 12 }))).toContain('And 12 more rows in the CSV.');
  });
});

it.each([
  [{}, 'Correction to October: −$0.60, 2 clips failed after the report.'],
  [{ change: '0.30', failed: 0, billed: 1 }, 'Correction to October: +$0.30, 1 clip was billed after the report.'],
  [
    { change: '-0.30', failed: 2, billed: 2 },
    'Correction to October: −$0.30, 2 clips failed and 2 clips were billed after the report.',
  ],
  [{ failed: 0 }, 'Correction to October: −$0.60.'],
] as const)('a correction says what changed: %j', (changes, sentence) => {
  expect(shown({ ...CORRECTION, ...changes })).toBe(sentence);
});

it('an export says which month and person it lists', () => {
  const who = { id: 'U1', name: 'Ada' };
  expect(shown({ kind: 'export', period: '2026-10', who })).toBe(
    'Spend in October 2026 of Ada: one row for each time a clip was sent to the service.',
  );
});

it('an alert of unusual spend compares the day with a usual one', () => {
  const notice = {
    kind: 'unusual_spend',
    day: '2026-11-22',
    currency: 'USD',
    amount: '12.4',
    clips: 31,
    usual: '3.2',
  } as const;
  expect(shown(notice)).toBe('Unusual spend today: $12.40 for 31 clips so far. A usual day is $3.20.');
});
