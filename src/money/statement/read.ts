import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Big } from 'big.js';
import { CsvError, parse } from 'csv-parse';

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
  /** By how much the bill of one task may be off, as a decimal string. Default: not at all. */
  readonly tolerance?: string | undefined;
}

/** Facts about a statement that reading its rows depends on. */
export interface Format {
  readonly delimiter: string;
  readonly columns: Columns;
  readonly hasHeader: boolean;
  readonly decimal: DecimalMark;
  readonly encoding: Encoding;
  /** Rows that name neither a task nor a time, such as totals. */
  readonly leftOut: readonly { readonly line: number; readonly id: string }[];
  /** SHA-256 of the file, and of the options that change what its rows say, in hexadecimal. */
  readonly hash: string;
}

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

const DELIMITERS = [',', ';', '\t', '|'];
const HEAD_BYTES = 64 * 1024;
/** Rows of a statement: each bill of a larger one would be in memory. */
const MAX_ROWS = 250_000;

/**
 * Reads a statement once, to detect its encoding, delimiter, header, decimal mark and footer.
 * @throws StatementError when the file or its columns cannot be used.
 */
export async function detectFormat(file: StatementFile): Promise<Format> {
  const { head, encoding } = await headOf(file.path);
  const delimiter = delimiterOf(head.split(/\r?\n/u, (file.skip ?? 0) + 1).at(-1) ?? '');
  const hash = createHash('sha256');
  const marks = new Marks();
  let columns: Columns | undefined;
  let hasHeader = false;
  let rows = 0;
  const leftOut: { line: number; id: string }[] = [];
  let footer: { line: number; id: string } | undefined;
  for await (const { record, line } of recordsOf(file, { delimiter, encoding }, (bytes) => hash.update(bytes))) {
    if (columns === undefined) {
      columns = columnsIn(file.mapping, record);
      const amount = field(record, columns, 'amount');
      hasHeader = !isByNumber(file.mapping) || (amountIn(amount, 'point') ?? amountIn(amount, 'comma')) === null;
      if (hasHeader) continue;
    }
    rows += 1;
    if (rows > MAX_ROWS) {
      throw new StatementError(
        `${file.path} has more than ${MAX_ROWS.toLocaleString('en')} rows; import it in parts, one for each month.`,
      );
    }
    if (isWithoutData(record, columns)) {
      const row = { line, id: field(record, columns, 'id') };
      if (row.id !== '') footer ??= row;
      leftOut.push(row);
      continue;
    }
    if (footer !== undefined) {
      throw new StatementError(
        `Line ${footer.line}: ${quoted(footer.id)} has no time, and is not the end of the file.`,
      );
    }
    marks.add(field(record, columns, 'amount'), line);
  }
  if (columns === undefined) throw new StatementError(`${file.path} is empty.`);
  const { dates, scale, tolerance } = file;
  const options = JSON.stringify({ dates, scale, tolerance });
  if (options !== '{}') hash.update(options);
  const decimal = file.decimal ?? marks.detected();
  return { delimiter, encoding, columns, hasHeader, decimal, leftOut, hash: hash.digest('hex') };
}

/**
 * Reads the rows of a statement in the order of the file, one by one, without those of `leftOut`.
 * @throws StatementError at the first row that cannot be read, naming its line.
 */
export async function* rowsOf(file: StatementFile, format: Format): AsyncGenerator<Row> {
  let isFirst = true;
  for await (const { record, line } of recordsOf(file, format)) {
    const isHeader = isFirst && format.hasHeader;
    isFirst = false;
    if (!isHeader && !isWithoutData(record, format.columns)) yield rowIn(record, { ...file, ...format, line });
  }
}

const HINT = '; for dates such as 10/03/2026, add --dates mdy, dmy or ymd';

type Place = Pick<Format, 'columns' | 'decimal'> & Pick<StatementFile, 'dates' | 'scale'> & { readonly line: number };

function rowIn(record: readonly string[], { line, columns, decimal, dates, scale = new Big(1) }: Place): Row {
  const given = field(record, columns, 'amount');
  const amount = amountIn(given, decimal);
  if (amount === null) {
    throw new StatementError(`Line ${line}: ${quoted(given)} is not an amount with a decimal ${decimal}.`);
  }
  const time = field(record, columns, 'at');
  const atMs = timeIn(time, dates);
  if (atMs === null) {
    const hint = dates === undefined && /\d/u.test(time) ? HINT : '';
    throw new StatementError(`Line ${line}: ${quoted(time)} is not a time such as 2026-10-03T18:30:00Z${hint}.`);
  }
  const currency = columns.currency === undefined ? undefined : field(record, columns, 'currency').toUpperCase();
  if (currency !== undefined && !/^[A-Z]{3}$/u.test(currency)) {
    throw new StatementError(`Line ${line}: ${quoted(currency)} is not a currency such as USD.`);
  }
  const isRefund = isRefundKind(field(record, columns, 'kind')) && amount.gt(0);
  return {
    line,
    id: field(record, columns, 'id'),
    amount: (isRefund ? amount.neg() : amount).times(scale),
    atMs,
    endMs: endOf(time, atMs),
    ...(currency === undefined ? {} : { currency }),
  };
}

