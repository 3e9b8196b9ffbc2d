import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import {
  atMost,
  type Change,
  collection,
  commitWithRetries,
  type Job,
  type RecordWrite,
  type Store,
  type Versioned,
} from '../engine/index.ts';
import { periodOf } from '../period.ts';
import { budgetsOf, type Micros, microsOf, type SpendOrigin, type Task } from '../tasks/index.ts';
import { keyOfMember, type MemberKey } from '../teams/index.ts';
import {
  type Amounts,
  amountsIn,
  type BudgetAmountsOf,
  type BudgetScope,
  budgetIndexOf,
  budgets,
  PERSON_ORDER,
  type StoredAmounts,
  storedOf,
} from './budgets.ts';
import { parseSumName } from './sum-name.ts';

/** What a forgotten person used in a month, under an HMAC of their id; their own budget, if they had one. */
interface CarriedRecord extends Versioned {
  /** The month, such as `2026-11`. */
  readonly period: string;
  readonly amounts: StoredAmounts;
  readonly budget?: BudgetAmountsOf;
}

/** What the sum of a person who is back holds beyond their tasks. */
interface RestoredRecord extends Versioned, MemberKey {
  readonly period: string;
  readonly amounts: StoredAmounts;
}

/** Dependencies of {@link CarriedSpend}. */
interface CarriedSpendOptions {
  readonly store: Pick<Store, 'keyv' | 'commit' | 'contents' | 'sums'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Key of a month's HMACs. */
interface CarryKey extends Versioned {
  readonly period: string;
  readonly secret: string;
}

const UNTIL_THE_MONTH_ENDS = 'until the month ends';

const carryKeys = collection<string, CarryKey>({
  name: 'carry_keys',
  holds: 'the key of a month, under which amounts of forgotten people are stored',
  kept: UNTIL_THE_MONTH_ENDS,
  personal: 'nobody',
});

const carriedSpend = collection<{ readonly person: MemberKey; readonly month: CarryKey }, CarriedRecord>({
  name: 'carried_spend',
  key: ({ person: { platform, team, user }, month: { period, secret } }) =>
    `${period}:${createHmac('sha256', secret)
      .update(JSON.stringify([platform, team, user]))
      .digest('hex')}`,
  holds: 'amounts and budgets of forgotten people, under an HMAC of their id and a key',
  kept: UNTIL_THE_MONTH_ENDS,
  personal: 'nobody',
});

const restoredSpend = collection<{ readonly person: MemberKey; readonly period: string }, RestoredRecord>({
  name: 'restored_spend',
  key: ({ person, period }) => `${period}:${keyOfMember(person)}`,
  holds: 'amounts of people who were forgotten and are back',
  kept: `${UNTIL_THE_MONTH_ENDS}, or they are forgotten again`,
  personal: { byOwner: true },
});

const SECRET_BYTES = 32;
const MAX_TRIES = 20;
const DAY_MS = 24 * 3_600_000;

/**
 * What forgotten people have used of their budgets in the running month, so that being forgotten does not reset a
 * budget. The amount is stored under an HMAC of the person's id. If they order again in that month, it is added to their
 * sum, in the part `settled`. The keys of the HMACs and all of these records are deleted after the month.
 */
export class CarriedSpend {
  /** Deletes what belongs to months that have ended in every time zone. */
  readonly job: Job = {
    name: 'carried_spend',
    everyMs: 3_600_000,
    firstInMs: 60_000,
    leaseMs: 30_000,
    run: () => this.#sweep(),
  };
  readonly #options: CarriedSpendOptions;

  constructor(options: CarriedSpendOptions) {
    this.#options = options;
  }

