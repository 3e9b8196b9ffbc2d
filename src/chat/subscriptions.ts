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
