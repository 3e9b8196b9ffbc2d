import { z } from 'zod';
import { MAX_DAYS, type Retention } from '../clips/index.ts';
import { isStoreUrl, sqlitePath } from '../engine/index.ts';
import { completionsUrl, type EnhancerConfig } from '../enhancer/index.ts';
import { type BucketVariables, type MediaConfig, readBucketAddress } from '../storage/index.ts';
import { type Limits, type Micros, microsOf, type Refunds } from '../tasks/index.ts';
import { type AccessConfig, type Admin, adminListOf, splitList, teamListOf } from '../teams/index.ts';
import { dataSize, host, logLevel, optional, readBy, text, wholeNumber } from '../variables.ts';
import { isLoopbackHost, parseBaseUrl, TOKEN } from '../videos/index.ts';
import type { Given, PlatformConfig, TokenMistake } from './platform-config.ts';

/** The complete configuration, validated and with defaults filled in. `docs/configuration.md` lists the variables. */
export interface Config {
  /** The service of the environment. Absent: there is none; without {@link servicesFile}, the embedded sandbox. */
  readonly videoService?: { readonly baseUrl: string; readonly token: string };
  /** Path of the file that names further services. */
  readonly servicesFile?: string;
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

/** Returns a check whether a text is one that `parse` accepts. */
const accepts =
  (parse: (text: string) => unknown) =>
  (text: string): boolean => {
    try {
      parse(text);
      return true;
    } catch {
      return false;
    }
  };

/** Variable that takes the bearer token of a service. */
const bearerToken = text.regex(TOKEN, 'a token without blanks');

/** A small model of OpenAI's own; another service needs the name of its own. */
const ENHANCER_MODEL = 'gpt-4o-mini';

const POLL_MS = 5_000;
/** The embedded sandbox runs in this process: polling it is free, and a clip that takes 10 s shows its progress. */
const SANDBOX_POLL_MS = 1_000;
const POLL_MAX_MS = 30_000;
const POLL_UNSET = `\`${POLL_MS}\`; with the embedded sandbox \`${SANDBOX_POLL_MS}\``;

/** Amount of at most nine digits and six decimals, with its currency (ISO 4217) after it. */
const AMOUNT = /^(?<amount>\d{1,9}(?:\.\d{1,6})?)\s*(?<currency>[A-Z]{3})$/;

/** Variable that takes amounts, one for each currency; in millionths by currency. */
const budgetList = readBy((text): Readonly<Record<string, Micros>> | null => {
  const amounts = splitList(text).map((one): readonly [string, Micros] | null => {
    const { amount, currency } = AMOUNT.exec(one)?.groups ?? {};
    return amount === undefined || currency === undefined ? null : [currency, microsOf(amount)];
  });
  const known = amounts.filter((one) => one !== null);
  const byCurrency = new Map(known);
  return byCurrency.size > 0 && byCurrency.size === amounts.length ? Object.fromEntries(known) : null;
}, 'an amount for each currency, such as 500 USD or 500 USD, 200 EUR');

const MIN_CHARACTERS = 16;
const MIN_DISTINCT = 5;

/** Requirement of {@link isHardToGuess}, for messages. */
const HARD_TO_GUESS = `at least ${MIN_CHARACTERS} characters, ${MIN_DISTINCT} of them different, such as \`openssl rand -hex 16\` prints`;

/** Returns whether an access token is long and varied enough not to be guessed easily. */
function isHardToGuess(token: string): boolean {
  return token.length >= MIN_CHARACTERS && new Set(token).size >= MIN_DISTINCT;
}

const MAX_BYTES = Number.MAX_SAFE_INTEGER;
/** Least size of the local copies: a few large clips, each of which is needed as a file while it is delivered. */
const MIN_LOCAL_BYTES = 64 * 1024 ** 2;
const LOCAL_BYTES = 4 * 1024 ** 3;

const A_ROLE = 'a role of the machine, the pod or the container';

/** Variables about the place where clips are kept. */
const mediaVariables = {
  MEDIA_URL: z
    .string()
    .optional()
    .meta({
      description:
        'keeps clips in an S3-compatible bucket, which browsers play them from: `s3://BUCKET/PREFIX`, with ' +
        '`?endpoint=https://…` (a server other than AWS), `&public_endpoint=https://…` (where browsers reach it elsewhere) ' +
        'and `&region=…`. See [operations](operations.md#clips-in-a-bucket)',
      unset: 'the folder `clips` in `data/`',
    }),
  MEDIA_CACHE_BYTES: wholeNumber(MIN_LOCAL_BYTES, MAX_BYTES)
    .default(LOCAL_BYTES)
    .describe(
      'with `MEDIA_URL`: size above which local copies are deleted, the one used longest ago first; all of them count ' +
        'towards the limit of the data folder, where they go first',
    ),
  AWS_ACCESS_KEY_ID: text.optional().meta({ description: 'with `MEDIA_URL`: id of the key', unset: A_ROLE }),
  AWS_SECRET_ACCESS_KEY: text.optional().meta({ description: 'with `MEDIA_URL`: the key', unset: A_ROLE }),
  AWS_SESSION_TOKEN: text.optional().meta({ description: 'with `MEDIA_URL`: token of a temporary key', unset: 'none' }),
  AWS_REGION: text.optional().meta({ description: 'with `MEDIA_URL`: region of the bucket', unset: 'required on AWS' }),
  AWS_DEFAULT_REGION: text.optional().meta({ description: 'the same, where `AWS_REGION` is not set', unset: 'none' }),
  AWS_ENDPOINT_URL_S3: text.optional().meta({ description: 'with `MEDIA_URL`: as its `endpoint`', unset: 'AWS' }),
  AWS_ENDPOINT_URL: text
    .optional()
    .meta({ description: 'the same, where `AWS_ENDPOINT_URL_S3` is not set', unset: 'AWS' }),
};

type MediaVariables = BucketVariables & { readonly MEDIA_URL?: string | undefined };

/** Returns a sentence for each problem of the bucket. Without `MEDIA_URL`, the variables of AWS have no effect. */
function mediaProblems(env: MediaVariables): readonly string[] {
  return env.MEDIA_URL === undefined ? [] : readBucketAddress(env.MEDIA_URL, env).problems;
}

/** Returns where clips are kept, of variables without a problem. */
function mediaOf(env: MediaVariables & { readonly MEDIA_CACHE_BYTES: number }): MediaConfig {
  const { MEDIA_URL: url, MEDIA_CACHE_BYTES: maxLocalBytes } = env;
  const address = url === undefined ? null : readBucketAddress(url, env).address;
  return address === null ? { maxLocalBytes } : { bucket: address, maxLocalBytes };
}

/**
 * The variables: their metadata are the rows of `docs/configuration.md`, `unset` being what applies without the variable
 * where the schema has no default.
 */
const Environment = z.object({
  VIDEO_API_BASE_URL: z
    .string()
    .refine(
      accepts(parseBaseUrl),
      'an https:// address (http:// for loopback hosts alone) without /v1, password, ? and #',
    )
    .optional()
    .meta({
      description: 'base of the video service, without `/v1`; HTTPS, or `http://` on loopback',
      unset: 'the embedded sandbox',
    }),
  VIDEO_API_TOKEN: bearerToken
    .optional()
    .meta({ description: 'bearer token of the video service', unset: 'required with the base URL' }),
  SERVICES: text.optional().meta({
    description:
      'path of a file that names video services, each with its dialect, address, key and limits ([services](services.md)); ' +
      'read again on SIGHUP, like the catalog',
    unset: 'the service of `VIDEO_API_BASE_URL` alone',
  }),
  MODEL_CATALOG: text.optional().meta({
    description:
      'path of the [model catalog](#model-catalog); read again on SIGHUP (on a terminal, SIGHUP stops the bot)',
    unset: 'the sandbox’s own',
  }),
  ENHANCER_URL: z
    .string()
    .refine(accepts(completionsUrl), 'an https:// address (http:// for loopback hosts alone) without password, ? and #')
    .optional()
    .meta({
      description:
        'turns on **Improve**: base of an OpenAI-compatible service (`https://api.openai.com/v1`), or its whole ' +
        '`…/chat/completions`; HTTPS, or `http://` on loopback. Each press sends it that prompt',
      unset: 'off',
    }),
  ENHANCER_TOKEN: bearerToken.optional().meta({ description: 'with `ENHANCER_URL`: bearer token', unset: 'none' }),
  ENHANCER_MODEL: text
    .optional()
    .meta({ description: 'with `ENHANCER_URL`: the model', unset: `\`${ENHANCER_MODEL}\`` }),
  STORE_URL: z
    .string()
    .refine(isStoreUrl, 'sqlite:PATH, redis://HOST:PORT or rediss://HOST:PORT')
    .default('sqlite:data/dailies.db')
    .describe('`sqlite:PATH`, or `redis://…` / `rediss://…`'),
  ...mediaVariables,
  BOARD_TOKEN: z.string().refine(isHardToGuess, HARD_TO_GUESS).optional().meta({
    description: 'with Redis: turns on `/board`, which shows the queues; its password, at least 16 characters',
    unset: 'off',
  }),
  ALLOW_TEAMS: z.string().optional().meta({
    description: 'the Slack workspaces and Discord servers that may use the bot (`slack:T1,discord:123`); `*`: all',
    unset: 'Slack’s single workspace; the Discord servers of the first start; required with `SLACK_CLIENT_ID`',
  }),
  ADMINS: z
    .string()
    .optional()
    .meta({
      description:
        'people who administer every team of their platform (`slack:U1,discord:2,playground:ada`), besides Discord ' +
        'members with *Manage Server*, Slack admins and owners, and the playground’s `operator`',
      unset: 'none',
    }),
  HOST: host.describe('host name or address on which the bot’s HTTP server listens'),
  PORT: wholeNumber(0, 65_535).default(3_000).describe('port of the bot’s HTTP server'),
  PUBLIC_URL: z.string().refine(isWebAddress, 'an http:// or https:// address').optional().meta({
    description:
      'public address of that server; needed for signed links, and [for some reference files](services.md#reference-images)',
    unset: 'off',
  }),
  LINK_SECRET: z
    .string()
    .min(16, 'at least 16 characters')
    .optional()
    .meta({ description: 'key of the signed links, at least 16 characters', unset: 'required with `PUBLIC_URL`' }),
  PLAYGROUND: z.enum(['on', 'off'], 'on or off').optional().meta({
    description: '`on` or `off`: the chat page at `/`',
    unset: '`on` only when neither Discord nor Slack is configured',
  }),
  PLAYGROUND_TOKEN: z.string().refine(isHardToGuess, HARD_TO_GUESS).optional().meta({
    description: 'access token of the chat page, at least 16 characters, 5 of them different',
    unset: 'required when the page is on and `HOST` or `PUBLIC_URL` leads beyond loopback',
  }),
  POLL_FIRST_MS: wholeNumber(0, MAX_MS)
    .optional()
    .meta({ description: 'delay before the first poll', unset: POLL_UNSET }),
  POLL_MIN_MS: wholeNumber(10, MAX_MS)
    .optional()
    .meta({ description: 'lower bound of the adaptive interval between polls', unset: POLL_UNSET }),
  POLL_MAX_MS: wholeNumber(10, MAX_MS)
    .optional()
    .meta({ description: 'upper bound of that interval', unset: `\`${POLL_MAX_MS}\`` }),
  TASK_DEADLINE_MS: milliseconds(1, 1_800_000).describe(
    'after this a running task is reported as overdue and polled at the slowest rate',
  ),
  CREATE_TIMEOUT_MS: milliseconds(1, 60_000).describe('timeout of a create'),
  REQUEST_TIMEOUT_MS: milliseconds(1, 30_000).describe('timeout of any other call to the service'),
  PROGRESS_EDIT_MS: milliseconds(0, 3_000).describe('minimum interval between two progress edits of one message'),
  MAX_CONCURRENT_CREATES: wholeNumber(1, 10_000).default(8).describe('most creates in flight, per process'),
  MAX_CONCURRENT_POLLS: wholeNumber(1, 10_000).default(32).describe('most polls in flight, per process'),
  MAX_CONCURRENT_DELIVERIES: wholeNumber(1, 10_000)
    .default(4)
    .describe('most deliveries in flight, per process; the bot downloads up to twice as many clips at once'),
  MAX_CREATES_PER_MINUTE: wholeNumber(0, 1_000_000)
    .default(0)
    .describe('rate limit of creates, across all replicas; `0`: no limit but the service’s own'),
  MAX_POLLS_PER_SECOND: wholeNumber(0, 1_000_000).default(0).describe('rate limit of polls, likewise'),
  MAX_OPEN_PER_PERSON: wholeNumber(0, 10_000)
    .default(5)
    .describe(
      'most orders of a person in progress, undecided ones included; clips ordered together count as one; `0`: no limit',
    ),
  MAX_OPEN_PER_CHANNEL: wholeNumber(0, 10_000).default(20).describe('most orders in progress in a channel, likewise'),
  MAX_PER_MINUTE_PER_PERSON: wholeNumber(0, 10_000)
    .default(10)
    .describe('most orders of a person within a minute; `0`: no limit'),
  MAX_PER_MINUTE_PER_CHANNEL: wholeNumber(0, 10_000).default(30).describe('most orders within a minute in a channel'),
  REFUNDS: z
    .enum(['assumed', 'by_statement'], 'assumed or by_statement')
    .default('assumed')
    .describe(
      '`assumed`: a failed clip counts as refunded at once; `by_statement`: it counts as used until a statement of the ' +
        'service shows the refund',
    ),
  KEEP_CLIPS_DAYS: wholeNumber(0, MAX_DAYS)
    .default(0)
    .describe('days after which the bot removes its copy of a clip; `0`: kept. See [retention](#retention)'),
  KEEP_PROMPTS_DAYS: wholeNumber(0, MAX_DAYS)
    .default(0)
    .describe('days after which it removes a clip with its prompt; `0`: kept. See [retention](#retention)'),
  MAX_DATA_BYTES: dataSize.optional().meta({
    description:
      'most that the data folder may hold, such as `200GB` (1 GB = 1024 MB); `0`: no limit. See ' +
      '[the data folder](#the-data-folder)',
    unset: '80 % of the disk',
  }),
  BUDGET_PER_MONTH: budgetList.optional().meta({
    description:
      'most that all teams together may spend in a calendar month (`500 USD`, or `500 USD, 200 EUR`): it stands above ' +
      'the budgets of `/video budget`. A model billed in another currency is refused',
    unset: 'no limit',
  }),
  LOG_LEVEL: logLevel.describe('pino level'),
  FFMPEG_PATH: text.optional().meta({
    description:
      'fits a clip to the platform’s upload limit, joins shots that differ, and chains the shots of storyboards',
    unset: '`ffmpeg` where found on PATH',
  }),
});

/** Returns the schema of all variables but those of the platforms, whose teams and people two of them name. */
function environmentOf(platforms: readonly PlatformConfig[]) {
  return Environment.extend({
    ALLOW_TEAMS: teamListOf(platforms).optional(),
    ADMINS: adminListOf(platforms).optional(),
  });
}

type Environment = z.output<ReturnType<typeof environmentOf>>;

const PollBounds = Environment.pick({ POLL_MIN_MS: true, POLL_MAX_MS: true });

/** Names of the variables whose values are never printed in an error. */
const SECRETS = /TOKEN|SECRET|STORE_URL|ACCESS_KEY/;

/** Returns the schemas of all variables that the bot reads, by name. */
export function variablesOf(platforms: readonly PlatformConfig[]): Readonly<Record<string, z.ZodType>> {
  return Object.assign({}, Environment.shape, ...platforms.map(({ variables }) => variables.shape));
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
  const parsed = environmentOf(platforms).safeParse(given);
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
    access: { teams: parsed.data.ALLOW_TEAMS ?? null, admits: platforms.flatMap(({ admits }) => admits(given)) },
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

/** Returns a sentence for each token that was swapped, quoted, prefixed or pasted with blanks, without its value. */
function tokenProblems(given: Given, tokens: PlatformConfig['tokens']): string[] {
  return Object.entries(tokens).flatMap(([name, mistakes]) => {
    const token = given[name];
    const problem = token === undefined ? undefined : mistakeIn(token, mistakes);
    return problem === undefined ? [] : [`${name}: what was given (not repeated here) ${problem}`];
  });
}

function mistakeIn(token: string, mistakes: readonly TokenMistake[]): string | undefined {
  if (/^["'“‘`]|["'”’`]$/u.test(token.trim())) return 'is in quotes; give it without them';
  const [scheme] = /^(?:Bot|Bearer)\s+/i.exec(token.trim()) ?? [];
  if (scheme !== undefined) return `begins with “${scheme.trim()} ”; give the token alone`;
  if (/\s/u.test(token)) return 'contains blanks; give the token without them';
  return mistakes.find(({ prefix }) => prefix.test(token))?.advice;
}

/**
 * Returns why the playground needs an access token, if it is enabled without one and reachable from outside, where
 * anyone who finds it could spend money. Empty where nothing is wrong.
 */
function exposureProblems(given: Given): string[] {
  const { HOST: host = '127.0.0.1', PUBLIC_URL: publicUrl = '', PLAYGROUND_TOKEN: token } = given;
  if (token !== undefined) return [];
  const isPublic = URL.canParse(publicUrl) && !isLoopbackHost(new URL(publicUrl).hostname);
  const exposed = [...(isLoopbackHost(host) ? [] : [`HOST=${host}`]), ...(isPublic ? ['PUBLIC_URL'] : [])];
  if (exposed.length === 0) return [];
  return [
    `PLAYGROUND_TOKEN: not set; ${exposed.join(' and ')} ${exposed.length === 1 ? 'leads' : 'lead'} beyond this machine and the playground spends money, ` +
      `so it takes an access token of ${HARD_TO_GUESS} (or PLAYGROUND=off)`,
  ];
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
    ...optional('servicesFile', env.SERVICES),
    ...enhancerOf(env),
    ...optional('modelCatalog', env.MODEL_CATALOG),
    storeUrl: env.STORE_URL,
    dataDir: dataDirOf(env.STORE_URL),
    media: mediaOf(env),
    admins: env.ADMINS ?? [],
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
    budgetPerMonth: env.BUDGET_PER_MONTH ?? {},
    progressEditMs: env.PROGRESS_EDIT_MS,
    playground: { isOn: isPlayground, ...optional('accessToken', env.PLAYGROUND_TOKEN) },
    ...optional('boardToken', env.BOARD_TOKEN),
    logLevel: env.LOG_LEVEL,
  };
}

function enhancerOf({
  ENHANCER_URL: url,
  ENHANCER_TOKEN: token,
  ENHANCER_MODEL: model,
}: Environment): Pick<Config, 'enhancer'> {
  if (url === undefined) return {};
  return { enhancer: { url, ...optional('token', token), model: model ?? ENHANCER_MODEL } };
}

/** Returns the polling intervals. Where only one bound is given, the default of the other one is adjusted to it. */
function pollOf(env: Environment): Config['poll'] {
  const isSandbox = env.VIDEO_API_BASE_URL === undefined && env.SERVICES === undefined;
  const standardMs = isSandbox ? SANDBOX_POLL_MS : POLL_MS;
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

/** Returns whether the embedded sandbox makes the clips: no other service is configured. */
export function isSandboxed({ videoService, servicesFile }: Pick<Config, 'videoService' | 'servicesFile'>): boolean {
  return videoService === undefined && servicesFile === undefined;
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
