import { StatementError } from './statement-error.ts';

const REQUIRED = ['id', 'amount', 'at'] as const;
const OPTIONAL = ['currency', 'kind'] as const;
const FIELDS = [...REQUIRED, ...OPTIONAL];

/** Field of a statement's row: the service's task id, the amount, its time, and optionally currency and kind. */
export type Field = (typeof FIELDS)[number];

/** Column of each field, as given in `--map`: by name or, counted from 1, by number. */
export type Mapping = Readonly<Partial<Record<Field, string>>>;

/** Position of each field in a row, from 0. */
export type Columns = Readonly<Partial<Record<Field, number>>>;

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

export function isByNumber(mapping: Mapping): boolean {
  return Object.values(mapping).every((column) => /^\d{1,4}$/.test(column));
}

/**
 * Finds the columns of a mapping in the first row of a statement, which is its header unless columns are numbers.
 * @throws StatementError when a column is missing or its name is there twice.
 */
export function columnsIn(mapping: Mapping, first: readonly string[]): Columns {
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
