import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { type Clock, sleep } from '../clock.ts';
import { asDailiesError, DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Store } from '../store/store.ts';
import type { Catalog } from '../videos/model.ts';
import { newAddress, readAddress, type SandboxAddress, writeAddress } from './address.ts';
import { takenBy, takePlace } from './place.ts';
import { createSandbox, type Sandbox } from './server.ts';

/** Options of {@link embedSandbox}. */
export interface EmbeddingOptions {
  readonly store: Store;
  /** Folder of the sandbox, shared by all replicas. */
  readonly dataDir: string;
  readonly catalog: () => Catalog;
  readonly clock: Clock;
  /** As in `ReferenceAccess`. */
  readonly ownFile: (url: string) => Promise<string | null>;
  /** From 0 to below 1, such as `Math.random`. */
  readonly random: () => number;
  readonly logger: Logger;
}

/** Connection data of the sandbox for the clients of this replica. */
export interface EmbeddedSandbox {
  readonly baseUrl: string;
  readonly token: string;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
/** Interval between attempts to take over from the serving replica. */
const RETRY_MS = 250;
/** Timeout at startup for the serving replica to publish its address, or for the port to become free. */
const START_TIMEOUT_MS = 10_000;

/**
 * Starts the embedded video service, for a bot without a configured one. With a store of its own, the process runs a
 * sandbox of its own. Replicas that share a store share one sandbox: the replica that holds the lock on its folder
 * serves, the others are its clients and stand by for a failover. The address survives a failover; while no replica
 * serves, connections are refused, which proves that nothing was ordered.
 *
 * @throws `store_locked` when it runs where this replica cannot reach it, or another program uses its port.
 */
export async function embedSandbox(options: EmbeddingOptions): Promise<EmbeddedSandbox> {
  return options.store.exclusive ? embedAlone(options) : new SharedSandbox(options).start();
}

async function embedAlone(options: EmbeddingOptions): Promise<EmbeddedSandbox> {
  const { dataDir, catalog, clock, logger, ownFile } = options;
  const token = randomBytes(18).toString('hex');
  const references = { ownFile };
  const sandbox = await createSandbox({ dataDir, tokens: [token], references, catalog, clock, logger });
  return { baseUrl: await sandbox.listen(HOST, 0), token, close: () => sandbox.close() };
}

class SharedSandbox {
  readonly #options: EmbeddingOptions;
  readonly #stopping = new AbortController();
  #serving: Sandbox | null = null;
  #standby: Promise<void> = Promise.resolve();

  constructor(options: EmbeddingOptions) {
    this.#options = options;
  }

  async start(): Promise<EmbeddedSandbox> {
    const { dataDir, clock } = this.#options;
    const deadlineMs = clock.monotonic() + START_TIMEOUT_MS;
    for (;;) {
      const served = await this.#tryToServe();
      if (served !== null) return this.#handle(served);
      const address = await readAddress(dataDir);
      if (address?.host === hostname()) {
        this.#standby = this.#standBy();
        return this.#handle(address);
      }
      if (clock.monotonic() > deadlineMs) throw takenBy(address === null ? undefined : { ...address, folder: dataDir });
      await sleep(clock, RETRY_MS);
    }
  }

  #handle({ port, token }: SandboxAddress): EmbeddedSandbox {
    return { baseUrl: `http://${HOST}:${port}`, token, close: () => this.#close() };
  }

  /** Serves unless another process does. @returns the address; `null` while another process holds the folder. */
  async #tryToServe(): Promise<SandboxAddress | null> {
    const { dataDir, random } = this.#options;
    const known = await readAddress(dataDir);
    const address = known ?? newAddress(random());
    const sandbox = await this.#open(address.token);
    if (sandbox === null) return null;
    const isUnchanged = (await readAddress(dataDir))?.id === known?.id;
    if (isUnchanged) return this.#serve(sandbox, address, known === null);
    // Another replica served, published an address and exited in between.
    await sandbox.close();
    return null;
  }

  async #open(token: string): Promise<Sandbox | null> {
    const { dataDir, catalog, clock, logger, ownFile } = this.#options;
    const shared = { dataDir, catalog, clock, logger };
    try {
      return await createSandbox({ ...shared, tokens: [token], references: { ownFile }, busyTimeoutMs: 0 });
    } catch (thrown) {
      if (asDailiesError(thrown, 'opening the sandbox').code === 'store_locked') return null;
      throw thrown;
    }
  }

  /** @param isNew true: the address is not published yet. */
  async #serve(sandbox: Sandbox, address: SandboxAddress, isNew: boolean): Promise<SandboxAddress> {
    const { store, clock, dataDir, logger } = this.#options;
    const failed = new AbortController();
    try {
      const signal = AbortSignal.any([this.#stopping.signal, failed.signal]);
      await takePlace({ store, clock, id: address.id, folder: resolve(dataDir), signal });
      const port = await this.#listen(sandbox, address.port, isNew);
      const served = { ...address, port, host: hostname() };
      await writeAddress(dataDir, served);
      this.#serving = sandbox;
      logger.info({ event: 'sandbox_serving', port }, 'this replica serves the embedded sandbox');
      return served;
    } catch (thrown) {
      failed.abort();
      await sandbox.close();
      throw thrown;
    }
  }

  /** Listens on the known port and waits until it is free; an unpublished one (`isNew`) may be replaced by another. */
  async #listen(sandbox: Sandbox, known: number, isNew: boolean): Promise<number> {
    const { clock, random } = this.#options;
    const deadlineMs = clock.monotonic() + START_TIMEOUT_MS;
    for (let port = known; ; ) {
      try {
        await sandbox.listen(HOST, port);
        return port;
      } catch (thrown) {
        if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EADDRINUSE')) throw thrown;
        if (clock.monotonic() > deadlineMs) throw portTaken(port, thrown);
        if (isNew) port = newAddress(random()).port;
        else await sleep(clock, RETRY_MS);
      }
    }
  }

  /** Stands by until this replica serves or stops; retries after failures. */
  async #standBy(): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#stopping;
    while (this.#serving === null) {
      await sleep(clock, RETRY_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      await this.#tryToServe().catch((thrown: unknown) => {
        logger.error({ event: 'sandbox_takeover_failed', err: thrown }, 'failed to take over the embedded sandbox');
      });
    }
  }

  async #close(): Promise<void> {
    this.#stopping.abort();
    await this.#standby;
    await this.#serving?.close();
  }
}

function portTaken(port: number, cause: unknown): DailiesError {
  return new DailiesError(
    `opening the embedded sandbox: port ${port}, at which it was reached so far, is taken by another program; stop ` +
      'that one, or stop all replicas and remove address.json beside the sandbox',
    { code: 'store_locked', retryable: false, cause },
  );
}
