import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CancelTimer, Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { SandboxRecords } from './records.ts';

/** Options of {@link SandboxExpiry}. */
interface SandboxExpiryOptions {
  readonly records: Pick<SandboxRecords, 'removeContent'>;
  readonly clipsDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Age from which on the sandbox no longer has a clip. Services keep their results for hours. */
export const SANDBOX_KEEPS_MS = 7 * 24 * 3_600_000;
/** Delay before each sweep: a bot that was off for longer first fetches the clips that it has ordered. */
const SWEEP_EVERY_MS = 3_600_000;

/** Deletes clips, prompts and references of the sandbox after a week; its ledger, states and ids stay. */
export class SandboxExpiry {
  readonly #options: SandboxExpiryOptions;
  #cancelTimer: CancelTimer = () => undefined;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: SandboxExpiryOptions) {
    this.#options = options;
  }

  /** Starts the hourly sweeps. */
  start(): void {
    if (this.#isStopped) return;
    this.#cancelTimer = this.#options.clock.after(SWEEP_EVERY_MS, () => {
      this.#running = this.#sweep().then(() => this.start());
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer();
    await this.#running;
  }

  /** May be interrupted at any point. Never rejects. */
  async #sweep(): Promise<void> {
    const { records, clipsDir, clock, logger } = this.#options;
    const beforeMs = clock.now() - SANDBOX_KEEPS_MS;
    try {
      records.removeContent(beforeMs);
      for (const name of await readdir(clipsDir)) {
        const path = join(clipsDir, name);
        const found = await stat(path).catch(() => null);
        if (found !== null && found.mtimeMs < beforeMs) await rm(path, { force: true });
      }
    } catch (thrown) {
      logger.warn({ event: 'sandbox_sweep_failed', err: thrown }, 'the sandbox failed to delete old clips, retrying');
    }
  }
}
