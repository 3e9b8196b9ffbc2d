import type { Membership } from '#src/engine/cluster/membership.ts';

/** A membership that a test scripts. */
export class ScriptedMembership implements Pick<Membership, keyof Membership> {
  readonly owner: string;
  /** True if the other replicas consider this process alive. */
  alive = true;
  /** Time since which they have considered it alive, by the monotonic clock. */
  aliveSinceMs = 0;
  /** Owners whose membership expired. */
  readonly gone = new Set<string>();
  readonly #exclusive: boolean;

  /** @param exclusive true if every other replica is gone. */
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
