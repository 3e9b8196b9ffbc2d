import { readFile } from 'node:fs/promises';
import type { z } from 'zod';

/** What a schema says of a file, for reading. */
export type Frozen<T> = T extends object ? { readonly [Field in keyof T]: Frozen<Exclude<T[Field], undefined>> } : T;

/** Error of an invalid file, with all of its problems. */
export class InvalidFileError extends Error {
  override readonly name = 'InvalidFileError';
  /** One sentence each, starting with the path: `models[1].price: …`. At least one. */
  readonly problems: readonly string[];

  /** @param holds what the file holds */
  constructor(holds: FileNames['holds'], problems: readonly string[], cause?: unknown) {
    super(`reading the ${holds}: ${problems.join('; ')}`, { cause });
    this.problems = problems;
  }
}

/** What the problems of a file name. */
interface FileNames {
  readonly holds: 'model catalog' | 'services';
  /** What the path of the whole file is called. */
  readonly root: string;
  /** What a union takes, where the value has the type of no branch. */
  readonly unionOf: string;
  /** Field of which nothing that was given is repeated. Default: none. */
  readonly secret?: string;
}

/** Validates a parsed file. @throws InvalidFileError with every problem, each with its path */
export function parseFile<Schema extends z.ZodType>(schema: Schema, json: unknown, names: FileNames): z.output<Schema> {
  const parsed = schema.safeParse(json, { reportInput: true, error: messageOf });
  if (!parsed.success) throw new InvalidFileError(names.holds, problemsOf(parsed.error.issues, names));
  return parsed.data;
}

/**
 * Reads a file of JSON. Windows editors start files with a byte order mark.
 * @throws SyntaxError; Error of the file system
 */
export async function readJson(path: string): Promise<unknown> {
  return JSON.parse((await readFile(path, 'utf8')).replace(/^\uFEFF/, ''));
}

type Issue = z.core.$ZodIssue;

const KINDS: Readonly<Record<string, string>> = {
  string: 'text in quotes',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list in [ ]',
  object: 'an object in { }',
};

/** Returns the message of an issue for which a schema has none: the values that are allowed. */
function messageOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type': {
      const kind = KINDS[issue.expected] ?? issue.expected;
      return issue.input === undefined ? `is missing; it takes ${kind}` : `must be ${kind}`;
    }
    case 'invalid_value':
      return `${issue.input === undefined ? 'is missing; it takes' : 'must be'} ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'too_small':
      return `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    default:
      return undefined;
  }
}

/** Returns a sentence for each issue, which starts with its path: `models[1].price: …`. */
function problemsOf(issues: readonly Issue[], { root, unionOf, secret }: FileNames): readonly string[] {
  return issues.flatMap((issue) => problemsAt(issue, []));

  function problemsAt(issue: Issue, base: readonly PropertyKey[]): string[] {
    const path = [...base, ...issue.path];
    const input = secret !== undefined && path.includes(secret) ? '' : given(issue.input);
    if (issue.code === 'invalid_union') {
      // The branch whose type the value has.
      const meant = issue.errors.find(([first]) => first?.code !== 'invalid_type' || first.path.length > 0);
      if (meant !== undefined) return meant.flatMap((one) => problemsAt(one, path));
      return [`${pathOf(path)}: must be ${unionOf}${input}`];
    }
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `${pathOf([...path, key])}: unknown key`);
    return [`${pathOf(path)}: ${issue.message}${input}`];
  }

  function pathOf(path: readonly PropertyKey[]): string {
    const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
    return text.replace(/^\./, '') || root;
  }
}

function given(input: unknown): string {
  if (input === undefined) return '';
  if (typeof input === 'object' && input !== null) return ` (given: ${Array.isArray(input) ? 'a list' : 'an object'})`;
  const text = JSON.stringify(input);
  return ` (given: ${text.length > 80 ? `${text.slice(0, 80)}…` : text})`;
}
