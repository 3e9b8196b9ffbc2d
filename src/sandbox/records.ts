import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { DailiesError } from '../errors.ts';
import type { AspectRatio, MediaKind, Resolution } from '../videos/index.ts';
import type { Steering } from './steering.ts';

export interface SandboxTask {
  readonly id: string;
  readonly status: 'queued' | 'in_progress' | 'completed' | 'failed';
  readonly model: string;
  readonly prompt: string;
  readonly seconds: number;
  readonly aspectRatio: AspectRatio;
  readonly resolution: Resolution;
  readonly media: Readonly<Record<MediaKind, readonly string[]>>;
  readonly steering: Steering | null;
  readonly createdAtMs: number;
  /** Time it completed or failed. */
  readonly endedAtMs?: number;
  readonly failure?: { readonly code: string; readonly message: string };
}

/** Entry of the ledger: a charge when a task is created, a refund when it failed. */
export interface LedgerLine {
  readonly task: string;
  readonly kind: 'charge' | 'refund';
  /** Decimal string, never negative. */
  readonly amount: string;
  readonly currency: string;
  readonly atMs: number;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS tasks (id TEXT PRIMARY KEY, status TEXT NOT NULL, record TEXT NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS open_tasks ON tasks (status) WHERE status IN ('queued', 'in_progress');
  CREATE TABLE IF NOT EXISTS ledger (task TEXT NOT NULL, kind TEXT NOT NULL, amount TEXT NOT NULL,
    currency TEXT NOT NULL, at_ms INTEGER NOT NULL, PRIMARY KEY (task, kind)) STRICT;
`;

/** Timeout for a previous process to release the file. */
const BUSY_TIMEOUT_MS = 2_000;

/**
 * Tasks and ledger of the embedded service, in an SQLite file separate from the bot's, so that it runs without the bot.
 * Writes are durable (kill -9, power loss); a task and its ledger entry are written in one transaction.
 */
export class SandboxRecords {
  readonly #database: DatabaseSync;

  /**
   * Opens or creates the file and locks it exclusively; waits up to 2 seconds for another process to release it.
   * @throws DailiesError `store_locked` while another process holds it, `store_unavailable` where it cannot be used.
   */
  constructor(path: string) {
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
      this.#database = database;
      this.#database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
      this.#database.exec(SCHEMA);
    } catch (thrown) {
      database?.close();
      const isLocked = thrown instanceof Error && /locked/.test(thrown.message);
      const code = isLocked ? 'store_locked' : 'store_unavailable';
      throw new DailiesError(`opening ${path}`, { code, retryable: isLocked, cause: thrown });
    }
  }

  create(task: SandboxTask, amount: string, currency: string): void {
    this.#transaction([{ task: task.id, kind: 'charge', amount, currency, atMs: task.createdAtMs }], () => {
      this.#database
        .prepare('INSERT INTO tasks (id, status, record) VALUES (?, ?, ?)')
        .run(task.id, task.status, JSON.stringify(task));
    });
  }

  /** Updates a task; a failed one is refunded in the same transaction. */
  update(task: SandboxTask): void {
    const charge = task.status === 'failed' ? this.#charge(task.id) : undefined;
    const refund: readonly LedgerLine[] =
      charge === undefined ? [] : [{ ...charge, kind: 'refund', atMs: task.endedAtMs ?? charge.atMs }];
    this.#transaction(refund, () => {
      this.#database
        .prepare('UPDATE tasks SET status = ?, record = ? WHERE id = ?')
        .run(task.status, JSON.stringify(task), task.id);
    });
  }

  find(id: string): SandboxTask | undefined {
    const row = this.#database.prepare('SELECT record FROM tasks WHERE id = ?').get(id);
    return row === undefined ? undefined : asTask(row);
  }

  /** Returns the tasks that have not ended, oldest first. */
  open(): readonly SandboxTask[] {
    const rows = this.#database.prepare(
      `SELECT record FROM tasks WHERE status IN ('queued', 'in_progress') ORDER BY rowid`,
    );
    return rows.all().map(asTask);
  }

  /** Returns every charge and refund, oldest first. */
  ledger(): readonly LedgerLine[] {
    return this.#database.prepare('SELECT * FROM ledger ORDER BY rowid').all().map(asLine);
  }

  /** Removes prompts and references of the tasks that ended before a time; id, state and ledger stay. */
  removeContent(beforeMs: number): void {
    this.#database
      .prepare(
        `UPDATE tasks SET record = json_set(record, '$.prompt', '', '$.media', json('{"image":[],"audio":[],"video":[]}'))
         WHERE status NOT IN ('queued', 'in_progress') AND json_extract(record, '$.endedAtMs') < ?
           AND json_extract(record, '$.prompt') <> ''`,
      )
      .run(beforeMs);
  }

  close(): void {
    this.#database.close();
  }

  #charge(task: string): LedgerLine | undefined {
    const row = this.#database.prepare(`SELECT * FROM ledger WHERE task = ? AND kind = 'charge'`).get(task);
    return row === undefined ? undefined : asLine(row);
  }

  #transaction(lines: readonly LedgerLine[], write: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      write();
      const insert = this.#database.prepare('INSERT INTO ledger VALUES (?, ?, ?, ?, ?)');
      for (const { task, kind, amount, currency, atMs } of lines) insert.run(task, kind, amount, currency, atMs);
      this.#database.exec('COMMIT');
    } catch (thrown) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw thrown;
    }
  }
}

function asTask(row: Record<string, SQLOutputValue>): SandboxTask {
  return JSON.parse(String(row['record'])) as SandboxTask;
}

function asLine(row: Record<string, SQLOutputValue>): LedgerLine {
  return {
    task: String(row['task']),
    kind: row['kind'] === 'refund' ? 'refund' : 'charge',
    amount: String(row['amount']),
    currency: String(row['currency']),
    atMs: Number(row['at_ms']),
  };
}
