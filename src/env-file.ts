import { existsSync } from 'node:fs';

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
