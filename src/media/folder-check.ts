import { mkdir, mkdtemp, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { asDailiesError, DailiesError, diskFull } from '../errors.ts';
import { SingleFlight } from '../single-flight.ts';

/** TTL of a successful check. */
const CACHE_TTL_MS = 5_000;

const NOT_ALLOWED = 'this user may not write there; give it the right to';
const IN_THE_WAY = 'there is a file in its place; move it away';
/** @see https://nodejs.org/api/errors.html#common-system-errors */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: NOT_ALLOWED,
  EPERM: NOT_ALLOWED,
  EROFS: 'that disk is read-only; mount it for writing',
  EEXIST: IN_THE_WAY,
  ENOTDIR: IN_THE_WAY,
  ENOENT: 'the folder around it was moved or deleted; put it back',
};

/** Health check of the folders that files are written to. Concurrent callers share one check. */
export class FolderCheck {
  readonly #folders: Readonly<Record<string, string>>;
  readonly #clock: Clock;
  readonly #checking = new SingleFlight<'all', ReadonlyMap<string, DailiesError>>();
  #validUntilMs = Number.NEGATIVE_INFINITY;

  /** @param folders absolute paths by the name that `/readyz` shows. */
  constructor(folders: Readonly<Record<string, string>>, clock: Clock) {
    this.#folders = folders;
    this.#clock = clock;
  }

  /** Checks all folders now. @returns the reason for each one that is not writable, by name. */
  async problems(): Promise<Readonly<Record<string, string>>> {
    return Object.fromEntries([...(await this.#check())].map(([name, { message }]) => [name, message]));
  }

  /**
   * Asserts that a clip can be stored, by a check within the last 5 seconds: a clip that cannot must not be paid for.
   * @throws `disk_full`; `store_unavailable` where a folder was moved away or is not writable.
   */
  async assertWritable(): Promise<void> {
    if (this.#clock.monotonic() < this.#validUntilMs) return;
    const [first] = (await this.#check()).values();
    if (first === undefined) return;
    const code = first.code === 'disk_full' ? 'disk_full' : 'store_unavailable';
    throw new DailiesError(first.message, { code, retryable: true, cause: first });
  }

  #check(): Promise<ReadonlyMap<string, DailiesError>> {
    return this.#checking.run('all', async () => {
      const found = new Map<string, DailiesError>();
      for (const [name, path] of Object.entries(this.#folders)) {
        await tryFolder(path).catch((thrown: unknown) => found.set(name, asDailiesError(thrown, `trying ${path}`)));
      }
      this.#validUntilMs = found.size === 0 ? this.#clock.monotonic() + CACHE_TTL_MS : Number.NEGATIVE_INFINITY;
      return found;
    });
  }
}

/**
 * Creates the clips folder if it is missing and checks, before any clip is paid for, that files can be written to it. A
 * full disk is accepted. @throws `internal` where files cannot be written.
 */
export async function prepareClipsFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
    await rmdir(await mkdtemp(join(path, '.trying-')));
  } catch (thrown) {
    const error = failed(`preparing ${path}, where clips are kept`, thrown);
    // It can clear up at runtime: a download is retried until the disk has space.
    if (error.code !== 'disk_full') throw error;
  }
}

/**
 * Checks that files can be written to a folder. Creates only the folder itself: a missing parent folder means that a
 * volume is gone. @throws `disk_full`, retryable; `internal` where files cannot be written for another reason.
 */
async function tryFolder(path: string): Promise<void> {
  try {
    await mkdir(path).catch((thrown: unknown) => {
      if (codeOf(thrown) !== 'EEXIST') throw thrown;
    });
    await rmdir(await mkdtemp(join(path, '.trying-')));
  } catch (thrown) {
    throw failed(`writing to ${path}`, thrown);
  }
}

function failed(operation: string, thrown: unknown): DailiesError {
  const full = diskFull(thrown, operation);
  if (full !== null) return full;
  const reason = REASONS[codeOf(thrown)] ?? (thrown instanceof Error ? thrown.message : String(thrown));
  return new DailiesError(`${operation}: ${reason}`, { code: 'internal', retryable: false, cause: thrown });
}

function codeOf(thrown: unknown): string {
  return (thrown as NodeJS.ErrnoException).code ?? '';
}
