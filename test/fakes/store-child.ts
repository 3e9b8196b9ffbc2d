import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('store-process.ts', import.meta.url));

/** What a process on a store does there. */
type Role = 'hold' | 'write' | 'claim' | 'leave' | 'lease';

/** Another process on a store: `store-process.ts`, started, listened to and ended by a test. */
export class StoreChild {
  /** What it has said so far, line by line. */
  readonly lines: string[] = [];
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #output: Interface;

  private constructor(process: ChildProcessByStdio<Writable, Readable, null>) {
    this.#process = process;
    this.#output = createInterface({ input: process.stdout });
    this.#output.on('line', (line) => this.lines.push(line));
  }

  /** Starts it, and does not wait for it. */
  static launch(url: string, role: Role): StoreChild {
    const args = ['--disable-warning=ExperimentalWarning', PROGRAM, url, role];
    return new StoreChild(spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] }));
  }

  /** Starts it. @returns once it has the store open; its lines are then what it says from there on. */
  static async start(url: string, role: Role): Promise<StoreChild> {
    const child = StoreChild.launch(url, role);
    await child.saying(1);
    child.lines.shift();
    return child;
  }

  /** Resolves once it has said at least `count` lines. @throws Error when it ends before. */
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

  /** Gives it the word it waits for. */
  begin(): void {
    this.#process.stdin.write('go\n');
  }

  /** Resolves when it ended by itself and everything it said has arrived. */
  async ended(): Promise<void> {
    await once(this.#process, 'close');
  }

  /** Stops it where it stands: it notices nothing until it goes on. */
  pause(): void {
    this.#process.kill('SIGSTOP');
  }

  resume(): void {
    this.#process.kill('SIGCONT');
  }

  /** Ends it as a power cut would, with all its last words heard. */
  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const closed = once(this.#process, 'close');
    this.#process.kill('SIGKILL');
    await closed;
  }
}
