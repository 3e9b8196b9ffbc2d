import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Big } from 'big.js';
import { z } from 'zod';
import { type Catalog, type Model, secondsOffered } from './model.ts';
import { ASPECT_RATIOS, RESOLUTIONS } from './request.ts';

/** Longest clip that a catalog may offer, one hour: keeps the list of a range's lengths small. */
const MAX_SECONDS = 3600;

/** Highest price of one clip: the largest amount that sums of spend take at once. */
const MAX_CLIP_PRICE = 1_000_000_000;

/** Error of an invalid catalog, with all of its problems. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';
  /** One sentence each, starting with the path: `models[1].price: …`. At least one. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[], cause?: unknown) {
    super(`reading the model catalog: ${problems.join('; ')}`, { cause });
    this.problems = problems;
  }
}

const wholeSeconds = z.int('must be whole seconds').min(1, 'must be at least 1').max(MAX_SECONDS);

const secondsSchema = z.union([
  z
    .array(wholeSeconds)
    .min(1, 'must name at least one length')
    .refine((list) => isDistinct(list), 'names a length twice'),
  z
    .strictObject({ min: wholeSeconds, max: wholeSeconds, step: wholeSeconds })
    .refine(({ min, max }) => min <= max, 'has a min above its max'),
]);

const countSchema = z
  .strictObject({ min: z.int().min(0), max: z.int().min(0) })
  .refine(({ min, max }) => min <= max, 'has a min above its max');

/**
 * Longest name that Discord accepts as a choice.
 * @see https://docs.discord.com/developers/interactions/application-commands
 */
const MAX_NAME_LENGTH = 100;

const nameSchema = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(MAX_NAME_LENGTH, `must have at most ${MAX_NAME_LENGTH} characters`)
  .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, 'must be one line without control characters');

const modelSchema = z.strictObject({
  name: nameSchema.describe('Full name of the model, as the video service knows it.'),
  title: nameSchema.describe('What people read.'),
  billing: z.enum(['per_call', 'per_second']).describe('What the price is for: a clip, or a second of it.'),
  price: z
    .string()
    .regex(
      /^(?:\d{1,6}(?:\.\d{1,6})?|1000000(?:\.0{1,6})?)$/,
      'must be a decimal string such as "0.05", of at most 1000000 and with at most six decimals',
    )
    .describe('Decimal string, per clip or per second.'),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a currency code such as "USD"')
    .describe('ISO 4217.'),
  seconds: secondsSchema.describe('Lengths on offer, in seconds: a list, or a range.'),
  aspectRatios: z
    .array(z.enum(ASPECT_RATIOS))
    .refine(isDistinct, 'names a ratio twice')
    .describe('Empty: the model does not take an aspect ratio.'),
  resolutions: z
    .array(z.enum(RESOLUTIONS))
    .refine(isDistinct, 'names a resolution twice')
    .describe('Empty: the model does not take a resolution.'),
  media: z
    .strictObject({ image: countSchema, audio: countSchema, video: countSchema })
    .describe('How many reference files of each kind it needs and takes.'),
  promptMaxLength: z.int().min(1).optional().describe('In characters. Default: no limit.'),
  default: z.boolean().optional().describe('Whether it is taken where nobody names a model. Default: the first one.'),
});

const catalogSchema = z
  .strictObject({
    $schema: z.string().optional().describe('Where this schema is, for editors.'),
    models: z.array(modelSchema).min(1, 'must hold at least one model'),
  })
  .superRefine(({ models }, context) => {
    for (const [index, { name }] of models.entries()) {
      if (models.findIndex((other) => other.name === name) === index) continue;
      context.addIssue({ code: 'custom', path: ['models', index, 'name'], message: 'is the name of another model' });
    }
    for (const index of models.flatMap((model, at) => (model.default === true ? [at] : [])).slice(1)) {
      context.addIssue({ code: 'custom', path: ['models', index, 'default'], message: 'is a second default' });
    }
  });

/**
 * Returns the JSON schema of a catalog file, for editors. `config/catalog.schema.json` is a copy.
 * @see https://json-schema.org/draft/2020-12
 */
