import type { Task, TaskId } from './task.ts';

/** What became of the money of one send. */
export type LedgerState =
  /** Ordered; the service has not finished it. */
  | 'reserved'
  /** Finished: billed. */
  | 'settled'
  /** Failed: the service refunds it, under its own rules. */
  | 'refunded'
  /** Provably never created: cost nothing. */
  | 'released'
  /** Nobody can tell whether the service took it. */
  | 'in_doubt';

/** One send of one task, in money. */
export interface LedgerEntry {
  readonly task: TaskId;
  /** Which send of the task, from 1. */
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

/** Reads what was spent. Entries are written with the task they belong to, in one commit (`tasks/records.ts`). */
export interface Ledger {
  /** All entries of a team in a calendar month (UTC), such as `2026-11`; of one person where `user` is given. */
  month(scope: LedgerScope, month: string): Promise<readonly LedgerEntry[]>;
  /** The entries of one task, by send. */
  of(task: Task): readonly LedgerEntry[];
}

/** Whose spend. Without `user`: the whole team's. */
export interface LedgerScope {
  readonly platform: string;
  readonly team: string;
  readonly user?: string | undefined;
}
