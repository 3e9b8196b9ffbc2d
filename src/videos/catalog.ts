import { hash } from 'node:crypto';
import { Big } from 'big.js';
import { z } from 'zod';
import { type Frozen, InvalidFileError, parseFile, readJson } from './json-file.ts';
import { type Catalog, type Model, secondsOffered } from './model.ts';
import { ASPECT_RATIOS, RESOLUTIONS } from './request.ts';

/** Longest clip that a catalog may offer, one hour: keeps the list of a range's lengths small. */
const MAX_SECONDS = 3600;

/** Highest price of one clip: the largest amount that sums of spend take at once. */
const MAX_CLIP_PRICE = 1_000_000_000;

const HOLDS = 'model catalog';
const NAMES = { holds: HOLDS, root: 'catalog', unionOf: 'a list of seconds or {"min", "max", "step"}' } as const;

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

/** Fields of requests that decide what is bought: no parameter may replace them. */
const ORDERED = ['model', 'prompt', 'duration', 'seconds', 'durationSeconds'];

const modelSchema = z.strictObject({
  name: nameSchema.describe('Name of the model, which no other one has.'),
  id: nameSchema.optional().describe('What the video service calls it. Default: its name.'),
  service: nameSchema.optional().describe('Name of its service in SERVICES. Default: the only one.'),
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
  unitPrice: z
    .string()
    .regex(/^\d{1,6}(?:\.\d{1,12})?$/, 'must be a decimal string such as "0.0000024"')
    .optional()
    .describe(
      'Price of a unit that the service reports of a clip (ark: a token; fal: a billable unit); units times price is then ' +
        'what the clip has cost. Default: the price of the order.',
    ),
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
  imageRole: z
    .enum(['first_frame', 'reference'])
    .optional()
    .describe(
      'What reference images are: the first frame of the clip (a second one: its last), or what it shows. Default: ' +
        'first_frame. Of no effect where the service knows no roles.',
    ),
  sound: z.boolean().optional().describe('Whether its clips have sound. Default: the service decides.'),
  fields: z
    .strictObject({
      firstFrame: nameSchema.optional(),
      lastFrame: nameSchema.optional(),
      images: nameSchema.optional(),
      audio: nameSchema.optional(),
      video: nameSchema.optional(),
      sound: nameSchema.optional(),
    })
    .optional()
    .describe(
      'What the service calls the fields of the first and last frame, the reference images, audio and video files, and ' +
        'the sound. Default: as most of its models do. Of no effect where all models of a service have one request.',
    ),
  secondsFormat: z
    .enum(['text', 'text_s', 'number'])
    .optional()
    .describe(
      'How the length is written: text ("5"), text_s ("5s") or number (5). Default: as most models of the service do. ' +
        'Of no effect where all models of a service have one request.',
    ),
  parameters: z
    .record(z.string(), z.json())
    .superRefine((parameters, context) => {
      for (const name of ORDERED.filter((each) => (parameters[each] ?? null) !== null))
        context.addIssue({
          code: 'custom',
          path: [name],
          message: 'is what an order says, at the price that it names',
        });
    })
    .optional()
    .describe('Further fields of the service’s request, sent as they are.'),
  chargesOnRejection: z
    .enum(['yes', 'no', 'unknown'])
    .optional()
    .describe('Whether the service charges for a clip that its content rules stop. Default: unknown.'),
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

/** Model as a catalog file has it. */
export type FileModel = Frozen<Omit<Entry, 'parameters'>> & { readonly parameters?: Readonly<Record<string, unknown>> };
type Entry = z.output<typeof modelSchema>;

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
 * @throws InvalidFileError with every problem, each with its path.
 * @see docs/configuration.md "Model catalog"
 */
export function parseCatalog(json: unknown): Catalog {
  const parsed = parseFile(catalogSchema, json, NAMES);
  const models = parsed.models.map(asModel);
  const dear = models.flatMap(dearnessOf);
  if (dear.length > 0) throw new InvalidFileError(HOLDS, dear);
  const chosen = models[parsed.models.findIndex((model) => model.default === true)] ?? models[0];
  if (chosen === undefined) throw new InvalidFileError(HOLDS, ['models: must hold at least one model']);
  return { models, defaultModel: chosen };
}

/**
 * Reads and validates the catalog file.
 * @throws InvalidFileError also where the file cannot be read or is not valid JSON.
 */
export async function readCatalog(path: string): Promise<Catalog> {
  let json: unknown;
  try {
    json = await readJson(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const what = error instanceof SyntaxError ? `is no valid JSON: ${reason}` : reason;
    throw new InvalidFileError(HOLDS, [`${path}: ${what}`], error);
  }
  return parseCatalog(json);
}

function asModel({ promptMaxLength = Number.POSITIVE_INFINITY, default: _isDefault, ...model }: Entry): Model {
  const given = Object.entries(model).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), promptMaxLength } as unknown as Model;
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

/** Returns a fingerprint of all prices: 8 hexadecimal digits, which change with any of them. */
export function priceFingerprint({ models }: Pick<Catalog, 'models'>): string {
  const prices = models.map(({ name, billing, price, currency }) => [name, billing, price, currency]);
  return hash('sha256', JSON.stringify(prices), 'hex').slice(0, 8);
}
