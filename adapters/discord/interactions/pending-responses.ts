/** Outcome of the initial response to an interaction. */
export type ResponseOutcome =
  | 'taken'
  /** Too late, or rejected: there is no response to edit. */
  | 'lost'
  /** The request broke off: it may still arrive, or have arrived. */
  | 'unknown';

/**
 * Initial responses in flight in this process, so that no response is edited before it exists. A response of another
 * replica is looked up at Discord.
 */
export class PendingResponses {
  readonly #outcomes = new Map<string, Promise<ResponseOutcome>>();

  /** Registers the outcome of an interaction's initial response; kept until {@link forget}. */
  expect(interaction: string, outcome: Promise<ResponseOutcome>): void {
    this.#outcomes.set(interaction, outcome);
  }

  forget(interaction: string): void {
    this.#outcomes.delete(interaction);
  }

  /**
   * Resolves to the outcome of the initial response; `null` for an interaction that is unknown or no longer in flight.
   */
  async outcome(interaction: string): Promise<ResponseOutcome | null> {
    return (await this.#outcomes.get(interaction)) ?? null;
  }
}
