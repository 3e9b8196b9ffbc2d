import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { currenciesOf, typedAmount } from '#commands/input/amounts.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { amountOf } from '#src/tasks/money.ts';
import { parseCatalog } from '#src/videos/catalog.ts';

const CURRENCIES = ['USD', 'EUR'];
const read = (text: string) => typedAmount(text, 'USD', CURRENCIES);

describe('a typed amount', () => {
  it.each([
    ['100', '100', 'USD'],
    ['$100', '100', 'USD'],
    ['$ 12.50', '12.5', 'USD'],
    ['100 USD', '100', 'USD'],
    ['12.50 eur', '12.5', 'EUR'],
    ['EUR 3', '3', 'EUR'],
    ['3€', '3', 'EUR'],
    ['0', '0', 'USD'],
    ['0.000001', '0.000001', 'USD'],
    ['999999999', '999999999', 'USD'],
    [' 7 ', '7', 'USD'],
  ])('%j is %s %s', (text, amount, currency) => {
    expect(read(text)).toEqual({ value: { amount, currency } });
  });

  it.each([
    'abc',
    '-5',
    '1e9',
    '0.0000001',
    '1000000000',
    '999999999.000001',
    '1,50',
    '1,000',
    '.5',
    '5.',
    '$5 EUR',
    '5 5',
    'Infinity',
    'NaN',
    '0x10',
    '٣',
    '',
  ])('%j is refused in one sentence', (text) => {
    expect(read(text)).toHaveProperty(
      'problem',
      expect.stringContaining('isn’t an amount. Write a number such as 100'),
    );
  });

  it('in a currency that no model is billed in is refused', () => {
    expect(read('5 GBP')).toEqual({
      problem: 'No model is billed in GBP. The models use USD and EUR.',
    });
    expect(read('£5')).toHaveProperty('problem');
  });

  it('never changes', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 999_999_999_000_000n }), (micros) => {
        const amount = amountOf(micros);
        expect(read(`${amount} EUR`)).toEqual({ value: { amount, currency: 'EUR' } });
      }),
      { seed: 1 },
    );
  });

  it('may be in any currency of the catalog, that of the default model first', () => {
    const catalog = parseCatalog(sandboxCatalog);
    const [model] = catalog.models;
    if (model === undefined) throw new TypeError('the sandbox has no models');
    const models = [{ ...model, currency: 'EUR' }, model];
    expect(currenciesOf({ models, defaultModel: model })).toEqual(['USD', 'EUR']);
  });
});
