import { existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Config } from '../../config/index.ts';

/** Share of the disk that the data folder may fill where `MAX_DATA_BYTES` is not set. */
const SHARE_OF_DISK = 0.8;

/**
 * Returns the limit of the data folder in bytes: what `MAX_DATA_BYTES` says, by default 80 % of the size of its disk.
 * `null`: no limit, by `MAX_DATA_BYTES=0` or since the file system tells no size, as some network file systems do.
 */
export function dataLimit({ dataDir, maxDataBytes }: Pick<Config, 'dataDir' | 'maxDataBytes'>): number | null {
  const bytes = maxDataBytes ?? Math.floor(SHARE_OF_DISK * diskBytes(resolve(dataDir)));
  return bytes === 0 ? null : bytes;
}

/** Returns the size of the disk in bytes; 0: unknown. A folder that is not there yet is created on the disk around it. */
function diskBytes(folder: string): number {
  if (!existsSync(folder) && dirname(folder) !== folder) return diskBytes(dirname(folder));
  try {
    const { blocks, bsize } = statfsSync(folder);
    return blocks * bsize;
  } catch {
    return 0;
  }
}
