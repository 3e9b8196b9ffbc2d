import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { Change, Job, RecordWrite, Store, Versioned } from '../../engine/index.ts';
import { DailiesError } from '../../errors.ts';
import { periodOf } from '../../period.ts';
import { budgetsOf, type Micros, microsOf, type SpendOrigin, type Task } from '../../tasks/index.ts';
import { type BudgetAmountsOf, budgetIndexOf, PERSON_ORDER } from '../budgets.ts';
import { parseSumName } from '../sum-name.ts';

/** Person in a team, by the platform's user id. */
interface CarriedPerson {
  readonly platform: string;
  readonly team: string;
  readonly user: string;
}

/** Whole millionths by currency, in decimal digits. */
type Amounts = Readonly<Record<string, string>>;

/** What a forgotten person used in a month, under an HMAC of their id; their own budget, if they had one. */
interface CarriedRecord extends Versioned {
  readonly amounts: Amounts;
  readonly budget?: BudgetAmountsOf;
}

/** What the sum of a person who is back holds beyond their tasks. */
interface RestoredRecord extends Versioned, CarriedPerson {
  readonly amounts: Amounts;
}

/** Dependencies of {@link CarriedSpend}. */
interface CarriedSpendOptions {
  readonly store: Pick<Store, 'keyv' | 'commit' | 'contents' | 'sums'>;
  readonly clock: Pick<Clock, 'now'>;
}

const SECRET = 'carry-secret:';
const CARRIED = 'carried:';
const RESTORED = 'restored:';
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
  async writesOf(person: CarriedPerson, { money }: Pick<Task, 'money'>): Promise<readonly RecordWrite[]> {
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
  async carryRest(person: CarriedPerson): Promise<void> {
    for (const period of this.#months()) {
      const key = restoredKey(person, period);
      await this.#retried('carrying what a person used', async () => {
        const restored = await this.#records.get<RestoredRecord>(key);
        if (restored === undefined) return true;
        const amounts = microsIn(restored.amounts);
        return this.#options.store.commit({
          records: [
            { namespace: 'budgets', key, value: null, expected: restored.revision },
            await this.#carry(person, period, amounts),
          ],
          sums: settledIn(person, period, amounts, -1n),
        });
      });
    }
    await this.#carryBudget(person);
    await this.#dropSums(person);
  }

  /** Adds to a person's sums what was carried for them, and restores their budget. Before each order. */
  async restore({ platform, team, user }: Pick<SpendOrigin, 'platform' | 'team' | 'user'>): Promise<void> {
    const months = this.#months();
    const secrets = await this.#records.getMany<{ readonly secret: string }>(months.map((period) => SECRET + period));
    const person = { platform, team, user: user.id };
    for (const [at, period] of months.entries()) {
      const secret = secrets[at]?.secret;
      if (secret === undefined) continue;
      await this.#retried('restoring what a person used', () => this.#restoreMonth(person, period, secret));
    }
  }

  async #sweep(): Promise<void> {
    const oldest = this.#months()[0] ?? '';
    for await (const page of this.#options.store.contents.records('budgets')) {
      for (const { key, value } of page) {
        const [, kind = '', period = ''] = /^(carry-secret:|carried:|restored:)(\d{4}-\d{2})/u.exec(key) ?? [];
        if (kind === '' || period >= oldest) continue;
        if (kind !== RESTORED) await this.#records.delete(key);
        else await this.#endRestored(key, period, value as RestoredRecord);
      }
    }
  }

  /** Returns the months that the running one may be, in any time zone; oldest first. */
  #months(): readonly string[] {
    const nowMs = this.#options.clock.now();
    return [...new Set([nowMs - DAY_MS, nowMs + DAY_MS].map((atMs) => periodOf(atMs, 'UTC')))];
  }

  get #records() {
    return this.#options.store.keyv('budgets');
  }

  async #restoreMonth(person: CarriedPerson, period: string, secret: string): Promise<boolean> {
    const from = carriedKey(person, period, secret);
    const carried = await this.#records.get<CarriedRecord>(from);
    if (carried === undefined) return true;
    const key = restoredKey(person, period);
    const budgetKey = budgetKeyOf(person);
    const [restored, known] = await this.#records.getMany<RestoredRecord & Versioned>([key, budgetKey]);
    const amounts = microsIn(carried.amounts);
    const value: RestoredRecord = {
      revision: (restored?.revision ?? 0) + 1,
      ...person,
      amounts: textsOf(added(microsIn(restored?.amounts ?? {}), amounts)),
    };
    const { budget } = carried;
    const isBudgetBack = budget !== undefined && known === undefined;
    const { platform, team, user } = person;
    const scope = { kind: 'person', platform, team, person: { id: user, name: user } } as const;
    const records: RecordWrite[] = [
      { namespace: 'budgets', key: from, value: null, expected: carried.revision },
      { namespace: 'budgets', key, value, expected: restored?.revision ?? 'absent' },
    ];
    if (isBudgetBack)
      records.push({
        namespace: 'budgets',
        key: budgetKey,
        value: { revision: 1, scope, ...budget },
        expected: 'absent',
      });
    const index = isBudgetBack ? [{ index: budgetIndexOf(person), member: budgetKey, score: PERSON_ORDER }] : [];
    return this.#options.store.commit({ records, index, sums: settledIn(person, period, amounts, 1n) });
  }

  /** Returns the write that adds amounts to what is carried for a person, and their budget. */
  async #carry(
    person: CarriedPerson,
    period: string,
    amounts: Readonly<Record<string, Micros>>,
    budget?: BudgetAmountsOf,
  ): Promise<RecordWrite> {
    const key = carriedKey(person, period, await this.#secretOf(period));
    const known = await this.#records.get<CarriedRecord>(key);
    const kept = budget ?? known?.budget;
    const value: CarriedRecord = {
      revision: (known?.revision ?? 0) + 1,
      amounts: textsOf(added(microsIn(known?.amounts ?? {}), amounts)),
      ...(kept === undefined ? {} : { budget: kept }),
    };
    return { namespace: 'budgets', key, value, expected: known?.revision ?? 'absent' };
  }

  async #carryBudget(person: CarriedPerson): Promise<void> {
    const key = budgetKeyOf(person);
    await this.#retried('carrying the budget of a person', async () => {
      const known = await this.#records.get<BudgetAmountsOf & Versioned>(key);
      if (known === undefined) return true;
      const { hard, soft } = known;
      const period = this.#months().at(-1) ?? '';
      const index = [{ index: budgetIndexOf(person), member: key, score: null }];
      const carried = await Promise.all(this.#months().map((month) => this.#carry(person, month, {}, { hard, soft })));
      const change: Change = {
        records: [{ namespace: 'budgets', key, value: null, expected: known.revision }, ...carried],
        index,
      };
      return period !== '' && this.#options.store.commit(change);
    });
  }

  /** Drops the sums of a person, which are zero once their tasks are not theirs any more. */
  async #dropSums({ platform, team, user }: CarriedPerson): Promise<void> {
    const { contents } = this.#options.store;
    for await (const page of contents.sums()) {
      const theirs = page.filter(({ sum }) => {
        const name = parseSumName(sum);
        return name?.kind === 'person' && name.platform === platform && name.team === team && name.id === user;
      });
      if (theirs.length > 0) await contents.dropEmptySums(theirs.map(({ sum }) => sum));
    }
  }

  async #endRestored(key: string, period: string, { revision, amounts, ...person }: RestoredRecord): Promise<void> {
    await this.#options.store.commit({
      records: [{ namespace: 'budgets', key, value: null, expected: revision }],
      sums: settledIn(person, period, microsIn(amounts), -1n),
    });
    await this.#dropSums(person);
  }

  /** Returns the key of a month's HMACs, which is made when it is first needed. */
  async #secretOf(period: string): Promise<string> {
    const key = SECRET + period;
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const known = await this.#records.get<{ readonly secret: string }>(key);
    if (known !== undefined) return known.secret;
    const value = { revision: 1, secret };
    const isOurs = await this.#options.store.commit({
      records: [{ namespace: 'budgets', key, value, expected: 'absent' }],
    });
    return isOurs ? secret : this.#secretOf(period);
  }

  async #retried(doing: string, attempt: () => Promise<boolean>): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) if (await attempt()) return;
    throw new DailiesError(`${doing}: others changed it ${MAX_TRIES} times meanwhile`, {
      code: 'overloaded',
      retryable: true,
    });
  }
}

