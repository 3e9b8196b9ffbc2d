import { describe, expect, it } from 'vitest';
import { formatPrice, priceOf, total } from '#src/tasks/price.ts';
import type { Model } from '#src/videos/model.ts';

function model(billing: Model['billing'], price: string, currency = 'USD'): Model {
  return {
    name: 'm',
    title: 'M',
    billing,
    price,
    currency,
    seconds: [1, 2, 3],
    aspectRatios: [],
    resolutions: [],
    media: { image: { min: 0, max: 0 }, audio: { min: 0, max: 0 }, video: { min: 0, max: 0 } },
    promptMaxLength: 100,
  };
}

describe('the price of a clip', () => {
  it.each([
    ['per_second', '0.05', 6, '0.3'],
    ['per_second', '0.1', 3, '0.3'],
    ['per_second', '0.0000001', 3, '0.0000003'],
    ['per_second', '123456789012345678.01', 10, '1234567890123456780.1'],
    ['per_call', '1.20', 15, '1.2'],
  ] as const)('%s at %s for %i seconds is %s', (billing, price, seconds, amount) => {
    expect(priceOf(model(billing, price), seconds)).toEqual({ amount, currency: 'USD' });
  });
});

describe('a total', () => {
  it('is exact, and keeps currencies apart', () => {
    const prices = [
      ...Array.from({ length: 10 }, () => ({ amount: '0.1', currency: 'USD' })),
      { amount: '2', currency: 'EUR' },
      { amount: '0.000001', currency: 'USD' },
      { amount: '0.50', currency: 'EUR' },
    ];
    expect(total(prices)).toEqual([
      { amount: '1.000001', currency: 'USD' },
      { amount: '2.5', currency: 'EUR' },
    ]);
  });

  it('of no prices is empty', () => {
    expect(total([])).toEqual([]);
  });
});

describe('a formatted price', () => {
  it.each([
    ['0.3', 'USD', '$0.30'],
    ['0.30', 'USD', '$0.30'],
    ['12', 'EUR', '€12.00'],
    ['1.2', 'GBP', '£1.20'],
    ['0.0125', 'USD', '$0.0125'],
    ['0', 'USD', '$0.00'],
    ['12', 'JPY', '12 JPY'],
    ['0.5', 'CHF', '0.5 CHF'],
  ])('%s %s is %s', (amount, currency, written) => {
    expect(formatPrice({ amount, currency })).toBe(written);
  });
});
