/**
 * The kinds of step, each with its own bound on how many run at once:
 * `send` (POSTs), `poll` (GETs of open tasks), `fetch` (downloads of finished clips), `deliver` (uploads to a chat),
 * `notify` (mentions in a chat).
 */
export const LANES = ['send', 'poll', 'fetch', 'deliver', 'notify'] as const;
export type Lane = (typeof LANES)[number];

/**
 * Does one step for the thing called `id`.
 * @returns in how many milliseconds the next step of the same lane is due, or `null` when there is none.
 */
export type Step = (id: string, signal: AbortSignal) => Promise<number | null>;

/**
 * Runs steps at their time, boundedly many at once. A queue only says "step task X": whether a step may do anything
 * is decided by the record in the store, so a step run twice, late or for an ended task does no harm. Nothing in a
 * queue is durable: what has to be stepped after a restart is found in the store's indexes.
 */
export interface WorkQueue {
  /** Names what does the steps of each lane, and lets due ones begin. */
  start(steps: Readonly<Record<Lane, Step>>): void;
  /**
   * Has `id` stepped in `lane` at `atMs`; an earlier plan for the same id and lane is replaced. While that step runs,
   * the new plan waits for its end, and whichever of the two is due earlier holds.
   */
  schedule(lane: Lane, id: string, atMs: number): void;
  /** How many are planned or running, and how late the last begun step was. */
  stats(lane: Lane): { readonly planned: number; readonly running: number; readonly lagMs: number };
  /**
   * Begins no more steps, and aborts the signal of the running ones: polls and fetches end at once (nothing is lost by
   * it), sends, deliveries and notices end when they are done.
   * @param patienceMs how long to wait for that. Default: however long it takes.
   * @returns whether none runs any more.
   */
  drain(patienceMs?: number): Promise<boolean>;
}
