import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { NODE_FLAGS } from '../fakes/node-flags.ts';
import { UNLIMITED } from '../fakes/unlimited.ts';

/** The whole program, as `npm start` runs it. */
export interface Program {
  readonly url: string;
  /** Returns the resident memory in bytes, and resets the peak. */
  readonly residentBytes: () => Promise<number>;
  /** Returns the peak of the resident memory in bytes since the last call of {@link residentBytes}. */
  readonly peakBytes: () => Promise<number>;
  readonly stop: () => void;
}

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname;

/** Starts the program in a folder with the service of the benchmarks; `settings` override the common ones. */
export async function startProgram(
  folder: string,
  baseUrl: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Program> {
  const env = {
    PATH: process.env['PATH'],
    PORT: '0',
    LOG_LEVEL: 'error',
    VIDEO_API_BASE_URL: baseUrl,
    VIDEO_API_TOKEN: 'sk-bench',
    POLL_FIRST_MS: '200',
    POLL_MIN_MS: '200',
    ...UNLIMITED,
    ...settings,
  };
  const child = spawn(process.execPath, [...NODE_FLAGS, MAIN], { cwd: folder, env });
  const url = await readyUrl(child);
  const residentBytes = async (): Promise<number> => {
    // 5 resets the peak. @see proc_pid_clear_refs(5)
    await writeFile(`/proc/${child.pid}/clear_refs`, '5');
    return statusOf(child, 'VmRSS');
  };
  return { url, residentBytes, peakBytes: () => statusOf(child, 'VmHWM'), stop: () => child.kill('SIGKILL') };
}

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = '';
    child.once('exit', () => reject(new Error(`the program ended: ${printed}`)));
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        const url = /ready\..*?(http:\/\/\S+)/.exec(printed)?.[1];
        if (url !== undefined) resolve(url);
      });
    }
  });
}

/** Reads a field of the process status. VmRSS is the resident memory, VmHWM its peak. @see proc_pid_status(5) */
async function statusOf(child: ChildProcess, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}
