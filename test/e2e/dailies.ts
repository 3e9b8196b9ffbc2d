import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { PROGRAM_ENV } from '../fakes/program-env.ts';
import { UNLIMITED } from '../fakes/unlimited.ts';
import type { FakeVideoService } from '../fakes/video-service.ts';

/** Message as returned by `GET /playground/messages`. @see adapters/playground/readme.md */
export interface ShownMessage {
  readonly id: string;
  readonly author: string;
  readonly channel: string;
  readonly replyTo: string | null;
  readonly visibleTo: string | null;
  readonly text: string;
  readonly state: string | null;
  readonly progress: number | null;
  readonly task: string | null;
  readonly attachments: readonly {
    readonly name: string;
    readonly url: string;
    readonly contentType: string;
    readonly bytes: number;
  }[];
  readonly buttons: readonly { readonly id: string; readonly label: string }[];
  readonly edits: number;
}

/** Response of the playground. */
export interface Answer {
  readonly status: number;
  readonly body: { readonly message?: string; readonly error?: string; readonly form?: { readonly id: string } };
}

/** The whole program in a process of its own, used through its public interfaces. */
export interface RunningDailies {
  readonly url: string;
  /** Returns everything printed so far. */
  readonly output: () => string;
  readonly interact: (text: string, more?: Partial<Record<'id' | 'user' | 'channel', string>>) => Promise<Answer>;
  readonly press: (message: string, button: string, more?: Partial<Record<'id' | 'user', string>>) => Promise<Answer>;
  readonly react: (message: string, emoji: string, more?: Partial<Record<'id' | 'user', string>>) => Promise<Answer>;
  readonly post: (path: string, body: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
  readonly messages: (channel?: string) => Promise<readonly ShownMessage[]>;
  readonly message: (id: string) => Promise<ShownMessage>;
  /** Resolves once a message is in a state; `completed` once its clip is there, too, with the buttons that it brings. */
  readonly reaches: (id: string, state: string) => Promise<ShownMessage>;
  /** Sends SIGKILL: no chance to finish anything. */
  readonly kill: () => Promise<void>;
  /** Sends SIGTERM. @returns the exit code. */
  readonly stop: () => Promise<number | null>;
  /** Sends SIGSTOP: the process stops without noticing. */
  readonly freeze: () => void;
  /** Sends SIGCONT. */
  readonly thaw: () => void;
  /** Sends SIGHUP, which reloads the files. */
  readonly hangUp: () => void;
}

/** Options of a program run; a test's settings take precedence. */
export interface DailiesOptions {
  /** Folder of the run; pass the same one for a restart. */
  readonly dir: string;
  readonly upstream?: FakeVideoService;
  readonly env?: Readonly<Record<string, string>>;
}

const ROOT = new URL('../..', import.meta.url).pathname;
/** Short intervals, so that tests do not wait for those meant for users. */
const PACE = { POLL_FIRST_MS: '30', POLL_MIN_MS: '30', POLL_MAX_MS: '60', PROGRESS_EDIT_MS: '20', LOG_LEVEL: 'warn' };
const QUICK = { ...PACE, ...UNLIMITED };
let interactions = 0;

/** Creates a folder for one test's store and clips, and returns its path and a function that removes it. */
export async function makeDir(): Promise<{ readonly path: string; readonly remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'dailies-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Starts `src/main.ts` in `dir` on a free port, and waits until it reports ready. */
export async function startDailies(options: DailiesOptions): Promise<RunningDailies> {
  const { child, output } = spawnDailies(options);
  const url = await new Promise<string>((resolve, reject) => {
    const look = (): void => {
      const found = /Dailies is ready\..*?(http:\/\/\S+)/.exec(output());
      if (found?.[1] !== undefined) resolve(found[1]);
    };
    child.stdout?.on('data', look);
    child.once('exit', (code) => reject(new Error(`Dailies ended with ${code} before it was ready:\n${output()}`)));
  });
  return clientOf(url, child, output);
}

/** Runs a program that is expected to fail at start. @returns the exit code and the output. */
export async function runToEnd(
  options: DailiesOptions,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const { child, output } = spawnDailies(options);
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, output: output() };
}

/** Runs one of the commands beside the program, such as `migrate.ts`. @param command its file in `src`. */
export async function runCommand(
  command: string,
  { dir, args = [], env = {} }: Pick<DailiesOptions, 'dir' | 'env'> & { readonly args?: readonly string[] },
): Promise<{ readonly code: number | null; readonly said: string }> {
  const { child, output } = spawnFile(command, { dir, args, env: { ...PROGRAM_ENV, ...env } });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said: output() };
}

