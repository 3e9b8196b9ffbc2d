import type { Store, Versioned } from '../store/store.ts';
import type { Person } from '../tasks/task.ts';

/** Somebody wants to be told of finished clips in a channel. */
export interface Subscription {
  readonly platform: string;
  readonly team: string;
  /** Where it is told. */
  readonly channel: string;
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
  /** Removes what tells of `who` in `channel`; of anybody where `who` is null. @returns what was removed. */
  remove(
    platform: string,
    team: string,
    channel: string,
    who: Person | 'everyone' | null,
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
        const isThere = list.some((other) => tellsOf(other, subscription.channel, subscription.who));
        return isThere ? { list, result: false } : { list: [...list, subscription], result: true };
      }),
    remove: (platform, team, channel, who) =>
      change(platform, team, (list) => {
        const removed = list.filter((other) => tellsOf(other, channel, who));
        const kept = list.filter((other) => !removed.includes(other));
        return { list: removed.length === 0 ? list : kept, result: removed };
      }),
  };
}

interface TeamSubscriptions extends Versioned {
  readonly list: readonly Subscription[];
}

function tellsOf(subscription: Subscription, channel: string, who: Person | 'everyone' | null): boolean {
  if (subscription.channel !== channel) return false;
  if (who === null) return true;
  const whose = (of: Person | 'everyone'): string => (of === 'everyone' ? of : `person ${of.id}`);
  return whose(subscription.who) === whose(who);
}
