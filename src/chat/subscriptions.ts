import { hash } from 'node:crypto';
import { collection, type Store, type Versioned } from '../engine/index.ts';
import type { Person } from '../tasks/index.ts';
import { keyOfTeam, type TeamKey } from '../teams/index.ts';

/** Subscription to completed clips, which are announced in a channel or by direct message to a user. */
export interface Subscription {
  readonly platform: string;
  readonly team: string;
  /** Destination of the notices: a channel, or with `from` the direct messages with `by`. */
  readonly channel: string;
  /** Channel whose clips are announced by direct message. Absent: the whole team's clips, in a channel. */
  readonly from?: string;
  /** Requester of the announced clips: one user, or everyone. */
  readonly who: Person | 'everyone';
  /** User who created the subscription. */
  readonly by: Person;
}

/** Subscriptions to completed clips, kept in the store. */
export interface Subscriptions {
  list(platform: string, team: string): Promise<readonly Subscription[]>;
  /** @returns false when the same subscription exists already. */
  add(subscription: Subscription): Promise<boolean>;
  /** Removes the subscriptions of a team that match `isIt`. @returns the removed ones. */
  remove(
    platform: string,
    team: string,
    isIt: (subscription: Subscription) => boolean,
  ): Promise<readonly Subscription[]>;
}

interface TeamSubscriptions extends Versioned {
  readonly list: readonly Subscription[];
}

const subscriptionsOfTeams = collection<TeamKey, TeamSubscriptions>({
  name: 'subscriptions',
  key: keyOfTeam,
  holds: 'who is notified of finished clips, and where',
  kept: 'until `/video notify off`',
  personal: {
    keyFor: keyOfTeam,
    withdraw: (record, { person }) => ({ ...record, list: record.list.filter((one) => !isAbout(one, person.id)) }),
    export: ({ list }, { person }) =>
      list
        .filter((one) => isAbout(one, person.id))
        .map(({ channel, from, who, by }) => ({
          record: 'subscription',
          channel,
          from,
          who,
          isYours: by.id === person.id,
        })),
  },
});

function isAbout({ by, who }: Subscription, person: string): boolean {
  return by.id === person || (who !== 'everyone' && who.id === person);
}

/** Creates {@link Subscriptions}: one record per team, updated by compare-and-set. */
export function createSubscriptions(store: Pick<Store, 'keyv' | 'commit'>): Subscriptions {
  const change = async <Result>(
    platform: string,
    team: string,
    edit: (list: readonly Subscription[]) => { readonly list: readonly Subscription[]; readonly result: Result },
  ): Promise<Result> => {
    return subscriptionsOfTeams.change<Result>(store, { platform, team }, (record) => {
      const before = record?.list ?? [];
      const { list, result } = edit(before);
      return list === before ? { result } : { value: { list }, result };
    });
  };

  return {
    async list(platform, team) {
      return (await subscriptionsOfTeams.get(store, { platform, team }))?.list ?? [];
    },
    add: (subscription) =>
      change(subscription.platform, subscription.team, (list) => {
        const exists = list.some((other) => subscriptionKey(other) === subscriptionKey(subscription));
        return exists ? { list, result: false } : { list: [...list, subscription], result: true };
      }),
    remove: (platform, team, isIt) =>
      change(platform, team, (list) => {
        const removed = list.filter(isIt);
        const kept = list.filter((other) => !removed.includes(other));
        return { list: removed.length === 0 ? list : kept, result: removed };
      }),
  };
}

/** Returns a subscription's key within its team, in 16 characters: clips and destination, regardless of its creator. */
export function subscriptionKey({ channel, who, from }: Pick<Subscription, 'channel' | 'who' | 'from'>): string {
  const parts = [channel, who === 'everyone' ? null : who.id, from ?? null];
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 16);
}