/** Starts the program without waiting. */
export function spawnDailies({ dir, upstream, env }: DailiesOptions): {
  readonly child: ChildProcess;
  readonly output: () => string;
} {
  const service =
    upstream === undefined ? {} : { VIDEO_API_BASE_URL: upstream.baseUrl, VIDEO_API_TOKEN: upstream.token };
  return spawnFile('main.ts', { dir, env: { ...PROGRAM_ENV, PORT: '0', ...QUICK, ...service, ...env } });
}

function spawnFile(
  file: string,
  { dir, args = [], env }: { readonly dir: string; readonly args?: readonly string[]; readonly env: NodeJS.ProcessEnv },
): { readonly child: ChildProcess; readonly output: () => string } {
  const all = ['--disable-warning=ExperimentalWarning', join(ROOT, 'src', file), ...args];
  const child = spawn(process.execPath, all, { cwd: dir, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  }
  return { child, output: () => printed };
}

function clientOf(url: string, child: ChildProcess, output: () => string): RunningDailies {
  const nextId = (): string => `i-${process.pid}-${++interactions}`;
  const post: RunningDailies['post'] = async (path, body, headers = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };
  const messages: RunningDailies['messages'] = async (channel = 'general') => {
    const response = await fetch(`${url}/playground/messages?limit=1000&channel=${encodeURIComponent(channel)}`);
    if (!response.ok) throw new Error(`reading messages: ${response.status} ${await response.text()}`);
    return (await response.json()) as readonly ShownMessage[];
  };
  const message = async (id: string): Promise<ShownMessage> => {
    const found = (await messages()).find((each) => each.id === id);
    if (found === undefined) throw new Error(`there is no message ${id}`);
    return found;
  };
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const ended = once(child, 'exit') as Promise<[number | null]>;
    child.kill(signal);
    return (await ended)[0];
  };
  return {
    url,
    output,
    post,
    messages,
    message,
    interact: (text, more) =>
      post('/playground/interactions', { id: nextId(), user: 'ana', channel: 'general', text, ...more }),
    press: (id, button, more) =>
      post('/playground/presses', { id: nextId(), user: 'ana', message: id, button, ...more }),
    react: (id, emoji, more) =>
      post('/playground/reactions', { id: nextId(), user: 'ana', message: id, emoji, ...more }),
    async reaches(id, state) {
      const isReached = (shown: ShownMessage): boolean =>
        shown.state === state &&
        (state !== 'completed' || shown.buttons.some(({ id: button }) => button.startsWith('retry:')));
      return vi.waitUntil(async () => [await message(id)].find(isReached), { timeout: 300_000, interval: 25 });
    },
    async kill() {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    hangUp: () => void child.kill('SIGHUP'),
  };
}

/** Returns the id of the message in a response; fails without one. */
export function answered(answer: Answer): string {
  expect(answer).toMatchObject({ status: 202, body: { message: expect.any(String) } });
  return answer.body.message ?? '';
}

/** Gives an administrative command, and returns the text of its private answer. */
export async function administer(dailies: RunningDailies, text: string): Promise<string> {
  const shown = await dailies.message(answered(await dailies.interact(text, { user: 'operator' })));
  expect(shown.visibleTo).toBe('operator');
  return shown.text;
}

/** Returns the notice to the approvers below a request's message, once it is there. */
export async function noticeBelow(dailies: RunningDailies, request: string): Promise<ShownMessage> {
  const find = async () => (await dailies.messages()).find(({ replyTo }) => replyTo === request);
  return vi.waitUntil(find, { timeout: 300_000, interval: 25 });
}

/**
 * Returns the question whether to delete the clip of a task, once it may be deleted: its outcome is in the chat a moment
 * before that is recorded.
 */
export async function questionToDelete(dailies: RunningDailies, task: string, user = 'ana'): Promise<ShownMessage> {
  const ask = async () => {
    const question = await dailies.message(answered(await dailies.interact(`/video delete ${task}`, { user })));
    expect(question.buttons).toHaveLength(1);
    return question;
  };
  return vi.waitFor(ask, { timeout: 300_000, interval: 25 });
}

/** Returns the id of the button with that action under a message. */
export function buttonOf(message: ShownMessage, action: string): string {
  const found = message.buttons.find(({ id }) => id.startsWith(`${action}:`));
  if (found === undefined)
    throw new Error(`no ${action} under the message; there are ${message.buttons.map(({ id }) => id).join(', ')}`);
  return found.id;
}
