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

/** What the sandbox is embedded in. */
export interface EmbeddingOptions {
  readonly store: Store;
  /** Its folder, which all replicas share. */
  readonly dataDir: string;
  readonly catalog: () => Catalog;
  readonly clock: Clock;
  /** As in `ReferenceAccess`. */
  readonly ownFile: (url: string) => Promise<string | null>;
  /** From 0 to below 1, such as `Math.random`. */
  readonly random: () => number;
  readonly logger: Logger;
}

/** The sandbox, as the replicas' clients reach it. */
export interface EmbeddedSandbox {
  readonly baseUrl: string;
  readonly token: string;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
/** How often it is looked whether who serves has ended. */
const LOOK_MS = 250;
/** How long a start waits for the one who serves to say where, or for the port to be free. */
const START_MS = 10_000;

/**
 * The video service for who has none configured. Where the store is this process's own, the sandbox is as well. Where
 * several replicas share the store, they share one sandbox: whoever holds its folder serves, the others use it and wait
 * for their turn. All of them reach it at one address, which stays the same when the next one serves; so long as nobody
 * does, connections are refused, which is proof that nothing was ordered.
 *
 * @throws `store_locked` when it runs where this replica cannot reach it, or its port is taken.
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
  #turn: Promise<void> = Promise.resolve();

  constructor(options: EmbeddingOptions) {
    this.#options = options;
  }

  async start(): Promise<EmbeddedSandbox> {
    const { dataDir, clock } = this.#options;
    const untilMs = clock.monotonic() + START_MS;
    for (;;) {
      const served = await this.#tryToServe();
      if (served !== null) return this.#handle(served);
      const address = await readAddress(dataDir);
      if (address?.host === hostname()) {
        this.#turn = this.#waitForTurn();
        return this.#handle(address);
      }
      if (clock.monotonic() > untilMs) throw takenBy(address === null ? undefined : { ...address, folder: dataDir });
      await sleep(clock, LOOK_MS);
    }
  }

  #handle({ port, token }: SandboxAddress): EmbeddedSandbox {
    return { baseUrl: `http://${HOST}:${port}`, token, close: () => this.#close() };
  }

  /** Serves if nobody else does. @returns where; `null` while another process has the folder. */
  async #tryToServe(): Promise<SandboxAddress | null> {
    const { dataDir, random } = this.#options;
    const known = await readAddress(dataDir);
    const address = known ?? newAddress(random());
    const sandbox = await this.#open(address.token);
    if (sandbox === null) return null;
    const isStillSo = (await readAddress(dataDir))?.id === known?.id;
    if (isStillSo) return this.#serve(sandbox, address, known === null);
    // Somebody opened it, told of an address and ended, all in between.
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

  /** @param isNew whether nobody has been told of the address yet. */
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
      logger.info({ port }, 'this replica runs the embedded sandbox');
      return served;
    } catch (thrown) {
      failed.abort();
      await sandbox.close();
      throw thrown;
    }
  }

  /** Nobody knows a new port yet, so that any will do; a known one is waited for. */
  async #listen(sandbox: Sandbox, known: number, isNew: boolean): Promise<number> {
    const { clock, random } = this.#options;
    const untilMs = clock.monotonic() + START_MS;
    for (let port = known; ; ) {
      try {
        await sandbox.listen(HOST, port);
        return port;
      } catch (thrown) {
        if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EADDRINUSE')) throw thrown;
        if (clock.monotonic() > untilMs) throw portTaken(port, thrown);
        if (isNew) port = newAddress(random()).port;
        else await sleep(clock, LOOK_MS);
      }
    }
  }

  /** Until it is this replica's turn to serve, or it stops. What fails meanwhile is tried again. */
  async #waitForTurn(): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#stopping;
    while (this.#serving === null) {
      await sleep(clock, LOOK_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      await this.#tryToServe().catch((thrown: unknown) => {
        logger.error({ err: thrown }, 'the embedded sandbox cannot be taken over yet');
      });
    }
  }

  async #close(): Promise<void> {
    this.#stopping.abort();
    await this.#turn;
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
