import { DailiesError } from '../../errors.ts';
import { storeUnavailable } from '../failure.ts';

/** @see {@link https://www.sqlite.org/rescode.html} */
const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;

/** What SQLite threw, as data: an error loses its code on its way from thread to thread. */
export interface SqliteFault {
  readonly message: string;
  /** SQLite's extended result code; `null` where it was not SQLite who failed. */
  readonly errcode: number | null;
}

/** Makes data of anything thrown. */
export function faultOf(thrown: unknown): SqliteFault {
  return { message: thrown instanceof Error ? thrown.message : String(thrown), errcode: resultCode(thrown) };
}

/** Makes the error again of which {@link faultOf} made data. */
export function errorOf({ message, errcode }: SqliteFault): Error {
  return Object.assign(new Error(message), { errcode });
}

/** Whether SQLite refused because another connection holds a lock. */
export function isBusy(thrown: unknown): boolean {
  return primaryCode(thrown) === SQLITE_BUSY;
}

/** What SQLite threw, as `disk_full` or `store_unavailable`; both retryable. */
export function sqliteFailure(doing: string, thrown: unknown): DailiesError {
  if (thrown instanceof DailiesError) return thrown;
  if (primaryCode(thrown) !== SQLITE_FULL) return storeUnavailable(doing, thrown);
  return new DailiesError(`${doing}: the disk is full`, { code: 'disk_full', retryable: true, cause: thrown });
}

function resultCode(thrown: unknown): number | null {
  if (!(thrown instanceof Error) || !('errcode' in thrown) || typeof thrown.errcode !== 'number') return null;
  return thrown.errcode;
}

/** The lower byte of SQLite's extended result code. */
function primaryCode(thrown: unknown): number | null {
  const code = resultCode(thrown);
  return code === null ? null : code & 0xff;
}
