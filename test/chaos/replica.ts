import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { NODE_FLAGS } from '../fakes/node-flags.ts';
import { PROGRAM_ENV } from '../fakes/program-env.ts';
import type { Life } from './history.ts';
import type { Command } from './preload.ts';

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;
const PRELOAD = new URL('./preload.ts', import.meta.url).href;

/** How long after it ended by itself a process is started again, as by any supervisor. */
const START_AGAIN_MS = 300;
/** Within this, and however many starts, a replica is up. */
const UP_WITHIN_MS = 90_000;
/** A drain is waited for as long as the program says it may take, and a little. */
const STOP_WITHIN_MS = 25_000;

/** What a replica runs on. */
export interface ReplicaOptions {
  readonly index: number;
  /** Its working directory. */
  readonly folder: string;
  /** For each process anew, since each has a token of its own. */
  readonly env: (life: number) => Readonly<Record<string, string>>;
  readonly nowMs: () => number;
}

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/** One replica: processes, one after the other, under a supervisor that starts them again. */
export class Replica {
  readonly index: number;
  readonly lives: Writable<Life>[] = [];
  readonly #options: ReplicaOptions;
  #child: ChildProcess | null = null;
  #isWanted = false;
  #isStopped = false;
  #said: Command = {};
  /** Where it listens; `null` while it is not up. */
  url: string | null = null;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.index = options.index;
  }

  /** Whether it takes requests, as far as its supervisor knows. */
  get isUp(): boolean {
    return this.url !== null && !this.#isStopped;
  }

  /** Starts it where it is down. @returns once it is ready. @throws Error when it does not come up. */
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

  /** SIGKILL: no chance to finish anything. It stays down until {@link start}. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** SIGTERM, and SIGKILL if that does not do. It stays down until {@link start}. */
  async stop(): Promise<void> {
    const late = setTimeout(() => this.#child?.kill('SIGKILL'), STOP_WITHIN_MS);
    await this.#end('SIGTERM');
    clearTimeout(late);
  }

  /** SIGSTOP: it neither works nor knows of it. */
  pause(): void {
    this.#isStopped = this.#child?.kill('SIGSTOP') ?? false;
  }

  resume(): void {
    this.#isStopped = false;
    this.#child?.kill('SIGCONT');
  }

  /** Steps its clock, fills its disk; what was said holds for the processes after it as well. */
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
    // A second SIGTERM means that somebody is in a hurry.
    if (signal === 'SIGKILL' || life.end !== 'stopped') child.kill(signal);
    // Who is killed is not stopped any more, though its end may take a moment to be heard of.
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
