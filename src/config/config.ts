import { z } from 'zod';
import { completionsUrl } from '../enhancer/address.ts';
import type { EnhancerConfig } from '../enhancer/enhancer.ts';
import { MAX_DAYS, type Retention } from '../library/retention-periods.ts';
import type { MediaConfig } from '../storage/open.ts';
import { isStoreUrl, sqlitePath } from '../store/address.ts';
import type { Micros } from '../tasks/amount.ts';
import type { Limits } from '../tasks/limits.ts';
import type { Refunds } from '../tasks/money.ts';
import { parseBaseUrl } from '../videos/addresses.ts';
import { TOKEN } from '../videos/exchange.ts';
import { type AccessConfig, accessOf, teamListOf } from './access.ts';
import { type Admin, adminListOf, adminsOf } from './admins.ts';
import { budgetList, budgetsIn } from './budget.ts';
import { mediaOf, mediaProblems, mediaVariables } from './media.ts';
import type { Given, PlatformConfig } from './platform-config.ts';
import { exposureProblems, HARD_TO_GUESS, isHardToGuess, tokenProblems } from './tokens.ts';
import { dataSize, host, logLevel, optional, text, wholeNumber } from './variables.ts';

/** The complete configuration, validated and with defaults filled in. Variables are listed in the README's table. */
export interface Config {
  /** Absent: the embedded sandbox. */
  readonly videoService?: { readonly baseUrl: string; readonly token: string };
  /** Improves prompts on request; absent: there is no button **Improve**. */
  readonly enhancer?: EnhancerConfig;
  /** Path of the model catalog; absent: the sandbox's own. */
  readonly modelCatalog?: string;
  readonly storeUrl: string;
  /** Folder of clips and other files. */
  readonly dataDir: string;
  readonly media: MediaConfig;
  /** Settings of the platforms that are turned on, by name; the playground has its own below. */
  readonly platforms: Readonly<Record<string, unknown>>;
  /** Users allowed on the platforms. */
  readonly access: AccessConfig;
  /** Persons who administer every team of their platform. */
  readonly admins: readonly Admin[];
  readonly http: { readonly host: string; readonly port: number };
  /** Public URL of the HTTP server, and the key of its signed links. */
  readonly links?: { readonly publicUrl: string; readonly secret: string };
  readonly poll: {
    readonly firstMs: number;
    readonly minMs: number;
    readonly maxMs: number;
    readonly deadlineMs: number;
  };
  readonly createTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** Rate limits on calls to the video service, shared by all replicas; 0: no limit. */
  readonly maxRate: { readonly createsPerMinute: number; readonly pollsPerSecond: number };
  readonly maxConcurrent: { readonly creates: number; readonly polls: number; readonly deliveries: number };
  readonly limits: Limits;
  /** Days that clips and prompts are kept; 0: for good. */
  readonly retention: Retention;
  /** Limit of the data folder in bytes; 0: none, `null`: 80 % of its disk. */
  readonly maxDataBytes: number | null;
  /** Time at which a failed task counts as refunded. */
  readonly refunds: Refunds;
  /** Most that all teams together may spend in a month, in millionths by currency; empty: no limit. */
  readonly budgetPerMonth: Readonly<Record<string, Micros>>;
  readonly progressEditMs: number;
  readonly playground: { readonly isOn: boolean; readonly accessToken?: string };
  /** Password of the queue dashboard; absent: there is no dashboard. */
  readonly boardToken?: string;
  readonly logLevel: z.output<typeof logLevel>;
}

/** An invalid configuration: lists every invalid variable with its value and the allowed values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

const MAX_MS = 2_147_483_647;
const milliseconds = (least: number, standard: number) => wholeNumber(least, MAX_MS).default(standard);

function isBaseUrl(text: string): boolean {
  try {
    parseBaseUrl(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether a text is an address of chat completions that {@link completionsUrl} accepts. */
function isEnhancerUrl(text: string): boolean {
  try {
    completionsUrl(text);
    return true;
  } catch {
    return false;
  }
}