function field(record: readonly string[], columns: Columns, name: Field): string {
  const place = columns[name];
  return place === undefined ? '' : (record[place] ?? '').trim();
}

/** Returns whether a row names neither a task nor a time: there is no digit in its id, nor in its time. */
function isWithoutData(record: readonly string[], columns: Columns): boolean {
  return !/\d/u.test(field(record, columns, 'id') + field(record, columns, 'at'));
}

/** Decimal marks with which all amounts of a file can be read. */
class Marks {
  readonly #failed: Partial<Record<DecimalMark, { readonly text: string; readonly line: number }>> = {};
  #ambiguous: { readonly text: string; readonly line: number } | undefined;

  add(text: string, line: number): void {
    const [point, comma] = [amountIn(text, 'point'), amountIn(text, 'comma')];
    if (point === null) this.#failed.point ??= { text, line };
    if (comma === null) this.#failed.comma ??= { text, line };
    if (point !== null && comma !== null && !point.eq(comma)) this.#ambiguous ??= { text, line };
  }

  /** @throws StatementError when none fits, or both do and the amounts differ by it. */
  detected(): DecimalMark {
    const { point, comma } = this.#failed;
    if (point === undefined && comma !== undefined) return 'point';
    if (comma === undefined && point !== undefined) return 'comma';
    if (point !== undefined && comma !== undefined) {
      const { text, line } = point.line < comma.line ? comma : point;
      throw new StatementError(
        `Line ${line}: ${quoted(text)} is not an amount${line > 2 ? ' like those before' : ''}.`,
      );
    }
    if (this.#ambiguous === undefined) return 'point';
    const { text, line } = this.#ambiguous;
    throw new StatementError(
      `Line ${line}: ${quoted(text)} can be read in two ways; add --decimal point or --decimal comma.`,
    );
  }
}

function quoted(text: string): string {
  return JSON.stringify(shortened(text));
}

/** Returns the beginning of a file. @throws StatementError when it cannot be read or is no text. */
async function headOf(path: string): Promise<{ readonly head: string; readonly encoding: Encoding }> {
  try {
    if ((await stat(path)).isDirectory()) throw new StatementError(`${path} is a folder, not a statement.`);
    const handle = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(HEAD_BYTES) });
      const bytes = buffer.subarray(0, bytesRead);
      const encoding = ENCODINGS[bytes.subarray(0, 2).toString('hex')] ?? 'utf-8';
      if (encoding === 'utf-8' && bytes.includes(0)) {
        throw new StatementError(`${path} is not a CSV file: it is not text.`);
      }
      return { head: new TextDecoder(encoding).decode(bytes), encoding };
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    if (thrown instanceof StatementError) throw thrown;
    const { code, message } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new StatementError(`There is no file ${path} (looked for from ${process.cwd()}).`);
    if (code === 'EACCES') throw new StatementError(`${path} cannot be read: this user has no permission to.`);
    throw new StatementError(`${path} cannot be read: ${message}.`);
  }
}

/** Encodings by their byte-order marks. */
const ENCODINGS: Readonly<Record<string, Encoding>> = { fffe: 'utf-16le', feff: 'utf-16be' };

/** Returns the delimiter that is most frequent in a line, outside of quotes. */
function delimiterOf(line: string): string {
  const bare = line.replace(/"(?:[^"]|"")*"/gu, '');
  const counts = DELIMITERS.map((delimiter) => bare.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

interface CsvRecord {
  readonly record: readonly string[];
  readonly line: number;
}

/** Streams the text of a file without the lines to skip. */
async function* textOf(
  { path, skip = 0 }: StatementFile,
  encoding: Encoding,
  onBytes: (bytes: Buffer) => void,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  let left = skip;
  for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
    onBytes(bytes);
    let text = decoder.decode(bytes, { stream: true });
    while (left > 0 && text !== '') {
      const end = text.indexOf('\n');
      if (end !== -1) left -= 1;
      text = end === -1 ? '' : text.slice(end + 1);
    }
    yield text;
  }
}

