import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Big } from 'big.js';
import { CsvError, parse } from 'csv-parse';
import { type Columns, columnsIn, type Field, isByNumber, type Mapping, shortened } from './columns.ts';
import { StatementError } from './statement-error.ts';
import { amountIn, type DateOrder, type DecimalMark, endOf, isRefundKind, timeIn } from './values.ts';

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