const Environment = z.object({
  VIDEO_API_BASE_URL: z
    .string()
    .refine(isBaseUrl, 'an https:// address (http:// for loopback hosts alone) without /v1, password, ? and #')
    .optional(),
  VIDEO_API_TOKEN: text.regex(TOKEN, 'a token without blanks').optional(),
  ENHANCER_URL: z
    .string()
    .refine(isEnhancerUrl, 'an https:// address (http:// for loopback hosts alone) without password, ? and #')
    .optional(),
  ENHANCER_TOKEN: text.regex(TOKEN, 'a token without blanks').optional(),
  ENHANCER_MODEL: text.optional(),
  MODEL_CATALOG: text.optional(),
  STORE_URL: z
    .string()
    .refine(isStoreUrl, 'sqlite:PATH, redis://HOST:PORT or rediss://HOST:PORT')
    .default('sqlite:data/dailies.db'),
  ALLOW_TEAMS: z.string().optional(),
  ADMINS: z.string().optional(),
  HOST: host,
  PORT: wholeNumber(0, 65_535).default(3_000),
  PUBLIC_URL: z.string().refine(isWebAddress, 'an http:// or https:// address').optional(),
  LINK_SECRET: z.string().min(16, 'at least 16 characters').optional(),
  POLL_FIRST_MS: wholeNumber(0, MAX_MS).optional(),
  POLL_MIN_MS: wholeNumber(10, MAX_MS).optional(),
  POLL_MAX_MS: wholeNumber(10, MAX_MS).optional(),
  TASK_DEADLINE_MS: milliseconds(1, 1_800_000),
  CREATE_TIMEOUT_MS: milliseconds(1, 60_000),
  REQUEST_TIMEOUT_MS: milliseconds(1, 30_000),
  MAX_CONCURRENT_CREATES: wholeNumber(1, 10_000).default(8),
  MAX_CONCURRENT_POLLS: wholeNumber(1, 10_000).default(32),
  MAX_CONCURRENT_DELIVERIES: wholeNumber(1, 10_000).default(4),
  MAX_CREATES_PER_MINUTE: wholeNumber(0, 1_000_000).default(0),
  MAX_POLLS_PER_SECOND: wholeNumber(0, 1_000_000).default(0),
  MAX_OPEN_PER_PERSON: wholeNumber(0, 10_000).default(5),
  MAX_OPEN_PER_CHANNEL: wholeNumber(0, 10_000).default(20),
  MAX_PER_MINUTE_PER_PERSON: wholeNumber(0, 10_000).default(10),
  MAX_PER_MINUTE_PER_CHANNEL: wholeNumber(0, 10_000).default(30),
  KEEP_CLIPS_DAYS: wholeNumber(0, MAX_DAYS).default(0),
  KEEP_PROMPTS_DAYS: wholeNumber(0, MAX_DAYS).default(0),
  MAX_DATA_BYTES: dataSize.optional(),
  REFUNDS: z.enum(['assumed', 'by_statement'], 'assumed or by_statement').default('assumed'),
  BUDGET_PER_MONTH: budgetList.optional(),
  PROGRESS_EDIT_MS: milliseconds(0, 3_000),
  PLAYGROUND: z.enum(['on', 'off'], 'on or off').optional(),
  PLAYGROUND_TOKEN: z.string().refine(isHardToGuess, HARD_TO_GUESS).optional(),
  BOARD_TOKEN: z.string().refine(isHardToGuess, HARD_TO_GUESS).optional(),
  LOG_LEVEL: logLevel,
  FFMPEG_PATH: text.optional(),
  ...mediaVariables,
});

type Environment = z.output<typeof Environment>;

const PollBounds = Environment.pick({ POLL_MIN_MS: true, POLL_MAX_MS: true });

/** Names of the variables whose values are never printed in an error. */
const SECRETS = /TOKEN|SECRET|STORE_URL|ACCESS_KEY/;

/** Variables that only `npm run sandbox` reads. */
const SANDBOX_VARIABLES = ['SANDBOX_PORT', 'SANDBOX_TOKENS', 'SANDBOX_DATA'] as const;

