import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Transform } from 'node:stream';
import type { Big } from 'big.js';
import { CsvError, parse } from 'csv-parse';
import { type Columns, columnsIn, type Field, isByNumber, type Mapping, shortened } from './columns.ts';
import { StatementError } from './statement-error.ts';
import { amountIn, type DecimalMark, endOf, isRefundKind, timeIn } from './values.ts';

/** Row of a statement. */
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

/** Statement to read. */
export interface StatementFile {
  readonly path: string;
  readonly mapping: Mapping;
  /** Default: detected, by the amounts of the whole file. */
  readonly decimal?: DecimalMark;
}

/** Facts about a statement that reading its rows depends on. */
export interface Format {
  readonly delimiter: string;
  readonly columns: Columns;
  readonly hasHeader: boolean;
  readonly decimal: DecimalMark;
  /** SHA-256 of the file, in hexadecimal. */
  readonly hash: string;
}

const DELIMITERS = [',', ';', '\t', '|'];
const HEAD_BYTES = 64 * 1024;

/**
 * Reads a statement once, to detect its delimiter, header and decimal mark.
 * @throws StatementError when the file or its columns cannot be used.
 */
export async function detectFormat(file: StatementFile): Promise<Format> {
  const head = await headOf(file.path);
  const delimiter = delimiterOf(head.split(/\r?\n/u, 1)[0] ?? '');
  const hash = createHash('sha256');
  const marks = new Marks();
  let columns: Columns | undefined;
  let hasHeader = false;
  for await (const { record, line } of recordsOf(file.path, delimiter, (bytes) => hash.update(bytes))) {
    if (columns === undefined) {
      columns = columnsIn(file.mapping, record);
      const amount = field(record, columns, 'amount');
      hasHeader = !isByNumber(file.mapping) || (amountIn(amount, 'point') ?? amountIn(amount, 'comma')) === null;
      if (hasHeader) continue;
    }
    if (!isWithoutData(record, columns)) marks.add(field(record, columns, 'amount'), line);
  }
  if (columns === undefined) throw new StatementError(`${file.path} is empty.`);
  return { delimiter, columns, hasHeader, decimal: file.decimal ?? marks.detected(), hash: hash.digest('hex') };
}

/**
 * Reads the rows of a statement in the order of the file, one by one. Rows with neither id nor time, such as totals, are
 * left out.
 * @throws StatementError at the first row that cannot be read, naming its line.
 */
export async function* rowsOf({ path }: StatementFile, format: Format): AsyncGenerator<Row> {
  const { delimiter, columns, hasHeader, decimal } = format;
  let isFirst = true;
  for await (const { record, line } of recordsOf(path, delimiter)) {
    const isHeader = isFirst && hasHeader;
    isFirst = false;
    if (!isHeader && !isWithoutData(record, columns)) yield rowIn(record, { line, columns, decimal });
  }
}

interface Place {
  readonly line: number;
  readonly columns: Columns;
  readonly decimal: DecimalMark;
}

function rowIn(record: readonly string[], { line, columns, decimal }: Place): Row {
  const given = field(record, columns, 'amount');
  const amount = amountIn(given, decimal);
  if (amount === null) {
    throw new StatementError(`Line ${line}: ${quoted(given)} is not an amount with a decimal ${decimal}.`);
  }
  const time = field(record, columns, 'at');
  const atMs = timeIn(time);
  if (atMs === null) {
    throw new StatementError(`Line ${line}: ${quoted(time)} is not a time such as 2026-10-03T18:30:00Z.`);
  }
  const currency = columns.currency === undefined ? undefined : field(record, columns, 'currency').toUpperCase();
  if (currency !== undefined && !/^[A-Z]{3}$/u.test(currency)) {
    throw new StatementError(`Line ${line}: ${quoted(currency)} is not a currency such as USD.`);
  }
  const isRefund = isRefundKind(field(record, columns, 'kind')) && amount.gt(0);
  return {
    line,
    id: field(record, columns, 'id'),
    amount: isRefund ? amount.neg() : amount,
    atMs,
    endMs: endOf(time, atMs),
    ...(currency === undefined ? {} : { currency }),
  };
}

function field(record: readonly string[], columns: Columns, name: Field): string {
  const place = columns[name];
  return place === undefined ? '' : (record[place] ?? '').trim();
}

function isWithoutData(record: readonly string[], columns: Columns): boolean {
  return field(record, columns, 'id') === '' && field(record, columns, 'at') === '';
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
async function headOf(path: string): Promise<string> {
  try {
    if ((await stat(path)).isDirectory()) throw new StatementError(`${path} is a folder, not a statement.`);
    const handle = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(HEAD_BYTES) });
      const bytes = buffer.subarray(0, bytesRead);
      const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
      if (!isUtf16 && bytes.includes(0)) throw new StatementError(`${path} is not a CSV file: it is not text.`);
      return bytes.toString(isUtf16 ? 'utf16le' : 'utf8').replace(/^\uFEFF/u, '');
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

/** Returns the delimiter that is most frequent in a line, outside of quotes. */
function delimiterOf(line: string): string {
  const bare = line.replace(/"(?:[^"]|"")*"/gu, '');
  const counts = DELIMITERS.map((delimiter) => bare.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** Record of a CSV file. */
interface CsvRecord {
  readonly record: readonly string[];
  readonly line: number;
}

/** Streams the records of a CSV file (RFC 4180, with or without BOM, UTF-8 or UTF-16LE). */
async function* recordsOf(
  path: string,
  delimiter: string,
  onBytes: (bytes: Buffer) => void = () => undefined,
): AsyncGenerator<CsvRecord> {
  const tap = new Transform({
    transform(bytes: Buffer, _encoding, done) {
      onBytes(bytes);
      done(null, bytes);
    },
  });
  const source = createReadStream(path);
  const parser = parse({ bom: true, delimiter, info: true, relax_column_count: true, skip_empty_lines: true });
  source.on('error', (error) => parser.destroy(error));
  source.pipe(tap).pipe(parser);
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      readonly record: readonly string[];
      readonly info: { readonly lines: number };
    }>) {
      yield { record, line: info.lines };
    }
  } catch (thrown) {
    if (!(thrown instanceof CsvError)) throw thrown;
    const { lines } = thrown as unknown as { readonly lines?: number };
    throw new StatementError(
      `${path} is not a CSV file: ${thrown.message}${lines === undefined ? '' : ` (line ${lines})`}.`,
    );
  } finally {
    source.destroy();
  }
}
