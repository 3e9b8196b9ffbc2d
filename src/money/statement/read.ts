import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { Big } from 'big.js';
import { CsvError, parse } from 'csv-parse';
import { CommandError } from '../../command.ts';
import { shortened } from './sentences.ts';

export interface Row {
  /** Number of its line in the file, from 1. */
  readonly line: number;
  /** The service's id of a task; empty for a row without one. */
  readonly id: string;
  /** What was billed; negative for a refund. */
  readonly amount: Big;
  readonly atMs: number;
  /** The end of what it covers: of its day, where it has no time. */
  readonly endMs: number;
  /** ISO 4217; absent without a column for it. */
  readonly currency?: string;
}

export interface StatementFile {
  readonly path: string;
  readonly mapping: Mapping;
  /** Default: detected, by the amounts of the whole file. */
  readonly decimal?: DecimalMark | undefined;
  /** Default: only dates that can be read in one way. */
  readonly dates?: DateOrder | undefined;
  /** What an amount of 1 stands for. Default: 1. */
  readonly scale?: Big | undefined;
  /** Number of lines above the header. Default: 0. */
  readonly skip?: number | undefined;
  /** Currency of the rows where the statement has no column for it. Default: that of the matched sends. */
  readonly currency?: string | undefined;
  /** Name of the service whose statement it is. Default: the only one. */
  readonly service?: string | undefined;
  /** By how much the bill of one task may be off, as a decimal string. Default: not at all. */
  readonly tolerance?: string | undefined;
}

/** A statement that was read whole: only all of its amounts show how each is to be read. */
export interface Statement extends StatementFile {
  /** Its rows in the order of the file, once. @throws CommandError at the first that cannot be read, naming its line. */
  readonly rows: Iterable<Row>;
  /** Rows that name neither a task nor a time, such as totals. */
  readonly leftOut: readonly { readonly line: number; readonly id: string }[];
  /** SHA-256 of the file, and of the options that change what its rows say, in hexadecimal. */
  readonly hash: string;
}

/** Row of a statement as its text. */
interface TextRow extends Fields<string> {
  readonly line: number;
}

/** Rows of a statement: each bill of a larger one would be in memory. */
const MAX_ROWS = 250_000;

/**
 * Reads a statement, whose encoding, delimiter, header, decimal mark and footer are detected.
 * @throws CommandError when the file or its columns cannot be used.
 */
export async function readStatement(file: StatementFile): Promise<Statement> {
  const hash = createHash('sha256');
  const [rows, leftOut]: [TextRow[], TextRow[]] = [[], []];
  let columns: Fields<number> | undefined;
  for await (const { record, line } of recordsOf(file, (bytes) => hash.update(bytes))) {
    const isFirst = columns === undefined;
    columns ??= mapFields(file.mapping, (column) => placeOf(column, file.mapping, record));
    const row = { ...mapFields(columns, (place) => (record[place] ?? '').trim()), line };
    if (isFirst && isHeader(row, file.mapping)) continue;
    const among = isWithoutData(row) ? leftOut : rows;
    among.push(row);
    if (rows.length + leftOut.length > MAX_ROWS) {
      throw new CommandError(
        `${file.path} has more than ${MAX_ROWS.toLocaleString('en')} rows; import it in parts, one for each month.`,
      );
    }
  }
  if (columns === undefined) throw new CommandError(`${file.path} is empty.`);
  const footer = leftOut.find(({ id }) => id !== '');
  if (footer !== undefined && footer.line < (rows.at(-1)?.line ?? 0)) {
    throw new CommandError(`Line ${footer.line}: ${quoted(footer.id)} has no time, and is not the end of the file.`);
  }
  const { dates, scale, tolerance, service, decimal = decimalMarkOf(rows) } = file;
  const options = JSON.stringify({ dates, scale, tolerance, service });
  if (options !== '{}') hash.update(options);
  return {
    ...file,
    rows: rowsOf(rows, { dates, scale, decimal }),
    leftOut: leftOut.map(({ line, id }) => ({ line, id })),
    hash: hash.digest('hex'),
  };
}

/** Returns whether the first row names the columns: always, unless `--map` gives their numbers. */
function isHeader({ amount }: TextRow, mapping: Mapping): boolean {
  return !isByNumber(mapping) || (amountIn(amount, 'point') ?? amountIn(amount, 'comma')) === null;
}

/** Returns whether a row names neither a task nor a time: there is no digit in its id, nor in its time. */
function isWithoutData({ id, at }: TextRow): boolean {
  return !/\d/u.test(id + at);
}

