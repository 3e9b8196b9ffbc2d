import type { Platform } from '../chat/index.ts';
import type { Store } from '../engine/index.ts';
import { asDailiesError } from '../errors.ts';
import type { FolderCheck } from '../media/index.ts';

/** Dependencies that have to work before this process is ready. */
interface Needed {
  readonly folders: FolderCheck;
  readonly store: Store;
  readonly platforms: ReadonlyMap<string, Platform>;
  /** As in `OpenStorage`. */
  readonly storageProblem: () => Promise<string | null>;
}

/** Checks all dependencies. @returns the reason for each one that fails, by name; empty: this process is ready. */
export async function missing({ store, platforms, folders, storageProblem }: Needed): Promise<Record<string, string>> {
  const found: Record<string, string> = { ...(await folders.problems()) };
  await store.ping().catch((thrown: unknown) => {
    found['store'] = asDailiesError(thrown, 'asking the store').message;
  });
  const storage = await storageProblem();
  if (storage !== null) found['clip storage'] = storage;
  for (const platform of platforms.values()) {
    const reason = platform.notReady();
    if (reason !== null) found[platform.name] = reason;
  }
  return found;
}