/** Returns the names of all variables that Dailies reads. */
export function knownVariables(platforms: readonly PlatformConfig[]): readonly string[] {
  const own = Object.keys(Environment.shape);
  return [...own, ...platforms.flatMap(({ variables }) => Object.keys(variables.shape)), ...SANDBOX_VARIABLES];
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/**
 * Reads the configuration from the environment. An empty variable counts as not set.
 * @param platforms configuration of all chat platforms besides the playground.
 * @throws ConfigError listing every invalid variable at once.
 */
export function readConfig(env: Given, platforms: readonly PlatformConfig[]): Config {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''),
  );
  const parsed = Environment.extend({
    ALLOW_TEAMS: teamListOf(platforms).optional(),
    ADMINS: adminListOf(platforms).optional(),
  }).safeParse(given);
  const others = platforms.map(({ variables }) => variables.safeParse(given));
  const issues = [parsed, ...others].flatMap(({ error }) => error?.issues ?? []);
  const problems = issues.map((issue) => describeIssue(issue, given));
  // Combinations are checked even if single values are invalid, so that all problems are listed at once.
  problems.push(...contradictions(given, platforms));
  const bounds = PollBounds.safeParse(given);
  if (bounds.success) problems.push(...pollContradictions(bounds.data));
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  const enabled = platforms.filter(({ isOn }) => isOn(given));
  return {
    ...configOf(parsed.data, isPlaygroundOn(given, platforms)),
    platforms: Object.fromEntries(enabled.map(({ name, settings }) => [name, settings(given)])),
    access: accessOf(
      parsed.data.ALLOW_TEAMS,
      platforms.flatMap(({ admits }) => admits(given)),
    ),
  };
}

function describeIssue(issue: z.core.$ZodIssue, given: Given): string {
  const name = String(issue.path[0]);
  // A URL may contain a password, too, or a key in its query.
  const isSecret = SECRETS.test(name) || /:\/\/.*[@?]/s.test(given[name] ?? '');
  const value = isSecret ? 'what was given (not repeated here)' : JSON.stringify(given[name]);
  const allowed = issue.code === 'too_small' ? `at least ${issue.minimum} characters` : issue.message;
  return `${name}: ${value} is not allowed; it takes ${allowed}`;
}

/** Returns a sentence for each variable that is missing or conflicts with another one. */
function contradictions(env: Given, platforms: readonly PlatformConfig[]): string[] {
  const has = (name: string): boolean => env[name] !== undefined;
  const needs = (name: string, other: string, why: string): string[] =>
    has(name) && !has(other) ? [`${other}: not set; ${why}`] : [];
  return [
    ...needs('VIDEO_API_BASE_URL', 'VIDEO_API_TOKEN', 'VIDEO_API_BASE_URL needs the token of that service'),
    ...needs('VIDEO_API_TOKEN', 'VIDEO_API_BASE_URL', 'VIDEO_API_TOKEN needs the address of the service it belongs to'),
    ...needs('ENHANCER_TOKEN', 'ENHANCER_URL', 'ENHANCER_TOKEN needs the address of the service it belongs to'),
    ...needs('ENHANCER_MODEL', 'ENHANCER_URL', 'ENHANCER_MODEL needs the address of the service that has the model'),
    ...needs('PUBLIC_URL', 'LINK_SECRET', 'PUBLIC_URL needs a key for signed links; any 32 random characters'),
    ...platforms.flatMap((platform) => platform.contradictions(env)),
    ...boardContradictions(env),
    ...mediaProblems(env),
    ...platforms.flatMap(({ tokens }) => tokenProblems(env, tokens)),
    ...(isPlaygroundOn(env, platforms) ? exposureProblems(env) : []),
  ];
}

function boardContradictions(env: Given): string[] {
  if (env['BOARD_TOKEN'] === undefined || /^rediss?:/.test(env['STORE_URL'] ?? '')) return [];
  return ['BOARD_TOKEN: the board shows queues in Redis; remove BOARD_TOKEN, or set STORE_URL=redis://…'];
}

/** Returns whether the playground is on. Default: on where no other platform is. */
function isPlaygroundOn(env: Given, platforms: readonly PlatformConfig[]): boolean {
  if (env['PLAYGROUND'] !== undefined) return env['PLAYGROUND'] === 'on';
  return !platforms.some(({ isOn }) => isOn(env));
}

