/** Amount of money in millionths of a currency unit: an exact integer. */
export type Micros = bigint;

const DECIMALS = 6;
const UNIT: Micros = 10n ** BigInt(DECIMALS);
const AMOUNT = /^(-?)(\d+)(?:\.(\d+))?$/;

/**
 * Parses a decimal string such as `0.30`, exactly.
 * @throws RangeError for anything else, an exponent and a seventh decimal that is not zero included.
 */
export function microsOf(amount: string): Micros {
  const [, sign, units, decimals = ''] = AMOUNT.exec(amount) ?? [];
  const fraction = decimals.replace(/0+$/, '');
  if (units === undefined || fraction.length > DECIMALS) {
    throw new RangeError(`parsing the amount “${amount}”: not a decimal number with at most ${DECIMALS} decimals`);
  }
  const micros = BigInt(units) * UNIT + BigInt(fraction.padEnd(DECIMALS, '0'));
  return sign === '-' ? -micros : micros;
}

/** Returns the shortest decimal string of an amount: `0.3`, `12`, `-0.000001`. */
export function amountOf(micros: Micros): string {
  if (micros < 0n) return `-${amountOf(-micros)}`;
  const fraction = (micros % UNIT).toString().padStart(DECIMALS, '0').replace(/0+$/, '');
  return `${micros / UNIT}${fraction === '' ? '' : `.${fraction}`}`;
}
