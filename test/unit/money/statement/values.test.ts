import { Big } from 'big.js';
import { assert, constantFrom, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amountIn, endOf, isRefundKind, timeIn } from '#src/money/statement/read.ts';

const read = (text: string, mark: 'point' | 'comma' = 'point') => amountIn(text, mark)?.toFixed() ?? null;

describe('the amount of a row', () => {
  it.each([
    ['0.30', '0.3'],
    ['.5', '0.5'],
    ['1,234.50', '1234.5'],
    ['1 234.50', '1234.5'],
    ["1'234.50", '1234.5'],
    ['$0.30', '0.3'],
    ['-$0.30', '-0.3'],
    ['$-0.30', '-0.3'],
    ['−0.30', '-0.3'],
    ['(0.30)', '-0.3'],
    ['($0.30)', '-0.3'],
    ['0.30 USD', '0.3'],
    ['USD 0.30', '0.3'],
    ['0.0000125', '0.0000125'],
    ['123456789012345678.123456', '123456789012345678.123456'],
  ])('%s with a decimal point is %s', (text, amount) => {
    expect(read(text)).toBe(amount);
  });

  it.each([
    ['0,30', '0.3'],
    ['1.234,50', '1234.5'],
    ['1 234,50 €', '1234.5'],
    ['-0,30', '-0.3'],
    ['1.234', '1234'],
  ])('%s with a decimal comma is %s', (text, amount) => {
    expect(read(text, 'comma')).toBe(amount);
  });

  it.each([
    '',
    'abc',
    '1e9',
    '-',
    '--1',
    '-(1)',
    '(-1)',
    '1.2.3',
    '12,34',
    '0,300',
    '0x10',
    'NaN',
    '∞',
    '9'.repeat(41),
  ])('%j with a decimal point is none', (text) => {
    expect(read(text)).toBeNull();
  });

  it('is exact for a million cents', () => {
    const cents = property(integer({ min: 0, max: 10 ** 9 }), constantFrom('point', 'comma'), (millionths, mark) => {
      const amount = new Big(millionths).div(10 ** 6);
      const text = amount.toFixed(6);
      expect(amountIn(mark === 'point' ? text : text.replace('.', ','), mark)?.toFixed()).toBe(amount.toFixed());
    });
    assert(cents, { numRuns: 1_000 });
  });
});

describe('the time of a row', () => {
  it.each([
    ['2026-10-03', '2026-10-03T00:00:00.000Z'],
    ['2026-10-03T18:30:00Z', '2026-10-03T18:30:00.000Z'],
    ['2026-10-03 18:30', '2026-10-03T18:30:00.000Z'],
    ['2026-10-03 18:30:00 UTC', '2026-10-03T18:30:00.000Z'],
    ['2026-10-31T23:30:00-0200', '2026-11-01T01:30:00.000Z'],
    ['2026-10-03T18:30:00.123456+02:00', '2026-10-03T16:30:00.123Z'],
    ['3.10.2026', '2026-10-03T00:00:00.000Z'],
    ['03.10.2026, 8:05', '2026-10-03T08:05:00.000Z'],
    ['03.10.2026 08:05:09', '2026-10-03T08:05:09.000Z'],
    ['1791052200', '2026-10-03T18:30:00.000Z'],
    ['1791052200000', '2026-10-03T18:30:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ])('%s is %s', (text, iso) => {
    expect(new Date(timeIn(text) ?? 0).toISOString()).toBe(iso);
  });

  it.each([
    '',
    '03/10/2026',
    '2026-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-10-03T25:00:00Z',
    'yesterday',
    '20261003',
    '11/23/2026 10:00 AM',
    '2026/11/23',
    '03-10-2026',
  ])('%j is none, rather than a guess', (text) => {
    expect(timeIn(text)).toBeNull();
  });
});

describe('with the order of its parts, a date', () => {
  it.each([
    ['mdy', '11/23/2026', '2026-11-23T00:00:00.000Z'],
    ['mdy', '1/3/2026 9:05', '2026-01-03T09:05:00.000Z'],
    ['mdy', '11/23/2026 10:00 AM', '2026-11-23T10:00:00.000Z'],
    ['mdy', '11/23/2026, 12:00:30 am', '2026-11-23T00:00:30.000Z'],
    ['mdy', '11-23-2026 12:15PM', '2026-11-23T12:15:00.000Z'],
    ['mdy', '11/23/2026 11:59 PM UTC', '2026-11-23T23:59:00.000Z'],
    ['mdy', '3.10.2026', '2026-03-10T00:00:00.000Z'],
    ['dmy', '23/11/2026 18:30', '2026-11-23T18:30:00.000Z'],
    ['ymd', '2026/11/23 18:30:09', '2026-11-23T18:30:09.000Z'],
    ['mdy', '2026-10-03', '2026-10-03T00:00:00.000Z'],
  ] as const)('%s %s is %s', (order, text, iso) => {
    expect(new Date(timeIn(text, order) ?? 0).toISOString()).toBe(iso);
  });

  it.each([
    ['mdy', '23/11/2026'],
    ['dmy', '11/23/2026'],
    ['dmy', '2026/11/23'],
    ['mdy', '11/23/26'],
    ['mdy', '2/29/2026'],
    ['mdy', '11/23-2026'],
    ['mdy', '11/23/2026 13:00 PM'],
    ['mdy', '11/23/2026 0:30 AM'],
  ] as const)('%s %j is none', (order, text) => {
    expect(timeIn(text, order)).toBeNull();
  });

  it('covers its day where it has no time', () => {
    expect(endOf(' 11/23/2026 ', 0)).toBe(86_399_999);
    expect(endOf('11/23/2026 10:00 AM', 0)).toBe(0);
  });
});

it('knows refunds by their kind', () => {
  expect(['Refund', 'credit', 'REVERSAL', 'Chargeback'].every(isRefundKind)).toBe(true);
  expect(['charge', 'usage', 'video', ''].some(isRefundKind)).toBe(false);
});
