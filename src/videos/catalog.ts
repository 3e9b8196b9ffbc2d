import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Catalog, Model } from './model.ts';
import { ASPECT_RATIOS, RESOLUTIONS } from './request.ts';

/** The longest clip a catalog may offer, one hour: keeps the list of a range's lengths small. */
const MAX_SECONDS = 3600;

/** A catalog that cannot be used, with everything that is wrong with it. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';
  /** One sentence each, beginning with the place: `models[1].price: …`. At least one. */
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

const modelSchema = z.strictObject({
  name: z.string().trim().min(1, 'must not be empty'),
  title: z.string().trim().min(1, 'must not be empty'),
  billing: z.enum(['per_call', 'per_second']),
  price: z.string().regex(/^\d+(\.\d+)?$/, 'must be a decimal string such as "0.05"'),
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be a currency code such as "USD"'),
  seconds: secondsSchema,
  aspectRatios: z.array(z.enum(ASPECT_RATIOS)).refine(isDistinct, 'names a ratio twice'),
  resolutions: z.array(z.enum(RESOLUTIONS)).refine(isDistinct, 'names a resolution twice'),
  media: z.strictObject({ image: countSchema, audio: countSchema, video: countSchema }),
  promptMaxLength: z.int().min(1).optional(),
  default: z.boolean().optional(),
});

const catalogSchema = z
  .strictObject({ models: z.array(modelSchema).min(1, 'must hold at least one model') })
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
 * Checks a catalog as it stands in a file.
 * @param json the parsed file.
 * @throws CatalogError with every problem, each naming its place.
 * @see README.md "Configuration": the model catalog
 */
export function parseCatalog(json: unknown): Catalog {
  const parsed = catalogSchema.safeParse(json, { reportInput: true });
  if (!parsed.success) throw new CatalogError(problemsOf(parsed.error.issues));
  const models = parsed.data.models.map(asModel);
  const chosen = models[parsed.data.models.findIndex((model) => model.default === true)] ?? models[0];
  if (chosen === undefined) throw new CatalogError(['models: must hold at least one model']);
  return { models, defaultModel: chosen };
}

/**
 * Reads and checks the catalog file.
 * @throws CatalogError also where the file cannot be read or is no JSON.
 */
export async function readCatalog(path: string): Promise<Catalog> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CatalogError([`${path}: ${reason}`], error);
  }
  return parseCatalog(json);
}

function asModel(entry: z.infer<typeof modelSchema>): Model {
  const { name, title, billing, price, currency, seconds, aspectRatios, resolutions, media } = entry;
  const promptMaxLength = entry.promptMaxLength ?? Number.POSITIVE_INFINITY;
  return { name, title, billing, price, currency, seconds, aspectRatios, resolutions, media, promptMaxLength };
}

function isDistinct(list: readonly unknown[]): boolean {
  return new Set(list).size === list.length;
}

type Issue = z.core.$ZodIssue;

function problemsOf(issues: readonly Issue[], base: readonly PropertyKey[] = []): string[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path];
    if (issue.code === 'invalid_union') return problemsOfSeconds(issue, path);
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `${placeOf([...path, key])}: unknown key`);
    return [`${placeOf(path)}: ${issue.message}${given(issue.input)}`];
  });
}

/** The only union: of its two branches, the one that got past "this is a list" or "this is an object" is meant. */
function problemsOfSeconds(issue: Issue & { readonly code: 'invalid_union' }, path: readonly PropertyKey[]): string[] {
  const meant = issue.errors.find(([first]) => first?.code !== 'invalid_type' || first.path.length > 0);
  if (meant !== undefined) return problemsOf(meant, path);
  return [`${placeOf(path)}: must be a list of seconds or {"min", "max", "step"}${given(issue.input)}`];
}

function placeOf(path: readonly PropertyKey[]): string {
  const place = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return place.replace(/^\./, '') || 'catalog';
}

function given(input: unknown): string {
  return input === undefined || typeof input === 'object' ? '' : ` (given: ${JSON.stringify(input)})`;
}
