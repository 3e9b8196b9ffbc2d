import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amountOf, microsOf } from '#src/tasks/money.ts';

describe('an amount', () => {
  it.each([
    ['0', 0n],
    ['0.000001', 1n],
    ['0.30', 300_000n],
    ['0.3000000', 300_000n],
    ['12', 12_000_000n],
    ['007.5', 7_500_000n],
    ['1000000000', 1_000_000_000_000_000n],
    ['-0.40', -400_000n],
    // The smallest amounts of JPY and KWD, which have no and three decimals.
    ['1', 1_000_000n],
    ['0.001', 1_000n],
  ])('of %s is %s millionths', (amount, micros) => {
    expect(microsOf(amount)).toBe(micros);
  });

  it.each(['', ' ', 'abc', '.5', '5.', '1e9', '0x10', '+1', '1,5', '0.0000001', '1 ', 'NaN', 'Infinity', '--1', '١'])(
    'is not %j',
    (amount) => {
      expect(() => microsOf(amount)).toThrow(RangeError);
    },
  );

  it('is its own text again, the shortest one', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 21n), max: 10n ** 21n }), (micros) => {
        const amount = amountOf(micros);
        expect(microsOf(amount)).toBe(micros);
        expect(amount).not.toMatch(/\.\d*0$|^-0$|\.$/);
      }),
    );
  });

  it('adds up exactly, a million times', () => {
    const random = fc.sample(fc.bigInt({ min: 0n, max: 10n ** 15n }), { numRuns: 1_000, seed: 12 });
    let sum = 0n;
    let parsed = 0n;
    for (let at = 0; at < 1_000_000; at += 1) {
      const micros = ((random[at % 1_000] ?? 0n) * BigInt(at + 1)) % 10n ** 15n;
      sum += micros;
      parsed += microsOf(amountOf(micros));
    }
    expect(parsed).toBe(sum);
    expect(microsOf(amountOf(sum))).toBe(sum);
  });
});
