import type { Clock } from '../clock.ts';
import { asDailiesError, DailiesError } from '../errors.ts';
import { tryFolder } from '../pipeline/clips-folder.ts';

/** TTL of a successful check. */
const CACHE_TTL_MS = 5_000;

/** Health check of the folders that files are written to. */
export interface FolderCheck {
  /** Checks all folders now. @returns the reason for each one that is not writable, by name. */
  readonly problems: () => Promise<Readonly<Record<string, string>>>;
  /**
   * Asserts that a clip can be stored, by a check within the last 5 seconds: a clip that cannot must not be paid for.
   * @throws `disk_full`; `store_unavailable` where a folder was moved away or is not writable.
   */
  readonly assertWritable: () => Promise<void>;
}

/** Creates the check. @param folders absolute paths by the name that `/readyz` shows. */
export function createFolderCheck(folders: Readonly<Record<string, string>>, clock: Clock): FolderCheck {
  let validUntilMs = Number.NEGATIVE_INFINITY;
  let inFlight: Promise<ReadonlyMap<string, DailiesError>> | null = null;

  const tryAll = async (): Promise<ReadonlyMap<string, DailiesError>> => {
    const found = new Map<string, DailiesError>();
    for (const [name, path] of Object.entries(folders)) {
      await tryFolder(path).catch((thrown: unknown) => found.set(name, asDailiesError(thrown, `trying ${path}`)));
    }
    validUntilMs = found.size === 0 ? clock.monotonic() + CACHE_TTL_MS : Number.NEGATIVE_INFINITY;
    return found;
  };
  // Concurrent callers share one check (single flight).
  const check = (): Promise<ReadonlyMap<string, DailiesError>> => {
    inFlight ??= tryAll().finally(() => {
      inFlight = null;
    });
    return inFlight;
  };

  return {
    async problems() {
      return Object.fromEntries([...(await check())].map(([name, { message }]) => [name, message]));
    },
    async assertWritable() {
      if (clock.monotonic() < validUntilMs) return;
      const [first] = (await check()).values();
      if (first === undefined) return;
      const code = first.code === 'disk_full' ? 'disk_full' : 'store_unavailable';
      throw new DailiesError(first.message, { code, retryable: true, cause: first });
    },
  };
}
