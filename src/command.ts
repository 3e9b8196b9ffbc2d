import { loadEnvFile } from './env-file.ts';
import { asDailiesError } from './errors.ts';

/** What an operator's command cannot do; `message` is one sentence for the person who ran it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** Runs an operator's command with the variables of `.env`. What it throws is printed, and the process exits with 1. */
export async function runCommand(doing: string, work: () => Promise<void>): Promise<void> {
  try {
    const problems = loadEnvFile();
    if (problems.length > 0) throw new CommandError(problems.join('\n'));
    await work();
  } catch (thrown) {
    const sentence = thrown instanceof CommandError ? thrown.message : asDailiesError(thrown, doing).message;
    process.stderr.write(`${sentence}\n`);
    process.exitCode = 1;
  }
}
