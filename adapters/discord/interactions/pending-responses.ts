/** What became of the first answer to an interaction. */
export type ResponseOutcome =
  | 'taken'
  /** Too late, or refused: there is no answer that could be edited. */
  | 'lost'
  /** It broke off: it may arrive, or have arrived. */
  | 'unknown';

/**
 * The interactions that are being answered right now by this process, so that nobody here edits an answer that is not
 * there yet. What another replica answers is looked for at Discord.
 */
export class PendingResponses {
  readonly #outcomes = new Map<string, Promise<ResponseOutcome>>();

  /** Says what becomes of an interaction's first answer. It is remembered until {@link forget}. */
  expect(interaction: string, outcome: Promise<ResponseOutcome>): void {
    this.#outcomes.set(interaction, outcome);
  }

  forget(interaction: string): void {
    this.#outcomes.delete(interaction);
  }

  /** Waits for the first answer; `null` for an interaction of earlier, or none at all. */
  async outcome(interaction: string): Promise<ResponseOutcome | null> {
    return (await this.#outcomes.get(interaction)) ?? null;
  }
}
