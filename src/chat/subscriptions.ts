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

/** Subscriptions to completed clips, in the store: one record per team. */
export class Subscriptions {
  readonly #store: Pick<Store, 'keyv' | 'commit'>;

  constructor(store: Pick<Store, 'keyv' | 'commit'>) {
    this.#store = store;
  }

  async list(platform: string, team: string): Promise<readonly Subscription[]> {
    return (await subscriptionsOfTeams.get(this.#store, { platform, team }))?.list ?? [];
  }

  /** @returns false when the same subscription exists already. */
  add(subscription: Subscription): Promise<boolean> {
    return subscriptionsOfTeams.change<boolean>(this.#store, subscription, (record) => {
      const before = record?.list ?? [];
      const exists = before.some((other) => subscriptionKey(other) === subscriptionKey(subscription));
      return exists ? { result: false } : { value: { list: [...before, subscription] }, result: true };
    });
  }

  /** Removes the subscriptions of a team that match `isIt`. @returns the removed ones. */
  remove(
    platform: string,
    team: string,
    isIt: (subscription: Subscription) => boolean,
  ): Promise<readonly Subscription[]> {
    return subscriptionsOfTeams.change<readonly Subscription[]>(this.#store, { platform, team }, (record) => {
      const before = record?.list ?? [];
      const removed = before.filter(isIt);
      if (removed.length === 0) return { result: removed };
      return { value: { list: before.filter((other) => !removed.includes(other)) }, result: removed };
    });
  }
}

/** Returns a subscription's key within its team, in 16 characters: clips and destination, regardless of its creator. */
export function subscriptionKey({ channel, who, from }: Pick<Subscription, 'channel' | 'who' | 'from'>): string {
  const parts = [channel, who === 'everyone' ? null : who.id, from ?? null];
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 16);
}