export function catalogJsonSchema(): object {
  return { ...z.toJSONSchema(catalogSchema, { io: 'input' }), title: 'Model catalog of Dailies' };
}

/**
 * Validates the catalog of a parsed file.
 * @param json the parsed file.
 * @throws CatalogError with every problem, each with its path.
 * @see docs/configuration.md "Model catalog"
 */
export function parseCatalog(json: unknown): Catalog {
  const parsed = catalogSchema.safeParse(json, { reportInput: true, error: messageOf });
  if (!parsed.success) throw new CatalogError(problemsOf(parsed.error.issues));
  const models = parsed.data.models.map(asModel);
  const dear = models.flatMap(dearnessOf);
  if (dear.length > 0) throw new CatalogError(dear);
  const chosen = models[parsed.data.models.findIndex((model) => model.default === true)] ?? models[0];
  if (chosen === undefined) throw new CatalogError(['models: must hold at least one model']);
  return { models, defaultModel: chosen };
}

/**
 * Reads and validates the catalog file.
 * @throws CatalogError also where the file cannot be read or is not valid JSON.
 */
export async function readCatalog(path: string): Promise<Catalog> {
  let json: unknown;
  try {
    // Windows editors start files with a byte order mark.
    json = JSON.parse((await readFile(path, 'utf8')).replace(/^\uFEFF/, ''));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const what = error instanceof SyntaxError ? `is no valid JSON: ${reason}` : reason;
    throw new CatalogError([`${path}: ${what}`], error);
  }
  return parseCatalog(json);
}

function asModel(entry: z.infer<typeof modelSchema>): Model {
  const { name, title, billing, price, currency, seconds, aspectRatios, resolutions, media } = entry;
  const promptMaxLength = entry.promptMaxLength ?? Number.POSITIVE_INFINITY;
  return { name, title, billing, price, currency, seconds, aspectRatios, resolutions, media, promptMaxLength };
}

/** Returns the problem of a model whose longest clip costs more than sums can take at once, if it does. */
function dearnessOf(model: Model, index: number): readonly string[] {
  const longest = model.billing === 'per_call' ? 1 : Math.max(1, ...secondsOffered(model));
  const isDear = new Big(model.price).times(longest).gt(MAX_CLIP_PRICE);
  return isDear ? [`models[${index}].price: makes a clip of ${longest} s dearer than ${MAX_CLIP_PRICE}`] : [];
}

function isDistinct(list: readonly unknown[]): boolean {
  return new Set(list).size === list.length;
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

/** Returns the message of an issue for which the schema has none: the values that are allowed. */
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

function problemsOf(issues: readonly Issue[], base: readonly PropertyKey[] = []): string[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path];
    if (issue.code === 'invalid_union') return problemsOfSeconds(issue, path);
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `${pathOf([...path, key])}: unknown key`);
    return [`${pathOf(path)}: ${issue.message}${given(issue.input)}`];
  });
}

/** Returns the problems of the only union, from the branch whose type (list or object) the input matches. */
function problemsOfSeconds(issue: Issue & { readonly code: 'invalid_union' }, path: readonly PropertyKey[]): string[] {
  const meant = issue.errors.find(([first]) => first?.code !== 'invalid_type' || first.path.length > 0);
  if (meant !== undefined) return problemsOf(meant, path);
  return [`${pathOf(path)}: must be a list of seconds or {"min", "max", "step"}${given(issue.input)}`];
}

function pathOf(path: readonly PropertyKey[]): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return text.replace(/^\./, '') || 'catalog';
}

function given(input: unknown): string {
  if (input === undefined) return '';
  if (typeof input === 'object' && input !== null) return ` (given: ${Array.isArray(input) ? 'a list' : 'an object'})`;
  const text = JSON.stringify(input);
  return ` (given: ${text.length > 80 ? `${text.slice(0, 80)}…` : text})`;
}

/** Returns a fingerprint of all prices: 8 hexadecimal digits, which change with any of them. */
export function priceFingerprint({ models }: Pick<Catalog, 'models'>): string {
  const prices = models.map(({ name, billing, price, currency }) => [name, billing, price, currency]);
  return hash('sha256', JSON.stringify(prices), 'hex').slice(0, 8);
}
