import { Big } from 'big.js';

export type DecimalMark = 'point' | 'comma';

/** Currency symbols and codes around an amount. */
const CURRENCY = /^(?:[A-Z]{3}|[$€£¥])?|(?:[A-Z]{3}|[$€£¥])?$/gu;
/** Separators of thousands besides point and comma: spaces, apostrophes. */
const GAP = `[ \\u00A0\\u202F'’]`;
const PATTERNS: Readonly<Record<DecimalMark, RegExp>> = {
  point: new RegExp(`^(?:\\d+|[1-9]\\d{0,2}(?:(?:,|${GAP})\\d{3})+)?(?:\\.\\d+)?$`, 'u'),
  comma: new RegExp(`^(?:\\d+|[1-9]\\d{0,2}(?:(?:\\.|${GAP})\\d{3})+)?(?:,\\d+)?$`, 'u'),
};
/** Longest amount: far more digits than any currency has. */
const MAX_LENGTH = 40;

/**
 * Reads an amount with a decimal mark, exactly: `0.30`, `1,234.50`, `$0.30`, `0,30 EUR`, `-0.30`, `(0.30)` (negative, as
 * accountants write it). `null` for anything else, exponents included.
 */
export function amountIn(text: string, mark: DecimalMark): Big | null {
  const trimmed = text.trim().replaceAll('−', '-');
  if (trimmed.length > MAX_LENGTH) return null;
  const isInParentheses = /^\(.*\)$/u.test(trimmed);
  const bare = (isInParentheses ? trimmed.slice(1, -1) : trimmed).trim();
  const [sign, unsigned] = signOf(bare);
  if (isInParentheses && sign !== '') return null;
  const digits = unsigned;
  if (!/\d/u.test(digits) || !PATTERNS[mark].test(digits)) return null;
  const decimals = mark === 'point' ? digits.replaceAll(',', '') : digits.replaceAll('.', '').replace(',', '.');
  const value = new Big(decimals.replace(new RegExp(GAP, 'gu'), '').replace(/^\./u, '0.'));
  return isInParentheses || sign === '-' ? value.neg() : value;
}

/** Splits an amount in its sign, before or after the currency symbol, and its digits without the currency. */
function signOf(text: string): readonly [string, string] {
  const [sign, rest] = splitSign(text);
  const plain = rest.replace(CURRENCY, '').trim();
  if (sign !== '') return [sign, plain];
  return splitSign(plain);
}

function splitSign(text: string): readonly [string, string] {
  const sign = /^[+-]/u.exec(text)?.[0] ?? '';
  return [sign, text.slice(sign.length).trim()];
}

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?: ?(Z|UTC|[+-]\d{2}:?\d{2}))?)?$/u;
/** Order of day, month and year in dates such as `11/23/2026`. */
export type DateOrder = 'mdy' | 'dmy' | 'ymd';
const DATE = String.raw`(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})`;
const NUMERIC = new RegExp(`^${DATE}(?:(?:,? |T)(\\d{1,2})((?::\\d{2}){1,2})(?: ?([AP])M)?(?: ?(?:Z|UTC))?)?$`, 'iu');
const DAY = new RegExp(`^${DATE}$`, 'u');

/**
 * Reads a time in UTC: ISO 8601 (also with an offset), `31.10.2026 18:30`, Unix time in seconds or milliseconds, and with
 * an order `11/23/2026 10:00 AM`.
 * @returns milliseconds since the epoch; `null` for anything else: `03/10/2026` may be March or October.
 */
export function timeIn(text: string, order?: DateOrder): number | null {
  const trimmed = text.trim();
  if (/^\d{10}(?:\.\d+)?$/u.test(trimmed)) return Math.floor(Number(trimmed) * 1000);
  if (/^\d{13}$/u.test(trimmed)) return Number(trimmed);
  const iso = ISO.exec(trimmed);
  if (iso !== null) {
    const [, year = '', month = '', day = '', clock = '00:00', zone = 'Z'] = iso;
    return instant(year, month, day, clock, zone === 'UTC' ? 'Z' : zone);
  }
  const [, first = '', mark = '', second = '', third = '', hour = '0', minutes = ':00', half] =
    NUMERIC.exec(trimmed) ?? [];
  const by = order ?? (mark === '.' ? 'dmy' : null);
  if (by === null || (half !== undefined && (Number(hour) < 1 || Number(hour) > 12))) return null;
  const partOf = (letter: string) => [first, second, third][by.indexOf(letter)] ?? '';
  const [day, month, year] = [partOf('d'), partOf('m'), partOf('y')];
  if (year.length !== 4 || day.length > 2) return null;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toUpperCase() === 'P' ? 12 : 0);
  const clock = `${String(hours).padStart(2, '0')}${minutes}`;
  return instant(year, month.padStart(2, '0'), day.padStart(2, '0'), clock, 'Z');
}

/** Returns the last moment of a time that was read by {@link timeIn}: of a date without a time, the end of its day. */
export function endOf(text: string, atMs: number): number {
  return DAY.test(text.trim()) ? atMs + 86_400_000 - 1 : atMs;
}

function instant(year: string, month: string, day: string, clock: string, zone: string): number | null {
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  // `Date` takes 31 February as 3 March.
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > days) return null;
  const time = Date.parse(
    `${year}-${month}-${day}T${clock}${zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone}`,
  );
  return Number.isNaN(time) ? null : time;
}

const REFUND = /refund|credit|revers|charge ?back|gutschrift|erstattung|rembours|reembolso/iu;

/** Returns whether the kind of a row says that its amount was given back. */
export function isRefundKind(kind: string): boolean {
  return REFUND.test(kind);
}
