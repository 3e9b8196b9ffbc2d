import { BUDGETS, collection, type Store, type SumParts, type Versioned, ZERO_SUM } from '../engine/index.ts';
import {
  amountOf,
  budgetsOf,
  everyoneBudget,
  type Micros,
  type Person,
  type Purchase,
  type SpendOrigin,
  type SpendScope,
  sumsOf,
  withoutPerson,
} from '../tasks/index.ts';
import {
  type Actor,
  type AuditAction,
  type AuditEntry,
  type AuditedChange,
  type AuditTrail,
  type AuditValue,
  priceFacts,
  type TeamKey,
  textFact,
} from '../teams/index.ts';

/** Spend that a budget limits. */
export type BudgetScope =
  /** That of all teams together. */
  | { readonly kind: 'deployment' }
  | ({ readonly kind: 'team' } & TeamKey)
  | ({ readonly kind: 'channel'; readonly channel: string } & TeamKey)
  | ({ readonly kind: 'person'; readonly person: Person } & TeamKey)
  /** That of each person without a hard budget of their own. */
  | ({ readonly kind: 'everyone' } & TeamKey);

/** Amounts by currency, such as `USD`. */
export type Amounts = Readonly<Record<string, Micros>>;

/** Stored {@link Amounts}: whole millionths, in decimal digits. */
export type StoredAmounts = Readonly<Record<string, string>>;

/** Monthly budget of a scope. */
export interface Budget {
  readonly scope: BudgetScope;
  /** Limits that the store compares in each commit that adds spend. */
  readonly hard: Amounts;
  /** Amounts from which on an order asks for a confirmation; they refuse nothing. */
  readonly soft: Amounts;
  /** Person who changed it last; absent for the environment. */
  readonly by?: Person;
}

/** Change of a budget's amounts; amounts in other currencies stay. */
export interface BudgetChange {
  readonly part: 'hard' | 'soft';
  /** Absent: all currencies; only with an `amount` of `null`. */
  readonly currency?: string;
  /** 0: no money at all. `null`: no limit; of all currencies, it removes the soft amounts along with the hard ones. */
  readonly amount: Micros | null;
}

/** Stored amounts of a {@link Budget}. */
export interface BudgetAmountsOf {
  readonly hard: StoredAmounts;
  readonly soft: StoredAmounts;
}

/** Stored form of a {@link Budget}. */
interface BudgetRecord extends Versioned, BudgetAmountsOf {
  readonly scope: BudgetScope;
  readonly by?: Person;
}

/** Budgets by scope. {@link Change.within} compares the hard amounts by the same keys. */
export const budgets = collection<BudgetScope, BudgetRecord>({
  name: BUDGETS,
  key: budgetKey,
  holds: 'limits; the person of a person’s budget',
  kept: 'until `/video budget … off`',
  personal: {
    forget: (record, { platform, team, person, pseudonym }) => {
      const { scope } = record;
      const isTeamKey = scope.kind !== 'deployment' && scope.platform === platform && scope.team === team;
      return isTeamKey ? withoutPerson(record, person.id, pseudonym) : record;
    },
    export: ({ scope, hard, soft }, { platform, team, person }) =>
      scope.kind === 'person' && scope.platform === platform && scope.team === team && scope.person.id === person.id
        ? [{ record: 'budget', hard: textsOf(hard), soft: textsOf(soft) }]
        : [],
  },
});

/** Budget before and after a change; `null` where it has no amounts. */
export interface ChangedBudget {
  readonly before: Budget | null;
  readonly after: Budget | null;
}

/** Spend of a scope in one month and currency; the part `extra` raises the limit. */
export interface Spend extends SumParts {
  readonly currency: string;
}

/** Returns the amount that counts towards a limit. */
export function usedOf({ held, settled, doubted }: Pick<SumParts, 'held' | 'settled' | 'doubted'>): bigint {
  return held + settled + doubted;
}

/** Amounts of one scope of an order, in its currency. */
interface Limit {
  readonly scope: SpendScope;
  /** Absent where the scope has no hard amount in the currency. */
  readonly hard?: Micros;
  readonly soft?: Micros;
  /** Currencies of the scope's hard amounts. */
  readonly currencies: readonly string[];
  readonly spend: Spend;
}

/** Dependencies of {@link BudgetRepository}. */
interface BudgetsOptions {
  readonly store: Pick<Store, 'keyv' | 'scan' | 'sums'>;
  readonly audit: Pick<AuditTrail, 'commitAudited'>;
}

/** Reads and changes budgets. Every method rejects with `store_unavailable`. */
export class BudgetRepository {
  readonly #options: BudgetsOptions;

  constructor(options: BudgetsOptions) {
    this.#options = options;
  }

