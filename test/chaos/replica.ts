import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { NODE_FLAGS } from '../fakes/node-flags.ts';
import { PROGRAM_ENV } from '../fakes/program-env.ts';
import type { Life } from './history.ts';
import type { Command } from './preload.ts';

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;
const PRELOAD = new URL('./preload.ts', import.meta.url).href;

/** Delay before the supervisor restarts a process that exited on its own. */
const START_AGAIN_MS = 300;
/** Timeout for a replica to come up, over any number of starts. */
const UP_WITHIN_MS = 300_000;
/** Timeout for a shutdown, far above the limit of the program for its drain: the machine may be many times slower. */
const STOP_WITHIN_MS = 120_000;

/** Options of a {@link Replica}. */
export interface ReplicaOptions {
  readonly index: number;
  /** Working directory. */
  readonly folder: string;
  /** Returns the environment of a process; each one has a token of its own. */
  readonly env: (life: number) => Readonly<Record<string, string>>;
  readonly nowMs: () => number;
}

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/** Replica: a series of processes under a supervisor that restarts them. */
export class Replica {
  readonly index: number;
  readonly lives: Writable<Life>[] = [];
  readonly #options: ReplicaOptions;
  #child: ChildProcess | null = null;
  #isWanted = false;
  #isStopped = false;
  #said: Command = {};
  /** Base URL; `null` while it is down. */
  url: string | null = null;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.index = options.index;
  }

  /** Up and not paused, as far as the supervisor can see. */
  get isUp(): boolean {
    return this.url !== null && !this.#isStopped;
  }

  /** Starts it if it is down. Resolves once it is ready. @throws Error when it does not come up. */
  async start(): Promise<void> {
    this.#isWanted = true;
    this.#child ??= this.#spawn();
    const untilMs = this.#options.nowMs() + UP_WITHIN_MS;
    while (this.url === null && this.#isWanted) {
      if (this.#options.nowMs() > untilMs)
        throw new Error(`replica ${this.index} is not up: ${this.lives.at(-1)?.output}`);
      const child = this.#child;
      if (child === null) await new Promise((resolve) => setTimeout(resolve, START_AGAIN_MS / 3));
      else await Promise.race([once(child, 'listening'), once(child, 'exit')]);
    }
  }

  /** Sends SIGKILL: no chance to finish anything. It stays down until {@link start}. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Sends SIGTERM, then SIGKILL if it is not enough. It stays down until {@link start}. */
  async stop(): Promise<void> {
    const late = setTimeout(() => this.#child?.kill('SIGKILL'), STOP_WITHIN_MS);
    await this.#end('SIGTERM');
    clearTimeout(late);
  }

  /** Sends SIGSTOP: it neither works nor notices. */
  pause(): void {
    this.#isStopped = this.#child?.kill('SIGSTOP') ?? false;
  }

  /** Makes the process read the catalog again, if it is up; a later one reads it at its start. */
  rereadCatalog(): void {
    if (this.url !== null) this.#child?.kill('SIGHUP');
  }

  resume(): void {
    this.#isStopped = false;
    this.#child?.kill('SIGCONT');
  }

  /** Steps its clock or fills its disk; the command also applies to later processes. */
  tell(command: Command): void {
    this.#said = { ...this.#said, ...command };
    this.#send();
  }

  #send(): void {
    const child = this.#child;
    if (child?.connected === true) child.send(this.#said, () => undefined);
  }

  async #end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#isWanted = false;
    const child = this.#child;
    const life = this.lives.at(-1);
    if (child === null || life === undefined) return;
    const gone = once(child, 'exit');
    if (signal === 'SIGTERM') this.resume();
    // A second SIGTERM would force an immediate exit.
    if (signal === 'SIGKILL' || life.end !== 'stopped') child.kill(signal);
    // A killed process counts as killed even if its exit is reported a moment later.
    if (life.end !== 'killed') life.end = signal === 'SIGKILL' ? 'killed' : 'stopped';
    await gone;
  }

  #spawn(): ChildProcess {
    const { index, folder, env, nowMs } = this.#options;
    const number = this.lives.length;
    const life: Writable<Life> = {
      replica: index,
      life: number,
      fromMs: nowMs(),
      readyAtMs: null,
      untilMs: null,
      end: null,
      code: null,
      output: '',
    };
    this.lives.push(life);
    const child = spawn(process.execPath, [...NODE_FLAGS, '--import', PRELOAD, MAIN], {
      cwd: folder,
      env: { ...PROGRAM_ENV, ...env(number) },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        life.output += text;
        if (life.readyAtMs !== null || this.#child !== child) return;
        const url = /ready\..*?(http:\/\/\S+)/.exec(life.output)?.[1];
        if (url === undefined) return;
        life.readyAtMs = nowMs();
        this.url = url;
        child.emit('listening');
      });
    }
    child.once('spawn', () => this.#send());
    child.once('exit', (code, signal) => {
      life.untilMs = nowMs();
      life.end ??= 'itself';
      life.code = code;
      if (signal !== null && life.end !== 'killed') life.output += `\nchaos: ended by ${signal}\n`;
      if (this.#child !== child) return;
      this.#child = null;
      this.#isStopped = false;
      this.url = null;
      if (this.#isWanted) setTimeout(() => this.#again(), START_AGAIN_MS);
    });
    return child;
  }

  #again(): void {
    if (this.#isWanted) this.#child ??= this.#spawn();
  }
}