function configOf(env: Environment, isPlayground: boolean): Omit<Config, 'platforms' | 'access'> {
  const { VIDEO_API_BASE_URL: baseUrl, VIDEO_API_TOKEN: token, PUBLIC_URL: publicUrl, LINK_SECRET: linkSecret } = env;
  return {
    ...(baseUrl === undefined || token === undefined ? {} : { videoService: { baseUrl: trimSlash(baseUrl), token } }),
    ...enhancerOf(env),
    ...optional('modelCatalog', env.MODEL_CATALOG),
    storeUrl: env.STORE_URL,
    dataDir: dataDirOf(env.STORE_URL),
    media: mediaOf(env),
    admins: adminsOf(env.ADMINS),
    http: { host: env.HOST, port: env.PORT },
    ...(publicUrl === undefined || linkSecret === undefined
      ? {}
      : { links: { publicUrl: trimSlash(publicUrl), secret: linkSecret } }),
    poll: pollOf(env),
    createTimeoutMs: env.CREATE_TIMEOUT_MS,
    requestTimeoutMs: env.REQUEST_TIMEOUT_MS,
    maxRate: { createsPerMinute: env.MAX_CREATES_PER_MINUTE, pollsPerSecond: env.MAX_POLLS_PER_SECOND },
    maxConcurrent: {
      creates: env.MAX_CONCURRENT_CREATES,
      polls: env.MAX_CONCURRENT_POLLS,
      deliveries: env.MAX_CONCURRENT_DELIVERIES,
    },
    limits: {
      person: { open: env.MAX_OPEN_PER_PERSON, perMinute: env.MAX_PER_MINUTE_PER_PERSON },
      channel: { open: env.MAX_OPEN_PER_CHANNEL, perMinute: env.MAX_PER_MINUTE_PER_CHANNEL },
    },
    retention: { clipsDays: env.KEEP_CLIPS_DAYS, promptsDays: env.KEEP_PROMPTS_DAYS },
    maxDataBytes: env.MAX_DATA_BYTES ?? null,
    refunds: env.REFUNDS,
    budgetPerMonth: budgetsIn(env.BUDGET_PER_MONTH),
    progressEditMs: env.PROGRESS_EDIT_MS,
    playground: { isOn: isPlayground, ...optional('accessToken', env.PLAYGROUND_TOKEN) },
    ...optional('boardToken', env.BOARD_TOKEN),
    logLevel: env.LOG_LEVEL,
  };
}

/** A small model of OpenAI's own; another service needs the name of its own. */
const ENHANCER_MODEL = 'gpt-4o-mini';

function enhancerOf({
  ENHANCER_URL: url,
  ENHANCER_TOKEN: token,
  ENHANCER_MODEL: model,
}: Environment): Pick<Config, 'enhancer'> {
  if (url === undefined) return {};
  return { enhancer: { url, ...optional('token', token), model: model ?? ENHANCER_MODEL } };
}

const POLL_MS = 5_000;
/** The embedded sandbox runs in this process: polling it is free, and a clip that takes 10 s shows its progress. */
const SANDBOX_POLL_MS = 1_000;
const POLL_MAX_MS = 30_000;

/** Returns the polling intervals. Where only one bound is given, the default of the other one is adjusted to it. */
function pollOf(env: Environment): Config['poll'] {
  const standardMs = env.VIDEO_API_BASE_URL === undefined ? SANDBOX_POLL_MS : POLL_MS;
  return {
    firstMs: env.POLL_FIRST_MS ?? standardMs,
    minMs: env.POLL_MIN_MS ?? Math.min(standardMs, env.POLL_MAX_MS ?? POLL_MAX_MS),
    maxMs: env.POLL_MAX_MS ?? Math.max(POLL_MAX_MS, env.POLL_MIN_MS ?? standardMs),
    deadlineMs: env.TASK_DEADLINE_MS,
  };
}

function pollContradictions({ POLL_MIN_MS: minMs, POLL_MAX_MS: maxMs }: z.output<typeof PollBounds>): string[] {
  if (minMs === undefined || maxMs === undefined || maxMs >= minMs) return [];
  return [`POLL_MAX_MS: ${maxMs} is not allowed; it takes at least POLL_MIN_MS (${minMs})`];
}

function trimSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

/** Returns the folder of clips and all other files of a store: that of the SQLite file; with Redis, `data`. */
export function dataDirOf(storeUrl: string): string {
  const file = sqlitePath(storeUrl);
  if (file === null) return 'data';
  const slash = file.lastIndexOf('/');
  return slash < 0 ? '.' : file.slice(0, slash) || '/';
}
