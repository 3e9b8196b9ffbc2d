/** Value in an id, by the name that it has in what the id stands for. */
export interface Field {
  readonly name: string;
  readonly write: (value: unknown) => string;
  /** Returns `undefined` for a text that no value is written as. */
  readonly read: (text: string) => unknown;
  /** Value at which an id ends, instead of writing it. Default: there is none. */
  readonly absent?: unknown;
}

/** A text of any characters but line breaks, unless a pattern says otherwise. */
export function text(name: string, pattern = /^.+$/su): Field {
  return { name, write: String, read: (given) => (pattern.test(given) ? given : undefined) };
}

/** A whole number of up to `digits` digits. */
export function number(name: string, digits: number): Field {
  const pattern = new RegExp(`^\\d{1,${digits}}$`, 'u');
  return { name, write: String, read: (given) => (pattern.test(given) ? Number(given) : undefined) };
}

/** One of some values, each with its word. */
export function choice(name: string, words: Readonly<Record<string, unknown>>): Field {
  const all = new Map(Object.entries(words));
  return {
    name,
    write: (value) => [...all.keys()].find((word) => all.get(word) === value) ?? '',
    read: (given) => all.get(given),
  };
}

/** A field that may be left out at the end of an id, with all that follow. @param absent its value then */
export function optional(field: Field, absent: unknown = null): Field {
  return { ...field, absent };
}

/** A field that may be empty, for `null`. */
export function nullable({ name, write, read }: Field): Field {
  return {
    name,
    write: (value) => (value === null ? '' : write(value)),
    read: (given) => (given === '' ? null : read(given)),
  };
}

/** Writes the values of an id behind what it begins with: `again:7f3a…:1:0.30USD`. */
export function encodeId(start: string, fields: readonly Field[], values: Readonly<Record<string, unknown>>): string {
  const end = fields.findIndex((field) => 'absent' in field && field.absent === values[field.name]);
  const written = fields.slice(0, end === -1 ? fields.length : end);
  const texts = written.map(({ name, write }) => write(values[name]).replace(/[%:]/gu, encodeURIComponent));
  return [start, ...texts].join(':');
}

/** Reads the values of an id from its parts behind what it begins with; `null` where one is missing or can't be read. */
export function decodeId(parts: readonly string[], fields: readonly Field[]): Readonly<Record<string, unknown>> | null {
  if (parts.length > fields.length) return null;
  const values = fields.map(({ name, read, absent }, at) => {
    const part = parts[at];
    return [name, part === undefined ? absent : read(part.replace(/%25|%3A/gu, decodeURIComponent))] as const;
  });
  return values.some(([, value]) => value === undefined) ? null : Object.fromEntries(values);
}
