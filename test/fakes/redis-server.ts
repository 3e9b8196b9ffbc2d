import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createClient } from '@keyv/redis';
import { freePort } from './ports.ts';

/** A real `redis-server` for one test, on its own port and in its own folder. */
export class RedisServer {
  readonly port: number;
  /** Folder of its data. */
  readonly directory: string;
  readonly #settings: readonly string[];
  #process: ChildProcess | null = null;

  private constructor(port: number, directory: string, settings: readonly string[]) {
    this.port = port;
    this.directory = directory;
    this.#settings = settings;
  }

  /**
   * Starts a durable server, unless `settings` (as on redis-server's command line) override that.
   * @throws Error if redis-server is not installed: tests that need it have to fail instead of being skipped.
   */
  static async start(...settings: readonly string[]): Promise<RedisServer> {
    const directory = await mkdtemp(join(tmpdir(), 'dailies-redis-'));
    const server = new RedisServer(await freePort(), directory, settings);
    await server.restart();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Restarts the server on the same port and data, after {@link kill}. */
  async restart(): Promise<void> {
    const always = ['--bind', '127.0.0.1', '--port', String(this.port), '--dir', this.directory, '--save', ''];
    const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--repl-diskless-sync-delay', '0'];
    const args = [...always, ...durable, ...this.#settings];
    const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#process = child;
    // An interrupted test run leaves no server behind.
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    const said: string[] = [];
    const missing = once(child, 'error').then(([cause]) => {
      throw new Error('these tests need redis-server on the PATH; install Redis 7', { cause });
    });
    const ready = (async () => {
      for await (const line of createInterface({ input: child.stdout })) {
        said.push(line);
        if (line.includes('Ready to accept connections')) return;
      }
      throw new Error(`redis-server ended: ${said.slice(-3).join(' | ')}`);
    })();
    await Promise.race([ready, missing]);
    child.stdout.resume();
  }

  /** Starts a replica of this server. @returns once it is in sync. */
  async replica(...settings: readonly string[]): Promise<RedisServer> {
    const replica = await RedisServer.start('--replicaof', `127.0.0.1 ${this.port}`, ...settings);
    while ((await this.command('WAIT', '1', '100')) !== 1);
    return replica;
  }

  /** Sends one command, as redis-cli does. */
  async command(...words: readonly string[]): Promise<unknown> {
    const client = createClient({ url: this.url });
    // The command itself also throws.
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await client.sendCommand([...words]);
    } finally {
      client.destroy();
    }
  }

  /** Creates a folder at the snapshot's path, so that snapshots fail. */
  async blockSnapshots(): Promise<void> {
    await mkdir(join(this.directory, 'dump.rdb'));
  }

  /** Suspends the server: it neither responds nor disconnects, as when a machine freezes. */
  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  /** Kills the server without warning; its data on disk is kept. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  /** Kills the server and removes its data. */
  async remove(): Promise<void> {
    await this.kill();
    await rm(this.directory, { recursive: true, force: true });
  }
}
