import { DailiesError } from '../../../errors.ts';
import { storeUnavailable } from '../failure.ts';

/** @see {@link https://www.sqlite.org/rescode.html} */
const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;

/** An error of SQLite as data: an `Error` loses its code when it is posted between threads. */
export interface SqliteFault {
  readonly message: string;
  /** SQLite's extended result code; `null` where SQLite was not the cause. */
  readonly errcode: number | null;
}

/** Converts anything thrown to data. */
export function faultOf(thrown: unknown): SqliteFault {
  return { message: thrown instanceof Error ? thrown.message : String(thrown), errcode: resultCode(thrown) };
}

/** Converts the data of {@link faultOf} back to an error. */
export function errorOf({ message, errcode }: SqliteFault): Error {
  return Object.assign(new Error(message), { errcode });
}

/** Returns whether SQLite failed because another connection holds a lock. */
export function isBusy(thrown: unknown): boolean {
  return primaryCode(thrown) === SQLITE_BUSY;
}

/** Converts an error of SQLite to `disk_full` or `store_unavailable`; both retryable. */
export function sqliteFailure(operation: string, thrown: unknown): DailiesError {
  if (thrown instanceof DailiesError) return thrown;
  if (primaryCode(thrown) !== SQLITE_FULL) return storeUnavailable(operation, thrown);
  return new DailiesError(`${operation}: the disk is full`, { code: 'disk_full', retryable: true, cause: thrown });
}

function resultCode(thrown: unknown): number | null {
  if (!(thrown instanceof Error) || !('errcode' in thrown) || typeof thrown.errcode !== 'number') return null;
  return thrown.errcode;
}

/** Returns the primary result code, the lower byte of SQLite's extended one. */
function primaryCode(thrown: unknown): number | null {
  const code = resultCode(thrown);
  return code === null ? null : code & 0xff;
}
