import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { NODE_FLAGS } from '../fakes/node-flags.ts';
import { PROGRAM_ENV } from '../fakes/program-env.ts';
import { RedisServer } from '../fakes/redis-server.ts';
import type { Cut, ReplicaEnd } from './plan.ts';
import { Road } from './road.ts';

const DOCTOR = new URL('../../src/doctor.ts', import.meta.url).pathname;
/** Retries of the doctor, as by an operator who reads why it did nothing. */
const DOCTOR_TRIES = 20;
const DOCTOR_EVERY_MS = 500;

/** Replica of a run's Redis, with a link to the primary that can be cut. */
export class RedisReplica {
  readonly #primary: RedisServer;
  /** URL of the primary for the doctor. */
  readonly #url: string;
  #server: RedisServer | null = null;
  #link: Road | null = null;

  /** @param url of `primary`, with its password */
  constructor(primary: RedisServer, url: string) {
    this.#primary = primary;
    this.#url = url;
  }

  /** Attaches it unless it is attached. Resolves once it is in sync, if the primary is up to confirm that. */
  async attach(): Promise<void> {
    if (this.#server !== null) return;
    this.#link = await Road.start(this.#primary.port);
    this.#server = await RedisServer.start('--replicaof', `127.0.0.1 ${this.#link.port}`);
    await this.#primary.command('WAIT', '1', '2000').catch(() => undefined);
  }

  /** Cuts the link to the primary. */
  cut(how: Cut): void {
    this.#link?.cut(how);
  }

  /** Attaches it again, or waives it with `npm run doctor`. */
  async end(how: ReplicaEnd): Promise<void> {
    if (how === 'again') return this.#link?.mend();
    await this.remove();
    for (let tries = 0; (await forget(this.#url)) !== 0; tries += 1) {
      if (tries === DOCTOR_TRIES) throw new Error('npm run doctor -- --forget-redis-replica keeps the requirement');
      await delay(DOCTOR_EVERY_MS);
    }
  }

  /** Stops it and removes its data. */
  async remove(): Promise<void> {
    const [server, link] = [this.#server, this.#link];
    this.#server = null;
    this.#link = null;
    await server?.remove();
    await link?.close();
  }
}

/** Runs the doctor's command. @returns its exit code. */
async function forget(url: string): Promise<number | null> {
  const args = [...NODE_FLAGS, DOCTOR, '--forget-redis-replica'];
  const env = { ...PROGRAM_ENV, STORE_URL: url };
  const child = spawn(process.execPath, args, { env, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}
