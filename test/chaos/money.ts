import { randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import type { Random } from './random.ts';

/** Change of what orders may cost, by the operator. */
export type MoneyChange =
  /** Command in the playground, such as `/video budget team --amount 5`. */
  | { readonly atMs: number; readonly command: string }
  /** Price of a second of a clip, as a decimal string. */
  | { readonly atMs: number; readonly price: string };

/** Money of a run. */
export interface PlannedMoney {
  readonly changes: readonly MoneyChange[];
  /** Environment of the replicas. */
  readonly env: Readonly<Record<string, string>>;
}

/** User of the playground who administers its team. */
export const OPERATOR = 'operator';
/** Users who order. */
export const USERS = ['ana', 'ben', 'eva'] as const;

/** Money of a run without budgets, approvals and price changes. */
export const NO_MONEY: PlannedMoney = { changes: [], env: {} };

const PRICES = ['0.05', '0.05', '0.08', '0.1', '0.000001', '0.333333'] as const;
/** Share of runs that budget the deployment, which concerns every chat; share in which refunds await a statement. */
const DEPLOYMENT_SHARE = 0.3;
const BY_STATEMENT_SHARE = 0.25;
/** Share of runs with a threshold of approval; share in which a user becomes an approver. */
const APPROVAL_SHARE = 0.75;
const APPROVER_SHARE = 0.25;

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
    ...USERS.filter(() => random.chance(APPROVER_SHARE)).map((user) => `/video approvers add @${user}`),
    ...(random.chance(0.5) ? [`/video approvers add @${OPERATOR}`] : []),
    ...(random.chance(0.2) ? [`/video approvers remove @${random.pick(USERS)}`] : []),
  ];
  const atMs = (): number => random.between(0, lengthMs);
  return {
    changes: [
      ...drawn.map((command) => ({ atMs: atMs(), command })),
      ...Array.from({ length: random.between(0, 3) }, () => ({ atMs: atMs(), price: random.pick(PRICES) })),
    ].sort((one, other) => one.atMs - other.atMs),
    env: {
      ...(!hasChats && random.chance(DEPLOYMENT_SHARE) ? { BUDGET_PER_MONTH: `${amount(8)} USD` } : {}),
      ...(random.chance(BY_STATEMENT_SHARE) ? { REFUNDS: 'by_statement' } : {}),
    },
  };
}

/** Returns the path of the replicas' catalog in the folder of a run. */
export function catalogIn(folder: string): string {
  return join(folder, 'catalog.json');
}

/** Writes the catalog that the replicas read at their start and on SIGHUP. @param price of the default model. */
export async function writeCatalog(folder: string, price?: string): Promise<void> {
  const models = sandboxCatalog.models.map((model) =>
    price !== undefined && 'default' in model ? { ...model, price } : model,
  );
  const path = catalogIn(folder);
  // Two changes may coincide.
  const next = `${path}.${randomUUID()}`;
  await writeFile(next, JSON.stringify({ models }));
  await rename(next, path);
}
