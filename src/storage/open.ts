import type { Clock } from '../clock.ts';
import type { Job } from '../engine/index.ts';
import type { Logger } from '../logger.ts';
import { openBucket } from './bucket.ts';
import type { BucketAddress } from './bucket-address.ts';
import { BucketStorage } from './bucket-storage.ts';
import type { ClipStorage } from './clip-storage.ts';
import { FolderStorage } from './folder-storage.ts';
import { StorageHealth } from './storage-health.ts';
import { type UploadsOptions, uploadJobs } from './uploads.ts';

/** Where clips are kept. */
export interface MediaConfig {
  /** Absent: the folder. */
  readonly bucket?: BucketAddress;
  /** Size in bytes of the local copies of clips in a bucket. */
  readonly maxLocalBytes: number;
}

/** The opened storage of clips. */
export interface OpenStorage {
  readonly storage: ClipStorage;
  /** Returns why this process is not ready; `null`: it is. Never rejects. */
  readonly problem: () => Promise<string | null>;
  /**
   * Deletes local copies of clips that are in a bucket, the one used longest ago first; a folder has none. Never rejects.
   * @returns the bytes of them.
   */
  readonly freeCopies: (bytes: number) => Promise<number>;
  readonly jobs: (deps: Omit<UploadsOptions, 'storage'>) => readonly Job[];
  readonly close: () => void;
}

/** Opens the configured storage; nothing is requested from a bucket yet. @param folder an absolute path that exists. */
export async function openStorage(
  { bucket: address, maxLocalBytes }: MediaConfig,
  { folder, clock, logger }: { readonly folder: string; readonly clock: Clock; readonly logger: Logger },
): Promise<OpenStorage> {
  if (address === undefined) {
    const nothing = { problem: async () => null, freeCopies: async () => 0, jobs: () => [], close: () => undefined };
    return { storage: new FolderStorage(folder), ...nothing };
  }
  const bucket = await openBucket(address, () => clock.now());
  const storage = new BucketStorage({ bucket, folder, maxLocalBytes, logger });
  const health = new StorageHealth(bucket, clock);
  return {
    storage,
    problem: () => health.problem(),
    freeCopies: (bytes) => storage.copies.free(bytes),
    jobs: (deps) => uploadJobs({ ...deps, storage }),
    close: () => bucket.close(),
  };
}
