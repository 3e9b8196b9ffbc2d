import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { NODE_FLAGS } from '../fakes/node-flags.ts';
import { PROGRAM_ENV } from '../fakes/program-env.ts';
import { UNLIMITED } from '../fakes/unlimited.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 50;
const PACE = { POLL_FIRST_MS: '200', POLL_MIN_MS: '200', POLL_MAX_MS: '400', PROGRESS_EDIT_MS: '50' };

/** The fields of a playground message that every revision since 72ef3f3 has. */
export interface PlaygroundMessage {
  readonly id: string;
  readonly text: string;
  readonly state: string | null;
  readonly task: string | null;
  readonly replyTo: string | null;
  readonly attachments: readonly unknown[];
  readonly buttons: readonly { readonly id: string }[];
}

/** A program of some revision, used through its playground. */
export interface RunningProgram {
  readonly output: () => string;
  /** Submits a command. @returns the id of the message that answers it. */
  readonly interact: (text: string, id: string) => Promise<string>;
  /** Presses the button with that action under a message. */
  readonly press: (message: string, action: string) => Promise<void>;
  readonly messages: () => Promise<readonly PlaygroundMessage[]>;
  readonly end: (signal: 'SIGTERM' | 'SIGKILL') => Promise<void>;
}

/** Options of {@link startProgram}. */
export interface ProgramOptions {
  /** Folder of the checkout. */
  readonly root: string;
  /** Working directory: data of the program. */
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Checks a revision out into `folder`, with the packages that it locks: hard links to the present ones where these are
 * the same, otherwise a fresh installation. @returns the folder.
 */
export function checkOut(revision: string, folder: string): string {
  execFileSync('git', ['-C', ROOT, 'worktree', 'add', '--quiet', '--force', '--detach', folder, revision]);
  const [present, locked] = [ROOT, folder].map((root) => readFileSync(join(root, 'package-lock.json'), 'utf8'));
  if (present === locked) {
    execFileSync('cp', ['-al', join(ROOT, 'node_modules'), join(folder, 'node_modules')]);
  } else {
    const install = ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    execFileSync('npm', install, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  return folder;
}

/** Removes a folder of {@link checkOut}. */
export function removeCheckout(folder: string): void {
  execFileSync('git', ['-C', ROOT, 'worktree', 'remove', '--force', folder]);
}

/** Starts the program of a checkout, and waits until it is ready. @throws Error with its output if it does not come up. */
export async function startProgram({ root, dir, env }: ProgramOptions): Promise<RunningProgram> {
  const child = spawn(process.execPath, [...NODE_FLAGS, join(root, 'src/main.ts')], {
    cwd: dir,
    env: { ...PROGRAM_ENV, ...PACE, ...UNLIMITED, PORT: '0', PLAYGROUND: 'on', LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // An interrupted run leaves no program behind.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  }
  const isEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const url = await until(START_TIMEOUT_MS, () => {
    if (isEnded()) throw new Error(`the program of ${root} ended before it was ready:\n${printed}`);
    return /Dailies is ready\..*?(http:\/\/\S+)/.exec(printed)?.[1];
  });
  return clientOf(url, child, () => printed);
}

function clientOf(url: string, child: ChildProcess, output: () => string): RunningProgram {
  const post = async (path: string, body: object): Promise<string> => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, init);
    const { message } = (await response.json()) as { readonly message?: string };
    if (response.status >= 300) throw new Error(`${path} ${JSON.stringify(body)}: HTTP ${response.status}`);
    return message ?? '';
  };
  const messages = async (): Promise<readonly PlaygroundMessage[]> => {
    const response = await fetch(`${url}/playground/messages?limit=1000&channel=general`);
    return (await response.json()) as readonly PlaygroundMessage[];
  };
  return {
    output,
    messages,
    interact: (text, id) => post('/playground/interactions', { id, user: 'ana', channel: 'general', text }),
    async press(message, action) {
      const button = await until(START_TIMEOUT_MS, async () => {
        const shown = (await messages()).find(({ id }) => id === message);
        return shown?.buttons.find(({ id }) => id.startsWith(`${action}:`))?.id;
      });
      await post('/playground/presses', { id: `${action}-${message}`, user: 'ana', message, button });
    },
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
  };
}

/** Polls until `look` returns something. @throws Error after the timeout. */
export async function until<T>(timeoutMs: number, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadlineMs) throw new Error(`timed out after ${timeoutMs} ms: ${String(look)}`);
    await after(POLL_MS);
  }
}