  /** Returns the budget of a scope itself; `null` if it has none. */
  async get(scope: BudgetScope): Promise<Budget | null> {
    return budgetOf(await budgets.get(this.#options.store, scope));
  }

  /** Returns the budget of a key, as in `OverBudget.budget`; `null` if there is none. */
  async named(key: string): Promise<Budget | null> {
    return (await this.#read([key]))[0] ?? null;
  }

  /** Returns the budget whose hard amounts limit a scope: for a person without any, the one of everyone. */
  async limiting(scope: BudgetScope): Promise<Budget | null> {
    const own = await this.get(scope);
    if (scope.kind !== 'person' || hasHard(own)) return own;
    const { platform, team } = scope;
    const everyone = await this.get({ kind: 'everyone', platform, team });
    return hasHard(everyone) ? everyone : own;
  }

  /** Returns the amounts that apply to an order, with the spend of their scopes; none for a scope without amounts. */
  async limits(
    origin: SpendOrigin,
    { period, currency }: Pick<Purchase, 'period' | 'currency'>,
  ): Promise<readonly Limit[]> {
    const keys = budgetsOf(origin);
    const scopes = Object.keys(keys) as SpendScope[];
    const sums = sumsOf(origin, { period, currency });
    const [found, parts] = await Promise.all([
      this.#read([...scopes.map((scope) => keys[scope]), everyoneBudget(origin)]),
      this.#options.store.sums(scopes.map((scope) => sums[scope])),
    ]);
    const everyone = found.at(-1) ?? null;
    return scopes.flatMap((scope, index): readonly Limit[] => {
      const own = found[index] ?? null;
      const isDefault = scope === 'person' && !hasHard(own);
      const [hard, soft] = [(isDefault ? everyone : own)?.hard ?? {}, own?.soft ?? {}];
      const asks = soft[currency] ?? (scope === 'person' ? everyone?.soft[currency] : undefined);
      if (Object.keys(hard).length === 0 && asks === undefined) return [];
      const limit = hard[currency];
      return [
        {
          scope,
          currencies: Object.keys(hard),
          ...(limit === undefined ? {} : { hard: limit }),
          ...(asks === undefined ? {} : { soft: asks }),
          spend: { currency, ...(parts[index] ?? ZERO_SUM) },
        },
      ];
    });
  }

  /** Returns a team's budgets: of the team, of everyone, of channels, of persons. */
  async list({ platform, team }: TeamKey): Promise<readonly Budget[]> {
    const entries = await this.#options.store.scan(budgetIndexOf({ platform, team }), { order: 'oldest' });
    if (entries.length === 0) return [];
    return (await this.#read(entries.map(({ member }) => member))).filter((budget) => budget !== null);
  }

  /** Changes a team's budget, with an entry in its audit log. An amount below what is used is allowed. */
  async change(
    scope: Exclude<BudgetScope, { readonly kind: 'deployment' }>,
    actor: Actor,
    change: BudgetChange,
  ): Promise<ChangedBudget> {
    const { platform, team } = scope;
    return this.#options.audit.commitAudited({ platform, team }, actor, () =>
      this.#prepare(scope, actor, (before) => changed(before, change)),
    );
  }

  /** Replaces the budget of the deployment, with an entry in its audit log. @param hard empty for none. */
  async setDeployment(hard: Amounts): Promise<ChangedBudget> {
    const actor: Actor = { person: null, surface: 'environment' };
    const scope = { kind: 'deployment' } as const;
    return this.#options.audit.commitAudited('deployment', actor, () =>
      this.#prepare(scope, actor, () => ({ hard, soft: {} })),
    );
  }

  /** Returns the spend of scopes in a month, by currency, in the order of both. */
  async spend(
    scopes: readonly BudgetScope[],
    period: string,
    currencies: readonly string[],
  ): Promise<readonly (readonly Spend[])[]> {
    const names = scopes.flatMap((scope) => currencies.map((currency) => `${budgetKey(scope)}:${period}:${currency}`));
    const sums = names.length === 0 ? [] : await this.#options.store.sums(names);
    return scopes.map((_, at) =>
      currencies.flatMap((currency, index) => {
        const parts = sums[at * currencies.length + index];
        return parts === undefined ? [] : [{ currency, ...parts }];
      }),
    );
  }

  async #read(keys: readonly string[]): Promise<readonly (Budget | null)[]> {
    return (await this.#options.store.keyv(budgets.name).getMany<BudgetRecord>([...keys])).map(budgetOf);
  }

  async #prepare(
    scope: BudgetScope,
    { person }: Actor,
    change: (before: Pick<Budget, 'hard' | 'soft'>) => Pick<Budget, 'hard' | 'soft'>,
  ): Promise<AuditedChange<ChangedBudget>> {
    const record = await budgets.get(this.#options.store, scope);
    const before = budgetOf(record);
    const next: Budget = { scope, ...change(before ?? NOTHING), ...(person === null ? {} : { by: person }) };
    const isEmpty = Object.keys(next.hard).length + Object.keys(next.soft).length === 0;
    const after = isEmpty ? null : next;
    const index =
      scope.kind === 'deployment'
        ? []
        : [{ index: budgetIndexOf(scope), member: budgetKey(scope), score: isEmpty ? null : ORDER[scope.kind] }];
    return {
      change: {
        records: [budgets.replacing(scope, record, after === null ? null : recordOf(after))],
        index,
      },
      entries: entriesOf(scope, before ?? NOTHING, next),
      result: { before, after },
    };
  }
}

const NOTHING: Pick<Budget, 'hard' | 'soft'> = { hard: {}, soft: {} };

/** Score of a person's budget in {@link budgetIndexOf}. */
export const PERSON_ORDER = 3;

/** Order of a team's budgets in the list. */
const ORDER: Readonly<Record<Exclude<BudgetScope['kind'], 'deployment'>, number>> = {
  team: 0,
  everyone: 1,
  channel: 2,
  person: PERSON_ORDER,
};

/** Names the index of a team's budgets; members are their keys. */
export function budgetIndexOf({ platform, team }: TeamKey): string {
  return `budgets:${platform}:${team}`;
}

/** Parts of a key that a scope may not have. */
const NOWHERE = { platform: '', team: '', channel: '', person: { id: '', name: '' } };

/** Returns the key of a budget's record; the names of its sums begin with it. */
function budgetKey(scope: BudgetScope): string {
  if (scope.kind === 'everyone') return everyoneBudget(scope);
  const { platform, team, channel, person } = { ...NOWHERE, ...scope };
  return budgetsOf({ platform, team, channel, user: person })[scope.kind];
}

function changed({ hard, soft }: Pick<Budget, 'hard' | 'soft'>, { part, amount, currency }: BudgetChange) {
  if (currency === undefined) return { hard: part === 'soft' ? hard : {}, soft: {} };
  const set = (amounts: Amounts): Amounts => {
    const { [currency]: _before, ...others } = amounts;
    return amount === null ? others : { ...amounts, [currency]: amount };
  };
  return part === 'soft' ? { hard, soft: set(soft) } : { hard: set(hard), soft };
}

function hasHard(budget: Budget | null): boolean {
  return budget !== null && Object.keys(budget.hard).length > 0;
}

function budgetOf(record: BudgetRecord | undefined): Budget | null {
  if (record === undefined) return null;
  const { scope, hard, soft, by } = record;
  return { scope, hard: amountsIn(hard), soft: amountsIn(soft), ...(by === undefined ? {} : { by }) };
}

function recordOf({ scope, hard, soft, by }: Budget): Omit<BudgetRecord, 'revision'> {
  return { scope, hard: storedOf(hard), soft: storedOf(soft), ...(by === undefined ? {} : { by }) };
}

export function amountsIn(stored: StoredAmounts): Amounts {
  return Object.fromEntries(Object.entries(stored).map(([currency, micros]) => [currency, BigInt(micros)]));
}

export function storedOf(amounts: Amounts): StoredAmounts {
  return Object.fromEntries(Object.entries(amounts).map(([currency, micros]) => [currency, micros.toString()]));
}

/** Returns stored amounts as decimals in currency units. */
function textsOf(stored: StoredAmounts): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(stored).map(([currency, micros]) => [currency, amountOf(BigInt(micros))]));
}

function entriesOf(
  scope: BudgetScope,
  before: Pick<Budget, 'hard' | 'soft'>,
  after: Pick<Budget, 'hard' | 'soft'>,
): readonly AuditEntry[] {
  const entry = (action: AuditAction, part: 'hard' | 'soft'): readonly AuditEntry[] => {
    const [was, is] = [pricesOf(before[part]), pricesOf(after[part])];
    const isSame = JSON.stringify(was) === JSON.stringify(is);
    return isSame ? [] : [{ action, subject: subjectOf(scope), before: was, after: is }];
  };
  return [...entry('budget', 'hard'), ...entry('soft_budget', 'soft')];
}

function pricesOf(amounts: Amounts): readonly AuditValue[] {
  return Object.entries(amounts)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([currency, micros]) => priceFacts({ amount: amountOf(micros), currency }));
}

function subjectOf(scope: BudgetScope): readonly AuditValue[] {
  switch (scope.kind) {
    case 'deployment':
    case 'team':
      return [];
    case 'everyone':
      return [textFact('everyone')];
    case 'channel':
      return [{ kind: 'channel', channel: scope.channel }];
    case 'person':
      return [{ kind: 'person', person: scope.person }];
  }
}