/** @throws CommandError when no mark fits all amounts, or both do and the amounts differ by it. */
function decimalMarkOf(rows: readonly TextRow[]): DecimalMark {
  const [point, comma] = (['point', 'comma'] as const).map((mark) =>
    rows.find(({ amount }) => amountIn(amount, mark) === null),
  );
  if (point !== undefined && comma !== undefined) {
    const { line, amount } = point.line < comma.line ? comma : point;
    throw new CommandError(`Line ${line}: ${quoted(amount)} is not an amount${line > 2 ? ' like those before' : ''}.`);
  }
  if (point !== undefined) return 'comma';
  if (comma !== undefined) return 'point';
  const ambiguous = rows.find(
    ({ amount }) => amountIn(amount, 'point')?.toFixed() !== amountIn(amount, 'comma')?.toFixed(),
  );
  if (ambiguous === undefined) return 'point';
  const { line, amount } = ambiguous;
  throw new CommandError(
    `Line ${line}: ${quoted(amount)} can be read in two ways; add --decimal point or --decimal comma.`,
  );
}

const HINT = '; for dates such as 10/03/2026, add --dates mdy, dmy or ymd';

type Reading = Pick<StatementFile, 'dates' | 'scale'> & { readonly decimal: DecimalMark };

function* rowsOf(rows: readonly TextRow[], { decimal, dates, scale = new Big(1) }: Reading): Generator<Row> {
  for (const { line, id, amount, at, currency, kind = '' } of rows) {
    const read = <Value>(cell: string, value: Value | null, expected: string): Value => {
      if (value !== null) return value;
      throw new CommandError(`Line ${line}: ${quoted(cell)} is not ${expected}.`);
    };
    const charged = read(amount, amountIn(amount, decimal), `an amount with a decimal ${decimal}`);
    const hint = dates === undefined && /\d/u.test(at) ? HINT : '';
    const atMs = read(at, timeIn(at, dates), `a time such as 2026-10-03T18:30:00Z${hint}`);
    const code = currency?.toUpperCase();
    if (code !== undefined) read(code, /^[A-Z]{3}$/u.exec(code), 'a currency such as USD');
    const isRefund = isRefundKind(kind) && charged.gt(0);
    const billed = (isRefund ? charged.neg() : charged).times(scale);
    yield { line, id, amount: billed, atMs, endMs: endOf(at, atMs), ...(code === undefined ? {} : { currency: code }) };
  }
}

function quoted(text: string): string {
  return JSON.stringify(shortened(text));
}

const DELIMITERS = [',', ';', '\t', '|'];

/** Returns the delimiter that is most frequent in the first line of a text, outside of quotes. */
function delimiterOf(text: string): string {
  const [line = ''] = text.split(/\r?\n/u, 1);
  const bare = line.replace(/"(?:[^"]|"")*"/gu, '');
  const counts = DELIMITERS.map((delimiter) => bare.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** Encodings by their byte-order marks. */
const ENCODINGS: Readonly<Record<string, string>> = { fffe: 'utf-16le', feff: 'utf-16be' };

/** Returns the encoding of a file by its first bytes. @throws CommandError when it is no text. */
function encodingOf(path: string, bytes: Buffer): string {
  const encoding = ENCODINGS[bytes.subarray(0, 2).toString('hex')];
  if (encoding !== undefined || !bytes.includes(0)) return encoding ?? 'utf-8';
  throw new CommandError(`${path} is not a CSV file: it is not text.`);
}

/** Streams the text of a file without the lines to skip, in parts that are not empty. */
async function* textOf(
  { path, skip = 0 }: StatementFile,
  onBytes: (bytes: Buffer) => void,
): AsyncGenerator<string, undefined> {
  let decoder: TextDecoder | undefined;
  let left = skip;
  for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
    onBytes(bytes);
    decoder ??= new TextDecoder(encodingOf(path, bytes));
    let text = decoder.decode(bytes, { stream: true });
    while (left > 0 && text !== '') {
      const end = text.indexOf('\n');
      if (end !== -1) left -= 1;
      text = end === -1 ? '' : text.slice(end + 1);
    }
    if (text !== '') yield text;
  }
}

interface CsvRecord {
  readonly record: readonly string[];
  readonly line: number;
}

/** Streams the records of a CSV file (RFC 4180, with or without BOM, UTF-8 or UTF-16). */
async function* recordsOf(file: StatementFile, onBytes: (bytes: Buffer) => void): AsyncGenerator<CsvRecord> {
  const { path, skip = 0 } = file;
  try {
    const text = textOf(file, onBytes);
    const { value: first = '' } = await text.next();
    const delimiter = delimiterOf(first);
    const parser = parse({ delimiter, info: true, relax_column_count: true, skip_empty_lines: true });
    const whole = async function* () {
      yield first;
      yield* text;
    };
    // An error reaches the loop below through the parser.
    pipeline(whole, parser, () => undefined);
    for await (const { record, info } of parser as AsyncIterable<{
      readonly record: readonly string[];
      readonly info: { readonly lines: number };
    }>) {
      yield { record, line: info.lines + skip };
    }
  } catch (thrown) {
    throw thrown instanceof CommandError ? thrown : unreadable(path, skip, thrown);
  }
}

