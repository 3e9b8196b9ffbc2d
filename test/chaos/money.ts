import { randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import type { PlannedDeed } from './deeds.ts';
import { type DialectName, modelChange } from './profiles.ts';
import type { Random } from './random.ts';

/** Change of what orders may cost, by the operator. */
export type MoneyChange =
  /** Command in the playground, such as `/video budget team --amount 5`. */
  | { readonly atMs: number; readonly command: string }
  /** Price of a second of a clip, as a decimal string. */
  | { readonly atMs: number; readonly price: string };

/** Leap of all clocks once everything rests, one replica after the other. */
export interface Leap {
  /** Midnight in UTC, when deputies are over, or the time when every request has expired. */
  readonly to: 'midnight' | 'expiry';
  /** Presses on each request that is left, while the replicas disagree about the time. */
  readonly presses: readonly PlannedDeed[];
}

/** Approvers of the chats: the administrator alone, one person, or a role or user group. */
export type ChatApprovers = 'administrator' | 'person' | 'group';

/** Money of a run. */
export interface PlannedMoney {
  /** Approvers in each chat, where every clip then needs an approval; `null` for no approvals there. */
  readonly chatApprovers: ChatApprovers | null;
  readonly changes: readonly MoneyChange[];
  readonly leaps: readonly Leap[];
  /** Environment of the replicas. */
  readonly env: Readonly<Record<string, string>>;
}

/** User of the playground who administers its team. */
export const OPERATOR = 'operator';
/** Users who order. */
export const USERS = ['ana', 'ben', 'eva'] as const;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Price above which a clip in a chat needs an approval. */
export const CHAT_THRESHOLD = '0.10';

/** Money of a run without budgets, approvals and price changes. */
export const NO_MONEY: PlannedMoney = { chatApprovers: null, changes: [], leaps: [], env: {} };

const PRICES = ['0.05', '0.05', '0.08', '0.1', '0.000001', '0.333333'] as const;
/** Share of runs that budget the deployment, which concerns every chat; share in which refunds await a statement. */
const DEPLOYMENT_SHARE = 0.3;
const BY_STATEMENT_SHARE = 0.25;
/** Share of runs with a threshold of approval; share in which a user becomes an approver. */
const APPROVAL_SHARE = 0.75;
const APPROVER_SHARE = 0.25;
/** Share of approvers who are deputies for today; share of runs in which requests outlast the day, and expire. */
const DEPUTY_SHARE = 0.5;
const MIDNIGHT_SHARE = 0.5;
const EXPIRY_SHARE = 0.5;
/** Share of runs with chats in which the chats have approvals. */
const CHAT_APPROVAL_SHARE = 0.4;
/** Stands for the date of the run in a command. */
const TODAY = '{today}';

/**
 * Draws the money of a run.
 * @param lengthMs time in which the changes are made.
 * @param hasChats in a chat, a refusal looks like an order without a response: only the playground's team has budgets.
 */
export function drawMoney(
  random: Random,
  { lengthMs, hasChats }: { lengthMs: number; hasChats: boolean },
): PlannedMoney {
  const amount = (most: number) => `${random.between(0, most)}.${random.between(0, 9)}`;
  const drawn = [
    // Without budgets first, so that a budget set in mid-run counts what was spent before.
    ...Array.from({ length: random.between(1, 4) }, () => `/video budget team --amount ${amount(8)}`),
    ...Array.from({ length: random.between(0, 2) }, () => `/video budget everyone --amount ${amount(3)}`),
    ...(random.chance(0.3) ? [`/video budget --person @ana --amount ${amount(3)}`] : []),
    ...(random.chance(0.3) ? [`/video budget --channel #clips --amount ${amount(4)}`] : []),
    ...(random.chance(0.3) ? ['/video budget team --amount off'] : []),
    ...(random.chance(0.3) ? ['/video budget team --amount 0'] : []),
    ...(random.chance(APPROVAL_SHARE) ? [`/video settings --approve_above 0.${random.between(1, 3)}`] : []),
    ...(random.chance(0.2) ? ['/video settings --off approve_above'] : []),
    // Without approvers, the operator decides.
    ...USERS.filter(() => random.chance(APPROVER_SHARE)).map(
      (user) => `/video approvers add @${user}${random.chance(DEPUTY_SHARE) ? ` until ${TODAY}` : ''}`,
    ),
    ...(random.chance(0.5) ? [`/video approvers add @${OPERATOR}`] : []),
    ...(random.chance(0.2) ? [`/video approvers remove @${random.pick(USERS)}`] : []),
  ];
  const atMs = (): number => random.between(0, lengthMs);
  const ofChats = random.fork('chat approvers');
  const hasApprovals = hasChats && ofChats.chance(CHAT_APPROVAL_SHARE);
  return {
    chatApprovers: hasApprovals ? ofChats.pick(['administrator', 'person', 'group'] as const) : null,
    changes: [
      ...drawn.map((command) => ({ atMs: atMs(), command })),
      ...Array.from({ length: random.between(0, 3) }, () => ({ atMs: atMs(), price: random.pick(PRICES) })),
    ].sort((one, other) => one.atMs - other.atMs),
    leaps: [
      ...(random.chance(MIDNIGHT_SHARE) ? [drawLeap(random, 'midnight')] : []),
      ...(random.chance(EXPIRY_SHARE) ? [drawLeap(random, 'expiry')] : []),
    ],
    env: {
      ...(!hasChats && random.chance(DEPLOYMENT_SHARE) ? { BUDGET_PER_MONTH: `${amount(8)} USD` } : {}),
      ...(random.chance(BY_STATEMENT_SHARE) ? { REFUNDS: 'by_statement' } : {}),
    },
  };
}

function drawLeap(random: Random, to: Leap['to']): Leap {
  const press = (): PlannedDeed => {
    const common = { when: 'requested', copies: random.between(1, 3), times: random.between(1, 2) } as const;
    const action = random.pick(['approve', 'approve', 'deny', 'withdraw'] as const);
    return { ...common, action, ...(action === 'withdraw' ? {} : { by: random.pick([OPERATOR, ...USERS]) }) };
  };
  return { to, presses: Array.from({ length: random.between(0, 3) }, press) };
}

/** Returns a command with the date of the run. */
export function datedOf(command: string): string {
  return command.replace(TODAY, new Date().toISOString().slice(0, 10));
}

/** Time past the moment that a leap leads to. */
const PAST_MS = 5_000;

/** Returns the step of a clock for a leap. */
export function stepTo(to: Leap['to']): number {
  return to === 'midnight' ? DAY_MS - (Date.now() % DAY_MS) + PAST_MS : DAY_MS + 2 * HOUR_MS;
}

/** Returns the path of the replicas' catalog in the folder of a run. */
export function catalogIn(folder: string): string {
  return join(folder, 'catalog.json');
}

/** Models of the comparisons: the default one, and others that take the same options. */
export const COMPARED = ['swift-1', 'swift-2', 'swift-3'] as const;
const RIVALS = [
  { name: COMPARED[1], title: 'Swift 2', price: '0.07' },
  { name: COMPARED[2], title: 'Swift 3', price: '0.02' },
] as const;

interface Named {
  readonly name: string;
  readonly id?: string;
}

/** Returns the contents of the replicas' catalog. @param price of the default model. Default: the usual one */
export function catalogOf(dialect: DialectName, price?: string): { readonly models: readonly Named[] } {
  const models = sandboxCatalog.models.map((model) =>
    price !== undefined && 'default' in model ? { ...model, price } : model,
  );
  const [{ default: _default, ...swift }] = sandboxCatalog.models;
  const rivals = RIVALS.map((rival) => ({ ...swift, ...rival }));
  if (dialect === 'v1-videos') return { models: [...models, ...rivals] };
  return {
    models: [models[0], ...rivals].flatMap((model, place) =>
      model === undefined ? [] : [{ ...model, ...modelChange(dialect, place) }],
    ),
  };
}

/** Returns the names of the models in the catalog, by their ids at the service. */
export function namesOf(dialect: DialectName): ReadonlyMap<string, string> {
  const { models } = catalogOf(dialect);
  return new Map(models.flatMap(({ name, id }) => (id === undefined ? [] : [[id, name]])));
}

/** Writes the catalog that the replicas read at their start and on SIGHUP, as {@link catalogOf} returns it. */
export async function writeCatalog(folder: string, dialect: DialectName, price?: string): Promise<void> {
  const path = catalogIn(folder);
  // Two changes may coincide.
  const next = `${path}.${randomUUID()}`;
  await writeFile(next, JSON.stringify(catalogOf(dialect, price)));
  await rename(next, path);
}
