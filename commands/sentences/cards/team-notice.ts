import type {
  BudgetAlert,
  NoticeScope,
  ReportCorrection,
  SpendExport,
  SpendReport,
  SpendTotals,
  TeamNotice,
  UnusualSpend,
} from '#src/chat/index.ts';
import { formatPrice } from '#src/tasks/index.ts';
import { type Card, type Columns, type Line, layOut, present, small, table, textCard } from '../../ui/card.ts';
import { formatSum, heldWords } from '../amounts.ts';
import { formatDay, formatMonth, formatReset, monthName } from '../dates.ts';
import { all, capitalised, count } from '../format.ts';

export function teamNoticeCard(notice: TeamNotice): Card {
  switch (notice.kind) {
    case 'budget_alert':
      return textCard(alertLine(notice));
    case 'unusual_spend':
      return textCard([unusualSentence(notice)]);
    case 'out_of_credit':
      return textCard(...outOfCreditSentences(notice).map((sentences): Line => [sentences]));
    case 'report':
      return reportCard(notice);
    case 'correction':
      return textCard([correctionSentence(notice)]);
    case 'export':
      return textCard(exportLine(notice));
    case 'person_export':
      return textCard([notice.isEmpty === true ? 'I store nothing about you.' : PERSON_EXPORT_LINE]);
  }
}

/** Alerts that the account of a service is out of credit, with the way out. */
function outOfCreditSentences({ service }: { readonly service?: string }): readonly string[] {
  const where = service === undefined ? 'the video service' : `the service ${service}`;
  const orders = service === undefined ? 'Orders' : 'Orders of its models';
  return [
    `${capitalised(where)} reports that the account is out of credit. ${orders} fail until someone tops it up.`,
    `Top it up in the console of ${where}; nothing has to be restarted. Refused clips cost nothing: order them again with Retry.`,
  ];
}

const PERSON_EXPORT_LINE =
  'What I store about you, one JSON object per line: your clips with their prompts and prices, orders that you have not confirmed, your notifications, approver role and budget. Links to clips are for you: anyone who has one can open it until it expires.';

function alertLine(alert: BudgetAlert): Line {
  const { scope, period, currency, percent, limit, used, runsOutAtMs, timeZone } = alert;
  const amount = (value: string): string => formatPrice({ amount: value, currency });
  const parts = partsOf(alert);
  const figures = `${amount(used)} of ${amount(limit)}${parts === '' ? '' : ` (${parts})`}`;
  const pace = runsOutAtMs === null ? '' : ` At this rate it runs out on ${formatDay(runsOutAtMs, timeZone)}.`;
  const reset = percent === 100 ? ` It resets on ${formatReset(period, timeZone)}.` : '';
  const share = Number(limit) > 0 ? Math.max(percent, Math.floor((Number(used) / Number(limit)) * 100)) : percent;
  return [`${share} % of `, ...budgetWords(scope, period), ` is used: ${figures}.${pace}${reset}`];
}

/** Names the amounts that may still change: `$3.00 in progress, $0.40 unconfirmed`. */
function partsOf({ held, refunds, doubted, currency }: BudgetAlert): string {
  const named = [
    { amount: held, words: heldWords(refunds) },
    { amount: doubted, words: 'unconfirmed' },
  ].filter(({ amount }) => Number(amount) !== 0);
  return named.map(({ amount, words }) => `${formatPrice({ amount, currency })} ${words}`).join(', ');
}

function budgetWords(scope: NoticeScope, period: string): Line {
  const month = monthName(period);
  switch (scope.kind) {
    case 'deployment':
      return [`the ${month} budget of this installation`];
    case 'team':
      return [`the team’s ${month} budget`];
    case 'channel':
      return [`the ${month} budget of `, { channel: scope.channel }];
    case 'person':
      return [`your ${month} budget`];
  }
}

function unusualSentence({ amount, clips, usual, currency }: UnusualSpend): string {
  const price = (value: string): string => formatPrice({ amount: value, currency });
  return `Unusual spend today: ${price(amount)} for ${count(clips, 'clip')} so far. A usual day is ${price(usual)}.`;
}

function reportCard({ period, totals, rows, moreRows, skipped }: SpendReport): Card {
  const columns: Columns<SpendReport['rows'][number]> = [
    ['Person', ({ person }) => [{ person }]],
    ['Model', ({ model }) => [{ untrusted: model }]],
    ['Clips', ({ clips }) => count(clips, 'clip')],
    ['Spent', formatPrice],
  ];
  return layOut([
    [`${monthName(period)}: ${reportSentence(totals)}`],
    ...skipped.map(skippedLine),
    rows.length > 0 && table(columns, rows),
    moreRows > 0 && small(`And ${count(moreRows, 'more row')} in the CSV.`),
    small('Prices are those of the catalog; the service sends no bill.'),
  ]);
}

function reportSentence(totals: readonly SpendTotals[]): string {
  if (totals.length === 0) return 'nothing was spent.';
  const sum = (amountOf: (one: SpendTotals) => string, some: readonly SpendTotals[]): string =>
    formatSum(some.map((one) => ({ amount: amountOf(one), currency: one.currency })));
  const spent = totals.filter((one) => one.clips > 0);
  const held = totals.filter((one) => Number(one.held) !== 0);
  const awaited = totals.filter((one) => Number(one.awaited) !== 0);
  const refunded = totals.filter((one) => one.refundedClips > 0);
  const doubted = totals.filter((one) => one.doubtedClips > 0);
  const clips = totals.reduce((sum, one) => sum + one.clips, 0);
  const failed = totals.reduce((sum, one) => sum + one.refundedClips, 0);
  return present([
    `${sum((one) => one.spent, spent.length === 0 ? totals.slice(0, 1) : spent)} for ${count(clips, 'clip')}.`,
    held.length > 0 && `Includes ${sum((one) => one.held, held)} for clips in progress.`,
    awaited.length > 0 && `Includes ${sum((one) => one.awaited, awaited)} for failed clips that await their refund.`,
    refunded.length > 0 && `${sum((one) => one.refunded, refunded)} refunded for ${count(failed, 'failed clip')}.`,
    doubted.length > 0 && `${sum((one) => one.doubted, doubted)} unconfirmed.`,
  ]).join(' ');
}

function skippedLine(month: string): Line {
  return [
    `${monthName(month)} has no report, since the bot was not running at its end. `,
    { code: '/video usage' },
    ` for ${month} shows it.`,
  ];
}

function correctionSentence({ period, change, currency, failed, billed }: ReportCorrection): string {
  const isLess = change.startsWith('-');
  const amount = formatPrice({ amount: change.replace(/^[-+]/, ''), currency });
  const reasons = present([
    failed > 0 && `${count(failed, 'clip')} failed`,
    billed > 0 && `${count(billed, 'clip')} ${billed === 1 ? 'was' : 'were'} billed`,
  ]);
  const why = reasons.length === 0 ? '' : `, ${all(reasons)} after the report`;
  return `Correction to ${monthName(period)}: ${isLess ? '−' : '+'}${amount}${why}.`;
}

function exportLine({ period, who }: SpendExport): Line {
  const whose: Line = who === null ? [] : [' of ', { person: who }];
  return [`Spend in ${formatMonth(period)}`, ...whose, ': one row for each time a clip was sent to the service.'];
}
