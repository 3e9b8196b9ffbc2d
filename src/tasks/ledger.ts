import type { Task, TaskId } from './task.ts';

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
  /** Decimal string. */
  readonly amount: string;
  readonly currency: string;
  readonly state: LedgerState;
  readonly createdAtMs: number;
}

/** Reads what was spent. Entries are written with their task in one commit (`tasks/indexes.ts`). */
export interface Ledger {
  /** Returns all entries of a team in a calendar month (UTC), such as `2026-11`; of one user where `user` is given. */
  month(scope: LedgerScope, month: string): Promise<readonly LedgerEntry[]>;
  /** Returns the entries of one task, in the order of its submissions. */
  of(task: Task): readonly LedgerEntry[];
}

/** Scope of a ledger query. Without `user`: the whole team. */
export interface LedgerScope {
  readonly platform: string;
  readonly team: string;
  readonly user?: string | undefined;
}
