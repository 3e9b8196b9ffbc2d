import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { DailiesError } from '../errors.ts';
import { parseBaseUrl } from './addresses.ts';
import { DIALECTS } from './dialects/registry.ts';
import { TOKEN } from './exchange.ts';
import { type Frozen, InvalidFileError, parseFile, readJson } from './json-file.ts';

/** A video service, with the key that was read for it. */
export interface ServiceConfig {
  /** Name by which models of the catalog name it. Absent: the one of the environment, or the embedded one. */
  readonly name?: string;
  /** Name of its dialect, out of {@link DIALECTS}. Default: `v1-videos`. */
  readonly dialect?: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Its key, for the origin of {@link baseUrl} alone. */
  readonly token: string;
  readonly limits?: ServiceLimits;
  /** It reads the files that this bot keeps by their addresses, as the embedded one does. */
  readonly takesKept?: true;
}

/**
 * Limits on the calls of one service; those that are absent are the ones of the environment. Those on rates count over all
 * replicas, and 0 is no limit; those on calls in flight count per process.
 */
type ServiceLimits = NonNullable<Frozen<z.output<typeof serviceSchema>>['limits']>;

const keySchema = z
  .union([
    z.strictObject({ env: z.string().min(1).describe('Name of the variable that holds it.') }),
    z.strictObject({ file: z.string().min(1).describe('Path of the file that holds it, such as a mounted secret.') }),
  ])
  .describe('Where the key is.');

const limit = z.int().min(0).max(1_000_000).optional();
const inFlight = z.int().min(1).max(10_000).optional();

const serviceSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must have 1 to 32 small letters, digits and hyphens')
    .describe('Name by which models of the catalog name it.'),
  dialect: z.enum(Object.keys(DIALECTS) as [string, ...string[]]).describe('What it speaks.'),
  base: z.string().optional().describe('Base URL, without /v1. Default: that of the dialect.'),
  key: keySchema,
  limits: z
    .strictObject({
      createsPerMinute: limit.describe('As MAX_CREATES_PER_MINUTE.'),
      pollsPerSecond: limit.describe('As MAX_POLLS_PER_SECOND.'),
      creates: inFlight.describe('As MAX_CONCURRENT_CREATES.'),
      polls: inFlight.describe('As MAX_CONCURRENT_POLLS.'),
    })
    .optional()
    .describe('Default: those of the environment, for each service.'),
});

const servicesSchema = z
  .strictObject({
    $schema: z.string().optional().describe('Where this schema is, for editors.'),
    services: z.array(serviceSchema).min(1, 'must name at least one service'),
  })
  .superRefine(({ services }, context) => {
    for (const [index, { name }] of services.entries()) {
      if (services.findIndex((other) => other.name === name) === index) continue;
      context.addIssue({
        code: 'custom',
        path: ['services', index, 'name'],
        message: 'is the name of another service',
      });
    }
  });

const HOLDS = 'services';
const NAMES = {
  holds: HOLDS,
  root: HOLDS,
  unionOf: '{"env": "VARIABLE"} or {"file": "/path"}',
  secret: 'key',
} as const;

/** Returns the JSON schema of a services file, for editors. `config/services.schema.json` is a copy. */
export function servicesJsonSchema(): object {
  return { ...z.toJSONSchema(servicesSchema, { io: 'input' }), title: 'Video services of Dailies' };
}

/** Options of reading a services file. */
interface ReadOptions {
  /** `false`: a key that is missing, or is none, is an empty one. Default: it is a problem. */
  readonly needsKeys?: boolean;
}

/**
 * Validates a parsed services file, and reads the keys.
 * @param env the variables that hold keys
 * @throws InvalidFileError with every problem, each with its path; never with a key
 */
export function parseServices(
  json: unknown,
  env: Readonly<Record<string, string | undefined>>,
  { needsKeys = true }: ReadOptions = {},
): readonly ServiceConfig[] {
  const parsed = parseFile(servicesSchema, json, NAMES);
  const problems: string[] = [];
  const services = parsed.services.map(({ name, dialect, base, key, limits }, index): ServiceConfig => {
    const at = `services[${index}]`;
    const baseUrl = baseOf(dialect, base, (problem) => problems.push(`${at}.base: ${problem}`));
    const token = keyOf(key, env, (field, problem) => {
      if (needsKeys) problems.push(`${at}.key.${field}: ${problem}`);
    });
    const given = Object.entries(limits ?? {}).filter(([, value]) => value !== undefined);
    return { name, dialect, baseUrl, token, limits: Object.fromEntries(given) };
  });
  if (problems.length > 0) throw new InvalidFileError(HOLDS, problems);
  return services;
}

/**
 * Reads and validates the services file, with the keys that it names.
 * @throws InvalidFileError also where the file cannot be read or is not valid JSON.
 */
export async function readServices(
  path: string,
  env: Readonly<Record<string, string | undefined>>,
  options?: ReadOptions,
): Promise<readonly ServiceConfig[]> {
  let json: unknown;
  try {
    json = await readJson(path);
  } catch (error) {
    // The message of the parser quotes the file, in which someone may have written a key.
    if (error instanceof SyntaxError) throw new InvalidFileError(HOLDS, [`${path}: is no valid JSON${placeIn(error)}`]);
    throw new InvalidFileError(HOLDS, [`${path}: ${error instanceof Error ? error.message : String(error)}`], error);
  }
  return parseServices(json, env, options);
}

/** Returns the place of a syntax error, as far as its message names it. */
function placeIn({ message }: SyntaxError): string {
  const [, place] = /\b(line \d+ column \d+)\b/.exec(message) ?? [];
  return place === undefined ? '' : ` (${place})`;
}

function baseOf(dialect: string, given: string | undefined, refuse: (problem: string) => void): string {
  const base = given ?? DIALECTS[dialect]?.base;
  if (base === undefined) {
    refuse(`is missing; ${dialect} has no address of its own`);
    return '';
  }
  try {
    const url = parseBaseUrl(base);
    return (url.origin + url.pathname).replace(/\/$/, '');
  } catch (error) {
    refuse(error instanceof DailiesError ? error.message.replace('the video service’s address ', '') : String(error));
    return '';
  }
}

function keyOf(
  key: z.output<typeof keySchema>,
  env: Readonly<Record<string, string | undefined>>,
  refuse: (field: 'env' | 'file', problem: string) => void,
): string {
  const field = 'env' in key ? 'env' : 'file';
  const token = 'env' in key ? env[key.env]?.trim() : contentOf(key.file);
  if (token === undefined || token === '') {
    refuse(field, missingKey(key));
    return '';
  }
  if (TOKEN.test(token)) return token;
  refuse(field, 'holds something else than a key: it has blanks or control characters');
  return '';
}

/** Says that a key was not found. Anything but a name or a path is not repeated: it may be the key itself. */
function missingKey(key: z.output<typeof keySchema>): string {
  if ('env' in key) return `${/^[A-Z][A-Z\d_]*$/.test(key.env) ? key.env : 'this variable'} is not set`;
  return `${/^\.{0,2}\//.test(key.file) ? key.file : 'this file'} cannot be read, or is empty`;
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