  /**
   * Returns the writes that carry what a task used in months that have not ended, to commit with the removal of its
   * requester. The commit fails if another changes the record meanwhile: then call this again.
   */
  async writesOf(person: MemberKey, { money }: Pick<Task, 'money'>): Promise<readonly RecordWrite[]> {
    const used = new Map<string, Map<string, Micros>>();
    for (const { counted, period, currency, amount, granted } of money?.sends ?? []) {
      if (counted === undefined || !this.#months().includes(period)) continue;
      const amounts = used.get(period) ?? new Map<string, Micros>();
      const micros = microsOf(amount) - microsOf(granted?.person ?? '0');
      amounts.set(currency, (amounts.get(currency) ?? 0n) + micros);
      used.set(period, amounts);
    }
    return Promise.all([...used].map(([period, amounts]) => this.#carry(person, period, Object.fromEntries(amounts))));
  }

  /** Moves the rest of what a person's sums and budget hold to where it outlives them; deletes their budget. Idempotent. */
  async carryRest(person: MemberKey): Promise<void> {
    for (const period of this.#months()) {
      const of = { person, period };
      await this.#commit('carrying what a person used', async () => {
        const restored = await restoredSpend.get(this.#options.store, of);
        if (restored === undefined) return undefined;
        const amounts = amountsIn(restored.amounts);
        return {
          records: [restoredSpend.replacing(of, restored, null), await this.#carry(person, period, amounts)],
          sums: settledIn(person, period, amounts, -1n),
        };
      });
    }
    await this.#carryBudget(person);
    await this.#dropSums(person);
  }

  /** Adds to a person's sums what was carried for them, and restores their budget. Before each order. */
  readonly restore = async ({
    platform,
    team,
    user,
  }: Pick<SpendOrigin, 'platform' | 'team' | 'user'>): Promise<void> => {
    const person = { platform, team, user: user.id };
    for (const month of await carryKeys.getMany(this.#options.store, this.#months())) {
      if (month === undefined) continue;
      await this.#commit('restoring what a person used', () => this.#restored(person, month));
    }
  };

  async #sweep(): Promise<void> {
    const { store } = this.#options;
    const oldest = this.#months()[0] ?? '';
    for (const kind of [carryKeys, carriedSpend]) {
      for await (const page of kind.all(store))
        for (const { key, value } of page) if (value.period < oldest) await store.keyv(kind.name).delete(key);
    }
    for await (const page of restoredSpend.all(store))
      for (const { value } of page) if (value.period < oldest) await this.#endRestored(value);
  }

  /** Returns the months that the running one may be, in any time zone; oldest first. */
  #months(): readonly string[] {
    const nowMs = this.#options.clock.now();
    return [...new Set([nowMs - DAY_MS, nowMs + DAY_MS].map((atMs) => periodOf(atMs, 'UTC')))];
  }

  /** Returns the change that restores what was carried from a month; `undefined` where nothing was. */
  async #restored(person: MemberKey, month: CarryKey): Promise<Change | undefined> {
    const { store } = this.#options;
    const carried = await carriedSpend.get(store, { person, month });
    if (carried === undefined) return undefined;
    const { period } = month;
    const scope = scopeOf(person);
    const [restored, known] = await Promise.all([
      restoredSpend.get(store, { person, period }),
      budgets.get(store, scope),
    ]);
    const amounts = amountsIn(carried.amounts);
    const sum = storedOf(added(amountsIn(restored?.amounts ?? {}), amounts));
    const { budget } = carried;
    const isBudgetBack = budget !== undefined && known === undefined;
    const records = [
      carriedSpend.replacing({ person, month }, carried, null),
      restoredSpend.replacing({ person, period }, restored, { ...person, period, amounts: sum }),
      ...(isBudgetBack ? [budgets.replacing(scope, undefined, { scope, ...budget })] : []),
    ];
    const index = isBudgetBack
      ? [{ index: budgetIndexOf(person), member: budgetKeyOf(person), score: PERSON_ORDER }]
      : [];
    return { records, index, sums: settledIn(person, period, amounts, 1n) };
  }

  /** Returns the write that adds amounts to what is carried for a person, and their budget. */
  async #carry(person: MemberKey, period: string, amounts: Amounts, budget?: BudgetAmountsOf): Promise<RecordWrite> {
    const of = { person, month: await this.#keyOf(period) };
    const known = await carriedSpend.get(this.#options.store, of);
    const kept = budget ?? known?.budget;
    return carriedSpend.replacing(of, known, {
      period,
      amounts: storedOf(added(amountsIn(known?.amounts ?? {}), amounts)),
      ...(kept === undefined ? {} : { budget: kept }),
    });
  }

  async #carryBudget(person: MemberKey): Promise<void> {
    const scope = scopeOf(person);
    await this.#commit('carrying the budget of a person', async () => {
      const known = await budgets.get(this.#options.store, scope);
      if (known === undefined) return undefined;
      const { hard, soft } = known;
      const index = [{ index: budgetIndexOf(person), member: budgetKeyOf(person), score: null }];
      const carried = await Promise.all(this.#months().map((month) => this.#carry(person, month, {}, { hard, soft })));
      return { records: [budgets.replacing(scope, known, null), ...carried], index };
    });
  }

  /** Drops the sums of a person, which are zero once their tasks are not theirs any more. */
  async #dropSums({ platform, team, user }: MemberKey): Promise<void> {
    const { contents } = this.#options.store;
    for await (const page of contents.sums()) {
      const theirs = page.filter(({ sum }) => {
        const name = parseSumName(sum);
        return name?.kind === 'person' && name.platform === platform && name.team === team && name.id === user;
      });
      if (theirs.length > 0) await contents.dropEmptySums(theirs.map(({ sum }) => sum));
    }
  }

