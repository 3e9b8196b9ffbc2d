import { hash } from 'node:crypto';
import type { Store, Versioned } from '../store/store.ts';
import type { Person } from '../tasks/task.ts';

/** Finished clips are announced in a channel, or to somebody by direct message. */
export interface Subscription {
  readonly platform: string;
  readonly team: string;
  /** Where it is told: a channel, or with `from` a direct message with `by`. */
  readonly channel: string;
  /** The channel whose clips are announced by direct message; absent: those of the whole team, in a channel. */
  readonly from?: string;
  /** Whose clips: one person's, or everyone's. */
  readonly who: Person | 'everyone';
  /** Who asked for it. */
  readonly by: Person;
}

/** Who is told of completions, kept in the store. */
export interface Subscriptions {
  list(platform: string, team: string): Promise<readonly Subscription[]>;
  /** @returns false when just this was there already. */
  add(subscription: Subscription): Promise<boolean>;
  /** Removes the subscriptions of a team that `isIt` picks. @returns what was removed. */
  remove(
    platform: string,
    team: string,
    isIt: (subscription: Subscription) => boolean,
  ): Promise<readonly Subscription[]>;
}

/** Subscriptions of a team in one record each, changed by comparing before writing. */
export function createSubscriptions(store: Store): Subscriptions {
  const records = store.keyv('subscriptions');

  const change = async <Result>(
    platform: string,
    team: string,
    edit: (list: readonly Subscription[]) => { readonly list: readonly Subscription[]; readonly result: Result },
  ): Promise<Result> => {
    const key = `${platform}:${team}`;
    for (;;) {
      const record = await records.get<TeamSubscriptions>(key);
      const before = record?.list ?? [];
      const { list, result } = edit(before);
      if (list === before) return result;
      const value: TeamSubscriptions = { revision: (record?.revision ?? 0) + 1, list };
      const expected = record?.revision ?? 'absent';
      if (await store.commit({ records: [{ namespace: 'subscriptions', key, value, expected }] })) return result;
    }
  };

  return {
    async list(platform, team) {
      return (await records.get<TeamSubscriptions>(`${platform}:${team}`))?.list ?? [];
    },
    add: (subscription) =>
      change(subscription.platform, subscription.team, (list) => {
        const isThere = list.some((other) => subscriptionKey(other) === subscriptionKey(subscription));
        return isThere ? { list, result: false } : { list: [...list, subscription], result: true };
      }),
    remove: (platform, team, isIt) =>
      change(platform, team, (list) => {
        const removed = list.filter(isIt);
        const kept = list.filter((other) => !removed.includes(other));
        return { list: removed.length === 0 ? list : kept, result: removed };
      }),
  };
}

interface TeamSubscriptions extends Versioned {
  readonly list: readonly Subscription[];
}

/** Names a subscription of a team, in 16 characters: what is told where; who asked for it makes no difference. */
export function subscriptionKey({ channel, who, from }: Pick<Subscription, 'channel' | 'who' | 'from'>): string {
  const parts = [channel, who === 'everyone' ? null : who.id, from ?? null];
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 16);
}
