import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { onTestFinished, vi } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from '#src/sandbox/server.ts';

/** API token of every sandbox in the tests. */
export const TOKEN = 'sk-test-token';

/** A request for the shortest, smallest clip available. */
export const SKETCH = { model: 'sketch-480p', prompt: 'a boat at dusk', duration: 1, video_duration: 1 } as const;

/** A task in a response of the service. */
export interface TaskBody {
  readonly id: string;
  readonly object: string;
  readonly model: string;
  readonly status: string;
  readonly progress: number;
  readonly created_at: number;
  readonly completed_at?: number;
  readonly error?: { readonly code: string; readonly message: string };
}

/** An error response of the service. */
export interface RefusalBody {
  readonly error: string;
  readonly code: string;
  readonly message: string;
  readonly success: boolean;
}

/** Options of a call besides its path. */
interface Call {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Calls a sandbox over HTTP with a valid token. */
export interface SandboxClient {
  readonly baseUrl: string;
  /** Sends any call. */
  readonly call: (path: string, init?: Call) => Promise<Response>;
  readonly post: (body: unknown) => Promise<Response>;
  /** Creates a task. @throws Error if it is not accepted */
  readonly create: (body: unknown) => Promise<TaskBody>;
  readonly retrieve: (id: string) => Promise<TaskBody>;
  /** Waits until the task has one of these statuses. */
  readonly until: (id: string, ...states: readonly string[]) => Promise<TaskBody>;
  readonly ledger: () => Promise<readonly { readonly task: string; readonly kind: string; readonly amount: string }[]>;
}

/** Creates a client of the service at `baseUrl`. */
export function sandboxClient(baseUrl: string): SandboxClient {
  const call = (path: string, init: Call = {}): Promise<Response> =>
    fetch(baseUrl + path, { ...init, headers: { authorization: `Bearer ${TOKEN}`, ...init.headers } });
  const post = (body: unknown): Promise<Response> =>
    call('/v1/videos', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const retrieve = async (id: string): Promise<TaskBody> =>
    (await call(`/v1/videos/${id}`)).json() as Promise<TaskBody>;
  return {
    baseUrl,
    call,
    post,
    retrieve,
    async create(body) {
      const response = await post(body);
      if (response.status !== 200) throw new Error(`creation answered ${response.status}: ${await response.text()}`);
      return response.json() as Promise<TaskBody>;
    },
    until: (id, ...states) =>
      vi.waitFor(
        async () => {
          const task = await retrieve(id);
          if (!states.includes(task.status)) throw new Error(`the task is ${task.status}`);
          return task;
        },
        { timeout: 300_000, interval: 25 },
      ),
    async ledger() {
      const body = await (await call('/sandbox/ledger')).json();
      return (body as { entries: Awaited<ReturnType<SandboxClient['ledger']>> }).entries;
    },
  };
}

/** Creates a folder that is removed when the test ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'dailies-sandbox-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a sandbox that is closed when the test ends. @param options overrides of the defaults. */
export async function startSandbox(
  options: Partial<SandboxOptions> = {},
): Promise<SandboxClient & { readonly sandbox: Sandbox; readonly dataDir: string }> {
  const dataDir = options.dataDir ?? (await temporaryFolder());
  const logger = pino({ level: 'silent' });
  const sandbox = await createSandbox({ tokens: [TOKEN], clock: systemClock, logger, ...options, dataDir });
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await sandbox.close();
    isOpen = false;
  };
  onTestFinished(close);
  const client = sandboxClient(await sandbox.listen('127.0.0.1', 0));
  return { ...client, sandbox: { ...sandbox, close }, dataDir };
}
