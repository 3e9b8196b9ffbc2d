import type { Clock } from '../../clock.ts';
import type { Store } from '../../engine/index.ts';
import { dayOf, daysBefore, previousPeriod, startOfDay } from '../../period.ts';
import { ledgerPages } from '../../pipeline/index.ts';
import { amountOf, type Micros, microsOf, type Price } from '../../tasks/index.ts';
import type { Notices, NoticeTeam } from '../notices.ts';
import { kindOf } from '../reports/spend-of.ts';

/** Options of {@link UnusualSpendAlerts}. */
interface UnusualSpendOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly notices: Pick<Notices, 'claim'>;
}

const DAYS = 14;
/** Days with spend that make a median usable. */
const MIN_DAYS = 3;
/** Multiple of the median from which on a day is unusual. */
const FACTOR = 3n;

/** Alerts a team, at most once a day, when the day's spend is far above that of the days before. */
export class UnusualSpendAlerts {
  readonly #options: UnusualSpendOptions;

  constructor(options: UnusualSpendOptions) {
    this.#options = options;
  }

  /** Checks one team. @param floor least amount that is reported. @throws `store_unavailable` */
  async check(of: NoticeTeam, timeZone: string, floor: Price): Promise<void> {
    const { store, clock, notices } = this.#options;
    const today = dayOf(clock.now(), timeZone);
    const { amounts, clips } = await this.#spendByDay(of, { today, timeZone, currency: floor.currency });
    const [amount = 0n, ...before] = amounts;
    const usable = before.filter((one) => one > 0n);
    const usual = medianOf(usable);
    if (usable.length < MIN_DAYS || amount < microsOf(floor.amount) || amount < FACTOR * usual) return;
    const { currency } = floor;
    const notice = { day: today, currency, amount: amountOf(amount), clips, usual: amountOf(usual) };
    const key = ['unusual', of.platform, of.team, today];
    await store.commit(notices.claim({ key, of, to: { kind: 'team' }, notice: { kind: 'unusual_spend', ...notice } }));
  }

  /** Returns the amounts of today and of each day before it, latest first, and the number of today's clips. */
  async #spendByDay(
    of: NoticeTeam,
    { today, timeZone, currency }: { readonly today: string; readonly timeZone: string; readonly currency: string },
  ): Promise<{ readonly amounts: readonly Micros[]; readonly clips: number }> {
    const starts = Array.from({ length: DAYS + 1 }, (_, back) => startOfDay(daysBefore(today, back), timeZone));
    const amounts: Micros[] = starts.map(() => 0n);
    let clips = 0;
    const month = today.slice(0, 7);
    const oldestMs = starts.at(-1) ?? 0;
    for (const period of [previousPeriod(month), month]) {
      for await (const entries of ledgerPages(this.#options.store, of, period, { min: oldestMs })) {
        for (const entry of entries) {
          const kind = kindOf(entry);
          if (entry.currency !== currency || kind === 'refunded' || kind === 'released') continue;
          const back = starts.findIndex((startMs) => entry.createdAtMs >= startMs);
          if (back < 0) continue;
          amounts[back] = (amounts[back] ?? 0n) + microsOf(entry.amount);
          if (back === 0) clips += 1;
        }
      }
    }
    return { amounts, clips };
  }
}

/** Returns the median, of an even number the mean of the middle two; 0 for none. */
function medianOf(amounts: readonly Micros[]): Micros {
  const sorted = [...amounts].sort((a, b) => Number(a - b));
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0n;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0n) + upper) / 2n;
}
