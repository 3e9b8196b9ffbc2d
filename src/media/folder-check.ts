import type { Clock } from '../clock.ts';
import { asDailiesError, DailiesError } from '../errors.ts';
import { tryFolder } from '../pipeline/clips-folder.ts';

/** How long a folder that could be written counts as one that can. */
const GOOD_FOR_MS = 5_000;

/** Whether files can be kept where they are to be kept. */
export interface FolderCheck {
  /** Tries all folders now. @returns what is wrong with each that cannot be written, by name. */
  readonly problems: () => Promise<Readonly<Record<string, string>>>;
  /**
   * Asserts that a clip could be kept, by a try within the last 5 seconds: none is to be paid for that cannot.
   * @throws `disk_full`; `store_unavailable` where a folder was moved away or cannot be written.
   */
  readonly assertWritable: () => Promise<void>;
}

/** @param folders absolute paths by the name that `/readyz` shows. */
export function createFolderCheck(folders: Readonly<Record<string, string>>, clock: Clock): FolderCheck {
  let goodUntilMs = Number.NEGATIVE_INFINITY;
  let trying: Promise<ReadonlyMap<string, DailiesError>> | null = null;

  const tryAll = async (): Promise<ReadonlyMap<string, DailiesError>> => {
    const found = new Map<string, DailiesError>();
    for (const [name, path] of Object.entries(folders)) {
      await tryFolder(path).catch((thrown: unknown) => found.set(name, asDailiesError(thrown, `trying ${path}`)));
    }
    goodUntilMs = found.size === 0 ? clock.monotonic() + GOOD_FOR_MS : Number.NEGATIVE_INFINITY;
    return found;
  };
  // However many ask, one try answers all of them.
  const tried = (): Promise<ReadonlyMap<string, DailiesError>> => {
    trying ??= tryAll().finally(() => {
      trying = null;
    });
    return trying;
  };

  return {
    async problems() {
      return Object.fromEntries([...(await tried())].map(([name, { message }]) => [name, message]));
    },
    async assertWritable() {
      if (clock.monotonic() < goodUntilMs) return;
      const [first] = (await tried()).values();
      if (first === undefined) return;
      const code = first.code === 'disk_full' ? 'disk_full' : 'store_unavailable';
      throw new DailiesError(first.message, { code, retryable: true, cause: first });
    },
  };
}
