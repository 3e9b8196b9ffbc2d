import { rm } from 'node:fs/promises';
import type { Clock } from '../clock.ts';
import type { Job } from '../engine/index.ts';
import { filesIn } from '../files.ts';
import type { SandboxRecords } from './records.ts';

interface SandboxExpiryOptions {
  readonly records: Pick<SandboxRecords, 'removeContent'>;
  readonly clipsDir: string;
  readonly clock: Clock;
}

/** Age from which on the sandbox no longer has a clip. Services keep their results for hours. */
export const SANDBOX_KEEPS_MS = 7 * 24 * 3_600_000;

/** Returns the job that deletes clips, prompts and references of the sandbox after a week; its ledger, states and ids stay. */
export function sandboxExpiry({ records, clipsDir, clock }: SandboxExpiryOptions): Job {
  return {
    name: 'sandbox_sweep',
    // The first one is an hour after the start: a bot that was off for longer first fetches the clips that it has ordered.
    everyMs: 3_600_000,
    leaseMs: null,
    async run() {
      const beforeMs = clock.now() - SANDBOX_KEEPS_MS;
      records.removeContent(beforeMs);
      for (const { path, atMs } of await filesIn(clipsDir)) if (atMs < beforeMs) await rm(path, { force: true });
    },
  };
}