function unreadable(path: string, skip: number, thrown: unknown): CommandError {
  if (thrown instanceof CsvError) {
    const { lines } = thrown as unknown as { readonly lines?: number };
    const at = lines === undefined ? '' : ` (line ${lines + skip})`;
    return new CommandError(`${path} is not a CSV file: ${thrown.message}${at}.`);
  }
  const { code = '', message } = thrown as NodeJS.ErrnoException;
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: `There is no file ${path} (looked for from ${process.cwd()}).`,
    EACCES: `${path} cannot be read: this user has no permission to.`,
    EISDIR: `${path} is a folder, not a statement.`,
  };
  return new CommandError(reasons[code] ?? `${path} cannot be read: ${message}.`);
}

type DecimalMark = 'point' | 'comma';

const CURRENCY = '(?:[A-Z]{3}|[$€£¥])?';
/** Digits with what stands around them: a sign, before or after a currency symbol or code. */
const AROUND = new RegExp(String.raw`^([+-]\s*${CURRENCY}|${CURRENCY}\s*[+-]?)\s*(\S|\S.*?\S)\s*${CURRENCY}$`, 'u');
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
  const [, inParentheses] = /^\((.*)\)$/u.exec(trimmed) ?? [];
  const [, before = '', digits = ''] = AROUND.exec((inParentheses ?? trimmed).trim()) ?? [];
  const isSigned = /[+-]/u.test(before);
  if (inParentheses !== undefined && isSigned) return null;
  if (!/\d/u.test(digits) || !PATTERNS[mark].test(digits)) return null;
  const decimals = mark === 'point' ? digits.replaceAll(',', '') : digits.replaceAll('.', '').replace(',', '.');
  const value = new Big(decimals.replace(new RegExp(GAP, 'gu'), '').replace(/^\./u, '0.'));
  return inParentheses !== undefined || before.includes('-') ? value.neg() : value;
}

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?: ?(Z|UTC|[+-]\d{2}:?\d{2}))?)?$/u;
/** Order of day, month and year in dates such as `11/23/2026`. */
type DateOrder = 'mdy' | 'dmy' | 'ymd';
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

const REQUIRED = ['id', 'amount', 'at'] as const;
const OPTIONAL = ['currency', 'kind'] as const;

/** What is known of each field of a row: the service's task id, the amount, its time, and optionally currency and kind. */
type Fields<Value> = Readonly<
  Record<(typeof REQUIRED)[number], Value> & Partial<Record<(typeof OPTIONAL)[number], Value>>
>;

function mapFields<From, To>(fields: Fields<From>, map: (value: From) => To): Fields<To> {
  const mapped = Object.entries<From>(fields).map(([field, value]) => [field, map(value)]);
  return Object.fromEntries(mapped) as Fields<To>;
}

/** Column of each field, as given in `--map`: by name or, counted from 1, by number. */
type Mapping = Fields<string>;

const EXAMPLE = 'such as --map id=task_id,amount=cost,at=created_at (or, without a header, --map id=1,amount=3,at=2)';

/**
 * Parses `id=…,amount=…,at=…[,currency=…,kind=…]`.
 * @throws CommandError when a field is missing, unknown or given twice.
 */
export function parseMapping(text: string): Mapping {
  const mapping: Partial<Record<keyof Mapping, string>> = {};
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=');
    const [name, column] = [pair.slice(0, Math.max(0, at)).trim(), pair.slice(at + 1).trim()];
    const field = [...REQUIRED, ...OPTIONAL].find((one) => one === name);
    if (field === undefined || column === '') {
      throw new CommandError(`--map: ${JSON.stringify(pair)} names no field and its column; write it ${EXAMPLE}.`);
    }
    if (mapping[field] !== undefined) throw new CommandError(`--map names the column of ${field} twice.`);
    mapping[field] = column;
  }
  const missing = REQUIRED.filter((field) => mapping[field] === undefined);
  if (missing.length > 0) throw new CommandError(`--map lacks ${missing.join(' and ')}; write it ${EXAMPLE}.`);
  return mapping as Mapping;
}

function isByNumber(mapping: Mapping): boolean {
  return Object.values(mapping).every((column) => /^\d{1,4}$/.test(column));
}

/**
 * Finds a column in the first row of a statement, which is its header unless columns are numbers. Positions count from 0.
 * @throws CommandError when it is missing or its name is there twice.
 */
function placeOf(column: string, mapping: Mapping, first: readonly string[]): number {
  if (isByNumber(mapping)) {
    const place = Number(column) - 1;
    if (place >= 0 && place < first.length) return place;
    throw new CommandError(`The statement has no column ${column}: its first row has ${first.length} columns.`);
  }
  const placesOf = (wanted: string, names: readonly string[]) =>
    names.flatMap((name, place) => (name.trim() === wanted ? [place] : []));
  const exact = placesOf(column, first);
  const lower = first.map((name) => name.toLowerCase());
  const found = exact.length > 0 ? exact : placesOf(column.toLowerCase(), lower);
  const [place] = found;
  if (place !== undefined && found.length === 1) return place;
  const names = first.map((name) => JSON.stringify(shortened(name))).join(', ');
  throw new CommandError(
    place === undefined
      ? `The statement has no column named ${JSON.stringify(column)}. Its first row: ${names}.`
      : `The statement has ${found.length} columns named ${JSON.stringify(column)}; name all columns by number instead.`,
  );
}
