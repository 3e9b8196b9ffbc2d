import { randomBytes } from 'node:crypto';
import { type Clock, sleep } from '../clock.ts';
import { KeptLease, type Store } from '../engine/index.ts';
import { asDailiesError, DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Catalog } from '../videos/index.ts';
import { createSandbox, type Sandbox } from './server.ts';

/** Options of {@link embedSandbox}. */
interface EmbeddingOptions {
  readonly store: Pick<Store, 'exclusive' | 'leases'>;
  /** Folder of the sandbox's tasks and clips. */
  readonly dataDir: string;
  readonly catalog: () => Catalog;
  readonly clock: Clock;
  /** As in `ReferenceAccess`. */
  readonly ownFile: (url: string) => Promise<string | null>;
  readonly logger: Logger;
}

/** Connection data of the sandbox for the client of this process. */
export interface EmbeddedSandbox {
  readonly baseUrl: string;
  readonly token: string;
  readonly takesKept: true;
  close(): Promise<void>;
}

/** TTL of the lease that admits one embedded sandbox per store. */
const LEASE_MS = 10_000;
/** Longest wait at startup for the lease of a sandbox that was killed. */
const CLAIM_TIMEOUT_MS = LEASE_MS + 2_000;
const CHECK_MS = 500;

/**
 * Starts the embedded video service on loopback, for a bot without a configured one. It serves this process alone:
 * replicas with sandboxes of their own would not know each other's tasks, so a second one on the same store is refused.
 * @throws `store_locked` while another process has the folder, or another replica an embedded sandbox.
 */
export async function embedSandbox(options: EmbeddingOptions): Promise<EmbeddedSandbox> {
  const { dataDir, catalog, clock, logger, ownFile, store } = options;
  const token = randomBytes(18).toString('hex');
  const sandbox = await open({ dataDir, tokens: [token], references: { ownFile }, catalog, clock, logger });
  let release = async (): Promise<void> => undefined;
  const close = async (): Promise<void> => {
    await sandbox.close();
    await release();
  };
  try {
    if (!store.exclusive) release = await claim(options);
    return { baseUrl: await sandbox.listen('127.0.0.1', 0), token, takesKept: true, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

async function open(options: Parameters<typeof createSandbox>[0]): Promise<Sandbox> {
  return createSandbox(options).catch((thrown: unknown) => {
    const error = asDailiesError(thrown, 'opening the sandbox');
    throw error.code === 'store_locked' ? inUse(`another process uses ${options.dataDir}`, error) : error;
  });
}

/** Takes the lease on the store's one embedded sandbox, and keeps it. @returns its release. @throws `store_unavailable` */
async function claim({ store: { leases }, clock }: EmbeddingOptions): Promise<() => Promise<void>> {
  const own = new KeptLease({ leases, clock, name: 'sandbox', ttlMs: LEASE_MS });
  const giveUpAtMs = clock.monotonic() + CLAIM_TIMEOUT_MS;
  await own.take();
  try {
    while (own.lease === null) {
      // Throws where the store is the reason.
      await leases.holder('sandbox');
      if (clock.monotonic() >= giveUpAtMs)
        throw inUse('another replica on this store runs one, whose tasks this one would not know');
      await sleep(clock, CHECK_MS);
    }
    return () => own.leave();
  } catch (thrown) {
    await own.leave();
    throw thrown;
  }
}

/** Returns the error of a second embedded sandbox, with the way out. */
function inUse(reason: string, cause?: DailiesError): DailiesError {
  return new DailiesError(
    `opening the embedded sandbox: ${reason}; several replicas need one video service that all of them reach: set ` +
      'VIDEO_API_BASE_URL and VIDEO_API_TOKEN to it, or to a sandbox that `npm run sandbox` starts as a process of its own',
    { code: 'store_locked', retryable: false, cause },
  );
}
