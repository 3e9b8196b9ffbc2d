import type { BookedState, SpendPart } from './money.ts';
import type { TaskId } from './task.ts';

/** State of the price of one submission. */
export type LedgerState =
  /** Ordered, and not finished by the service. */
  | 'reserved'
  /** Finished: billed. */
  | 'settled'
  /** Failed: the service refunds it, under its own rules. */
  | 'refunded'
  /** Provably never created: cost nothing. */
  | 'released'
  /** Unknown whether the service accepted and billed it. */
  | 'in_doubt';

/** Price of one submission of a task. */
export interface LedgerEntry {
  readonly task: TaskId;
  /** Number of the submission, from 1. */
  readonly send: number;
  readonly platform: string;
  readonly team: string;
  readonly channel: string;
  readonly user: string;
  readonly userName: string;
  readonly model: string;
  /** Month that it counts in, such as `2026-11`, in the team's time zone. */
  readonly period: string;
  /** Price of this submission, a decimal string; what the service has billed, where it says so. */
  readonly amount: string;
  /** Price by the catalog, where the service has billed another amount. Absent: `amount` is that. */
  readonly listed?: string;
  readonly currency: string;
  /** State by the task's own events. */
  readonly state: LedgerState;
  /** Decision of a person or a statement; takes precedence over `state`. */
  readonly booked?: BookedState;
  /** Part of the sums that holds the amount; absent: none. */
  readonly counted?: SpendPart;
  /** Its comparison is not revealed: nobody is told the model, nor what would tell it. */
  readonly isBlind?: true;
  /** Time of the purchase: the order, or *Send again*. */
  readonly createdAtMs: number;
}

/** Scope of a ledger query. Without `user`: the whole team. */
export interface LedgerScope {
  readonly platform: string;
  readonly team: string;
  readonly user?: string | undefined;
}