  async #endRestored(restored: RestoredRecord): Promise<void> {
    const { period, amounts, platform, team, user } = restored;
    const person = { platform, team, user };
    await this.#options.store.commit({
      records: [restoredSpend.replacing({ person, period }, restored, null)],
      sums: settledIn(person, period, amountsIn(amounts), -1n),
    });
    await this.#dropSums(person);
  }

  /** Returns the key of a month's HMACs, which is made when it is first needed. */
  #keyOf(period: string): Promise<CarryKey> {
    return carryKeys.change<CarryKey>(this.#options.store, period, (known) => {
      if (known !== undefined) return { result: known };
      const value = { period, secret: randomBytes(SECRET_BYTES).toString('base64url') };
      return { value, result: { revision: 1, ...value } };
    });
  }

  /** Commits a change, which is read again after a concurrent one; nothing where there is none. */
  async #commit(doing: string, changeOf: () => Promise<Change | undefined>): Promise<void> {
    const attempt = async () => ({ change: await changeOf(), result: undefined });
    await commitWithRetries(this.#options.store, attempt, atMost(MAX_TRIES, doing));
  }
}

/** Yields what the sums of people hold beyond what tasks count: those who were forgotten within the month and are back. */
export async function* restoredAmounts(
  store: Pick<Store, 'contents'>,
): AsyncGenerator<{ readonly sum: string; readonly micros: Micros }> {
  for await (const page of restoredSpend.all(store)) {
    for (const { value: person } of page) {
      const { period, amounts } = person;
      for (const [currency, micros] of Object.entries(amountsIn(amounts)))
        yield { sum: sumOf(person, period, currency), micros };
    }
  }
}

function settledIn(person: MemberKey, period: string, amounts: Amounts, times: bigint): NonNullable<Change['sums']> {
  return Object.entries(amounts).map(([currency, micros]) => ({
    sum: sumOf(person, period, currency),
    add: { settled: times * micros },
  }));
}

function sumOf(person: MemberKey, period: string, currency: string): string {
  return `${budgetKeyOf(person)}:${period}:${currency}`;
}

function budgetKeyOf({ platform, team, user }: MemberKey): string {
  return budgetsOf({ platform, team, channel: '', user: { id: user, name: '' } }).person;
}

function scopeOf({ platform, team, user }: MemberKey): BudgetScope {
  return { kind: 'person', platform, team, person: { id: user, name: user } };
}

function added(one: Amounts, other: Amounts): Amounts {
  const currencies = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries(
    [...currencies].map((currency) => [currency, (one[currency] ?? 0n) + (other[currency] ?? 0n)]),
  );
}
