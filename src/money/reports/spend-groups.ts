import { amountOf, type LedgerEntry, type LedgerState, type Micros, microsOf, type Price } from '../../tasks/index.ts';

/** Property by which spend is grouped. */
export type SpendKey = 'person' | 'model' | 'channel';

/** State in which the money of a send is. `awaiting_refund`: it failed, and is used until a statement shows the refund. */
export type MoneyState = LedgerState | 'awaiting_refund';

/**
 * State in which a group counts an entry. `blind`: in a comparison that is not revealed, whatever its state, which would tell
 * the model of one that failed.
 */
export type SpendState = MoneyState | 'blind';

/** Number of ledger entries, and their amounts by currency in the order of first appearance. */
interface StateTotal {
  readonly clips: number;
  readonly amounts: readonly Price[];
}

/** Entries of one person, model or channel. */
export interface SpendGroup {
  readonly id: string;
  /** The person's last known name; the id of a model or channel. */
  readonly name: string;
  /** Totals by state; a state without entries has none. */
  readonly totals: ReadonlyMap<SpendState, StateTotal>;
}

/** Adds up ledger entries one by one, so that the entries of a large month need not be in memory at once. */
export class SpendGroups {
  readonly #all = new Totals<SpendState>();
  readonly #groups: Readonly<Record<SpendKey, Map<string, { name: string; readonly totals: Totals<SpendState> }>>> = {
    person: new Map(),
    model: new Map(),
    channel: new Map(),
  };

  add(entry: LedgerEntry): void {
    const state = entry.isBlind === true ? 'blind' : moneyStateOf(entry);
    this.#all.add(state, entry);
    const { user, userName, model, channel } = entry;
    const names = { person: [user, userName], model: [model, model], channel: [channel, channel] } as const;
    for (const key of entry.isBlind === true ? (['person', 'channel'] as const) : KEYS) {
      const [id, name] = names[key];
      const group = this.#groups[key].get(id) ?? { name, totals: new Totals<SpendState>() };
      group.name = name;
      group.totals.add(state, entry);
      this.#groups[key].set(id, group);
    }
  }

  get totals(): ReadonlyMap<SpendState, StateTotal> {
    return this.#all.byState();
  }

  sizeOf(key: SpendKey): number {
    return this.#listed(key).length;
  }

  /**
   * Returns a page of the groups, highest billed amount first, then highest open amount; amounts in different currencies
   * are compared by their numbers only.
   */
  page(key: SpendKey, { offset, length }: { readonly offset: number; readonly length: number }): readonly SpendGroup[] {
    const sorted = this.#listed(key).toSorted(
      (one, other) =>
        Number(other.totals.of(BILLED).amount - one.totals.of(BILLED).amount) ||
        Number(other.totals.of(OPEN).amount - one.totals.of(OPEN).amount),
    );
    return sorted
      .slice(offset, offset + length)
      .map(({ id, name, totals }) => ({ id, name, totals: totals.byState() }));
  }

  /** Returns the groups that something was, or may be, charged for, besides blind clips. */
  #listed(key: SpendKey) {
    const groups = [...this.#groups[key]].map(([id, { name, totals }]) => ({ id, name, totals }));
    return groups.filter(({ totals }) => totals.hasAny([...BILLED, ...OPEN]));
  }
}

const KEYS = ['person', 'model', 'channel'] as const satisfies readonly SpendKey[];
const BILLED: readonly SpendState[] = ['settled'];
const OPEN: readonly SpendState[] = ['reserved', 'awaiting_refund', 'in_doubt'];

/** Numbers and amounts of ledger entries, by state and currency. */
export class Totals<State extends SpendState> {
  readonly #states = new Map<State, Map<string, { clips: number; amount: Micros }>>();

  add(state: State, { amount, currency }: Price): void {
    const byCurrency = this.#states.get(state) ?? new Map<string, { clips: number; amount: Micros }>();
    const total = byCurrency.get(currency) ?? { clips: 0, amount: 0n };
    total.clips += 1;
    total.amount += microsOf(amount);
    this.#states.set(state, byCurrency.set(currency, total));
  }

  get currencies(): ReadonlySet<string> {
    return new Set([...this.#states.values()].flatMap((byCurrency) => [...byCurrency.keys()]));
  }

  hasAny(states: readonly State[]): boolean {
    return states.some((state) => this.#states.has(state));
  }

  /** Adds up some states. @param currency Default: all, by their numbers only. */
  of(states: readonly State[], currency?: string): { readonly clips: number; readonly amount: Micros } {
    const sum = { clips: 0, amount: 0n };
    for (const state of states) {
      for (const [each, { clips, amount }] of this.#states.get(state) ?? []) {
        if (currency !== undefined && each !== currency) continue;
        sum.clips += clips;
        sum.amount += amount;
      }
    }
    return sum;
  }

  byState(): ReadonlyMap<State, StateTotal> {
    const totals = [...this.#states].map(([state, byCurrency]): [State, StateTotal] => [
      state,
      {
        clips: this.of([state]).clips,
        amounts: [...byCurrency].map(([currency, { amount }]) => ({ amount: amountOf(amount), currency })),
      },
    ]);
    return new Map(totals);
  }
}

/** Returns the state of a send's money: by the decision on it, else by the task's events. */
export function moneyStateOf({
  state,
  booked,
  counted,
}: Pick<LedgerEntry, 'state' | 'booked' | 'counted'>): MoneyState {
  return booked ?? (state === 'refunded' && counted === 'held' ? 'awaiting_refund' : state);
}