/** Returns what a record of the namespace `budgets` adds to sums beyond what tasks count, for the check of the books. */
export function restoredIn(key: string, value: unknown): readonly { readonly sum: string; readonly micros: Micros }[] {
  const period = /^restored:(\d{4}-\d{2}):/u.exec(key)?.[1];
  if (period === undefined) return [];
  const { amounts, ...person } = value as RestoredRecord;
  return Object.entries(microsIn(amounts)).map(([currency, micros]) => ({
    sum: sumOf(person, period, currency),
    micros,
  }));
}

function settledIn(
  person: CarriedPerson,
  period: string,
  amounts: Readonly<Record<string, Micros>>,
  times: bigint,
): NonNullable<Change['sums']> {
  return Object.entries(amounts).map(([currency, micros]) => ({
    sum: sumOf(person, period, currency),
    add: { settled: times * micros },
  }));
}

function sumOf(person: CarriedPerson, period: string, currency: string): string {
  return `${budgetKeyOf(person)}:${period}:${currency}`;
}

function budgetKeyOf({ platform, team, user }: CarriedPerson): string {
  return budgetsOf({ platform, team, channel: '', user: { id: user, name: '' } }).person;
}

function carriedKey({ platform, team, user }: CarriedPerson, period: string, secret: string): string {
  const hmac = createHmac('sha256', secret)
    .update(JSON.stringify([platform, team, user]))
    .digest('hex');
  return `${CARRIED}${period}:${hmac}`;
}

function restoredKey({ platform, team, user }: CarriedPerson, period: string): string {
  return `${RESTORED}${period}:${platform}:${team}:${user}`;
}

function microsIn(amounts: Amounts): Readonly<Record<string, Micros>> {
  return Object.fromEntries(Object.entries(amounts).map(([currency, micros]) => [currency, BigInt(micros)]));
}

function textsOf(amounts: Readonly<Record<string, Micros>>): Amounts {
  return Object.fromEntries(Object.entries(amounts).map(([currency, micros]) => [currency, micros.toString()]));
}

function added(
  one: Readonly<Record<string, Micros>>,
  other: Readonly<Record<string, Micros>>,
): Readonly<Record<string, Micros>> {
  const currencies = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries(
    [...currencies].map((currency) => [currency, (one[currency] ?? 0n) + (other[currency] ?? 0n)]),
  );
}
