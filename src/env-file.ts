import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';

/** Optional file of environment variables in the working directory. */
export const ENV_FILE = '.env';

/**
 * Adds the variables of {@link ENV_FILE}, if it exists, to the environment.
 * @returns the problem if it is unreadable.
 */
export function loadEnvFile(): string[] {
  if (!existsSync(ENV_FILE)) return [];
  try {
    process.loadEnvFile(ENV_FILE);
    return [];
  } catch (thrown) {
    return [`${ENV_FILE}: it cannot be read as a file (${thrown instanceof Error ? thrown.message : String(thrown)})`];
  }
}

/** Returns where the variables come from, for people. */
export function environmentSource(): string {
  return existsSync(ENV_FILE) ? `the environment and ${resolve(ENV_FILE)}` : 'the environment';
}

/**
 * Mode bit: users other than the owner and its group may read.
 * @see https://man7.org/linux/man-pages/man7/inode.7.html
 */
const OTHERS_READ = 0o004;

/** Returns whether every user of this machine can read {@link ENV_FILE}, which contains tokens. */
export function isEnvFileReadable(): boolean {
  // Windows has no such bits.
  const mode = process.platform === 'win32' ? 0 : (statSync(ENV_FILE, { throwIfNoEntry: false })?.mode ?? 0);
  return (mode & OTHERS_READ) !== 0;
}