/** Streams the records of a CSV file (RFC 4180, with or without BOM, UTF-8 or UTF-16). */
async function* recordsOf(
  file: StatementFile,
  { delimiter, encoding }: Pick<Format, 'delimiter' | 'encoding'>,
  onBytes: (bytes: Buffer) => void = () => undefined,
): AsyncGenerator<CsvRecord> {
  const { path, skip = 0 } = file;
  const source = Readable.from(textOf(file, encoding, onBytes), { objectMode: false });
  const parser = parse({ delimiter, info: true, relax_column_count: true, skip_empty_lines: true });
  source.on('error', (error) => parser.destroy(error));
  source.pipe(parser);
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      readonly record: readonly string[];
      readonly info: { readonly lines: number };
    }>) {
      yield { record, line: info.lines + skip };
    }
  } catch (thrown) {
    if (!(thrown instanceof CsvError)) throw thrown;
    const { lines } = thrown as unknown as { readonly lines?: number };
    throw new StatementError(
      `${path} is not a CSV file: ${thrown.message}${lines === undefined ? '' : ` (line ${lines + skip})`}.`,
    );
  } finally {
    source.destroy();
  }
}

type DecimalMark = 'point' | 'comma';

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
const FIELDS = [...REQUIRED, ...OPTIONAL];

/** Field of a statement's row: the service's task id, the amount, its time, and optionally currency and kind. */
type Field = (typeof FIELDS)[number];

/** Column of each field, as given in `--map`: by name or, counted from 1, by number. */
type Mapping = Readonly<Partial<Record<Field, string>>>;

/** Position of each field in a row, from 0. */
type Columns = Readonly<Partial<Record<Field, number>>>;

const EXAMPLE = 'such as --map id=task_id,amount=cost,at=created_at (or, without a header, --map id=1,amount=3,at=2)';

/**
 * Parses `id=…,amount=…,at=…[,currency=…,kind=…]`.
 * @throws StatementError when a field is missing, unknown or given twice.
 */
export function parseMapping(text: string): Mapping {
  const mapping: Partial<Record<Field, string>> = {};
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=');
    const [name, column] = [pair.slice(0, Math.max(0, at)).trim(), pair.slice(at + 1).trim()];
    const field = FIELDS.find((one) => one === name);
    if (field === undefined || column === '') {
      throw new StatementError(`--map: ${JSON.stringify(pair)} names no field and its column; write it ${EXAMPLE}.`);
    }
    if (mapping[field] !== undefined) throw new StatementError(`--map names the column of ${field} twice.`);
    mapping[field] = column;
  }
  const missing = REQUIRED.filter((field) => mapping[field] === undefined);
  if (missing.length > 0) throw new StatementError(`--map lacks ${missing.join(' and ')}; write it ${EXAMPLE}.`);
  return mapping;
}

function isByNumber(mapping: Mapping): boolean {
  return Object.values(mapping).every((column) => /^\d{1,4}$/.test(column));
}

/**
 * Finds the columns of a mapping in the first row of a statement, which is its header unless columns are numbers.
 * @throws StatementError when a column is missing or its name is there twice.
 */
function columnsIn(mapping: Mapping, first: readonly string[]): Columns {
  const places = Object.entries(mapping).map(([field, column]) => [field, placeOf(column, mapping, first)] as const);
  return Object.fromEntries(places);
}

function placeOf(column: string, mapping: Mapping, first: readonly string[]): number {
  if (isByNumber(mapping)) {
    const place = Number(column) - 1;
    if (place >= 0 && place < first.length) return place;
    throw new StatementError(`The statement has no column ${column}: its first row has ${first.length} columns.`);
  }
  const exact = placesOf(first, (name) => name === column);
  const found = exact.length > 0 ? exact : placesOf(first, (name) => name.toLowerCase() === column.toLowerCase());
  const [place] = found;
  if (place !== undefined && found.length === 1) return place;
  const names = first.map((name) => JSON.stringify(shortened(name))).join(', ');
  throw new StatementError(
    place === undefined
      ? `The statement has no column named ${JSON.stringify(column)}. Its first row: ${names}.`
      : `The statement has ${found.length} columns named ${JSON.stringify(column)}; name all columns by number instead.`,
  );
}

function placesOf(names: readonly string[], matches: (name: string) => boolean): readonly number[] {
  return names.flatMap((name, place) => (matches(name.trim()) ? [place] : []));
}

/** Longest text of a statement that a sentence repeats. */
const MAX_SHOWN = 40;

export function shortened(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`;
}

/** Statement, mapping or option that cannot be used; `message` is one sentence for the person who ran the command. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
}
