import type { Membership } from '#src/tasks/membership.ts';

/** A membership as a test wants it: who is gone is said by hand. */
export class ScriptedMembership implements Membership {
  readonly owner: string;
  /** What the others think of this process. */
  alive = true;
  /** The processes that are gone. */
  readonly gone = new Set<string>();
  readonly #exclusive: boolean;

  /** @param exclusive whether everybody else is gone. */
  constructor(owner: string, exclusive: boolean) {
    this.owner = owner;
    this.#exclusive = exclusive;
  }

  isAlive(): boolean {
    return this.alive;
  }

  async isGone(owner: string): Promise<boolean> {
    return owner !== this.owner && (this.#exclusive || this.gone.has(owner));
  }

  async join(): Promise<void> {}

  async leave(): Promise<void> {}
}
