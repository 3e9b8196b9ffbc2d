import { Big } from 'big.js';
import { expect, it } from 'vitest';
import { Bills, type BookedSend, compare } from '#src/money/statement/match.ts';

const AT_MS = Date.UTC(2026, 9, 3);

/** Returns the bill of rows of one task. */
function billed(...amounts: readonly string[]) {
  const bills = new Bills();
  for (const [at, amount] of amounts.entries())
    bills.add({ line: at + 1, id: 'up-1', amount: new Big(amount), atMs: AT_MS, endMs: AT_MS });
  const [bill, another] = [...bills.all()];
  if (bill === undefined || another !== undefined) throw new TypeError('not one bill');
  return bill;
}

const send = (changes: Partial<BookedSend> = {}): BookedSend => ({
  price: { amount: '0.30', currency: 'USD' },
  state: 'settled',
  ...changes,
});

const usd = (amount: string) => ({ amount, currency: 'USD' });

it.each([
  ['settled', ['0.30'], 'settled'],
  ['settled', ['0.3000'], 'settled'],
  ['in_doubt', ['0.30'], 'settled'],
  ['in_doubt', ['0.30', '-0.30'], 'refunded'],
  ['refunded', ['0.30', '-0.30'], 'refunded'],
  // The charge was on the statement of the month before.
  ['refunded', ['-0.30'], 'refunded'],
  ['refunded', ['0'], 'refunded'],
  ['reserved', ['0.30'], null],
  ['released', ['0'], null],
] as const)('a send that is %s matches %j', (state, amounts, book) => {
  expect(compare(billed(...amounts), send({ state }))).toEqual({ kind: 'match', book, by: [] });
});

it('keeps a failed clip that awaits its refund until the statement shows it', () => {
  const awaiting = send({ state: 'awaiting_refund' });
  expect(compare(billed('0.30'), awaiting)).toEqual({ kind: 'match', book: null, by: [] });
  expect(compare(billed('-0.30'), awaiting)).toEqual({ kind: 'match', book: 'refunded', by: [] });
  expect(compare(billed('0.30', '-0.30'), awaiting)).toEqual({ kind: 'match', book: 'refunded', by: [] });
  expect(compare(billed('0.30', '-0.10'), awaiting)).toMatchObject({ ours: usd('0.3'), theirs: usd('0.2') });
});

it.each([
  ['settled', ['0.45'], '0.3', '0.45', '0.15'],
  ['settled', ['0.15'], '0.3', '0.15', '0.15'],
  // Charged twice, and a row exported twice: a person has to look.
  ['settled', ['0.30', '0.30'], '0.3', '0.6', '0.3'],
  ['settled', ['0.30', '-0.30'], '0.3', '0', '0.3'],
  ['settled', ['-0.30'], '0.3', '0', '0.3'],
  ['settled', ['0.30', '-0.10'], '0.3', '0.2', '0.1'],
  ['settled', ['0.300001'], '0.3', '0.300001', '0.000001'],
  ['refunded', ['0.30'], '0', '0.3', '0.3'],
  ['released', ['0.30'], '0', '0.3', '0.3'],
  ['in_doubt', ['0.31'], '0.3', '0.31', '0.01'],
  ['reserved', ['0.60'], '0.3', '0.6', '0.3'],
] as const)('a send that is %s differs from %j', (state, amounts, ours, theirs, by) => {
  const found = compare(billed(...amounts), send({ state }));
  expect(found).toEqual({ kind: 'differs', ours: usd(ours), theirs: usd(theirs), by: [usd(by)] });
});

it('never converts currencies', () => {
  expect(compare({ ...billed('0.30'), currency: 'EUR' }, send())).toEqual({
    kind: 'differs',
    ours: usd('0.3'),
    theirs: { amount: '0.3', currency: 'EUR' },
    by: [usd('0.3'), { amount: '0.3', currency: 'EUR' }],
  });
});

it('keeps rows without an id apart, and currencies of one id', () => {
  const bills = new Bills();
  const row = { line: 1, id: '', amount: new Big(5), atMs: AT_MS, endMs: AT_MS };
  bills.add(row);
  bills.add({ ...row, line: 2, amount: new Big(-5) });
  bills.add({ ...row, line: 3, id: 'up-1', currency: 'USD' });
  bills.add({ ...row, line: 4, id: 'up-1', currency: 'EUR' });
  expect([...bills.all()]).toHaveLength(4);
});

it.each([
  ['settled', '2.666664', ['2.67'], 'settled', '0.003336'],
  ['settled', '0.30', ['0.29'], 'settled', '0.01'],
  ['in_doubt', '0.30', ['0.29', '-0.30'], 'refunded', '0.01'],
  ['refunded', '0.30', ['-0.31'], 'refunded', '0.01'],
  ['reserved', '0.30', ['0.295'], null, '0.005'],
] as const)('with a tolerance, a send that is %s at %s matches %j', (state, amount, amounts, book, off) => {
  const sent = send({ state, price: usd(amount) });
  expect(compare(billed(...amounts), sent, new Big('0.01'))).toEqual({ kind: 'match', book, by: [usd(off)] });
  expect(compare(billed(...amounts), sent)).toMatchObject({ kind: 'differs' });
});

it.each([
  ['settled', '0.30', ['0.311']],
  // Nothing is not something, however small; a second charge is none either.
  ['settled', '0.01', ['0']],
  ['settled', '0', ['0.01']],
  ['released', '0.30', ['0.01']],
  ['settled', '0.01', ['0.01', '-0.01']],
  ['settled', '0.005', ['0.005', '0.011']],
] as const)('with a tolerance, a send that is %s at %s still differs from %j', (state, amount, amounts) => {
  const sent = send({ state, price: usd(amount) });
  expect(compare(billed(...amounts), sent, new Big('0.01'))).toMatchObject({ kind: 'differs' });
});
