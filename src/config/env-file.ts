import { existsSync, statSync } from 'node:fs';
import type { Logger } from '../logger.ts';

/** Where settings may stand beside the environment, in the working directory. */
export const ENV_FILE = '.env';

/** Adds what stands in {@link ENV_FILE}, where there is one, to the environment. @returns why it cannot be read, if so. */
export function loadEnvFile(): string[] {
  if (!existsSync(ENV_FILE)) return [];
  try {
    process.loadEnvFile(ENV_FILE);
    return [];
  } catch (thrown) {
    return [`${ENV_FILE}: it cannot be read as a file (${thrown instanceof Error ? thrown.message : String(thrown)})`];
  }
}

/** Access by users other than the owner and its group. @see https://man7.org/linux/man-pages/man7/inode.7.html */
const OTHERS_READ = 0o004;

/** Warns of an {@link ENV_FILE} that every user of this machine can read: tokens are in it. */
export function warnOfReadableEnvFile(logger: Logger): void {
  // Windows has no such bits.
  const mode = process.platform === 'win32' ? 0 : (statSync(ENV_FILE, { throwIfNoEntry: false })?.mode ?? 0);
  if ((mode & OTHERS_READ) === 0) return;
  logger.warn(
    { file: ENV_FILE, fix: `chmod 600 ${ENV_FILE}` },
    'every user of this machine can read the file of settings',
  );
}
