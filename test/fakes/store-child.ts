import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('store-process.ts', import.meta.url));

/** Role of a store process, see `store-process.ts`. */
type Role = 'hold' | 'write' | 'claim' | 'leave' | 'lease';

/** Runs `store-process.ts`, another process on a store, for a test. */
export class StoreChild {
  /** Its output so far, line by line. */
  readonly lines: string[] = [];
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #output: Interface;

  private constructor(process: ChildProcessByStdio<Writable, Readable, null>) {
    this.#process = process;
    this.#output = createInterface({ input: process.stdout });
    this.#output.on('line', (line) => this.lines.push(line));
  }

  /** Starts the process without waiting for it. */
  static launch(url: string, role: Role): StoreChild {
    const args = ['--disable-warning=ExperimentalWarning', PROGRAM, url, role];
    return new StoreChild(spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] }));
  }

  /** Starts the process. @returns once it has opened the store; `lines` begins after that. */
  static async start(url: string, role: Role): Promise<StoreChild> {
    const child = StoreChild.launch(url, role);
    await child.saying(1);
    child.lines.shift();
    return child;
  }

  /** Resolves once it has printed at least `count` lines. @throws Error if it exits before. */
  saying(count: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (this.lines.length >= count) resolve();
      };
      this.#output.on('line', look);
      this.#output.once('close', () => reject(new Error(`it ended after ${this.lines.length} of ${count} lines`)));
      look();
    });
  }

  /** Its process id. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Sends the start signal that it waits for. */
  begin(): void {
    this.#process.stdin.write('go\n');
  }

  /** Resolves once it has exited by itself and all of its output has arrived. */
  async ended(): Promise<void> {
    await once(this.#process, 'close');
  }

  /** Suspends the process. */
  pause(): void {
    this.#process.kill('SIGSTOP');
  }

  resume(): void {
    this.#process.kill('SIGCONT');
  }

  /** Kills the process as a power cut would; its output up to then has arrived. */
  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const closed = once(this.#process, 'close');
    this.#process.kill('SIGKILL');
    await closed;
  }
}
