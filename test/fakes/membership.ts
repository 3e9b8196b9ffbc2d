import type { Membership } from '#src/cluster/membership.ts';

/** A membership as a test wants it: who is gone is said by hand. */
export class ScriptedMembership implements Membership {
  readonly owner: string;
  /** What the others think of this process. */
  alive = true;
  /** Since when they have thought so, by the monotonic clock. */
  aliveSinceMs = 0;
  /** The processes that are gone. */
  readonly gone = new Set<string>();
  readonly #exclusive: boolean;

  /** @param exclusive whether everybody else is gone. */
  constructor(owner: string, exclusive: boolean) {
    this.owner = owner;
    this.#exclusive = exclusive;
  }

  isAlive(sinceMs = Infinity): boolean {
    return this.alive && this.aliveSinceMs <= sinceMs;
  }

  async isGone(owner: string): Promise<boolean> {
    return owner !== this.owner && (this.#exclusive || this.gone.has(owner));
  }

  async join(): Promise<void> {}

  async leave(): Promise<void> {}
}
