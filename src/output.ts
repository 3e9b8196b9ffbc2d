import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Largest buffer for a terminal or pipe that is not being read; further texts are dropped. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024;
/** Retry interval while the reader does not read. */
const RETRY_MS = 50;

/** Options of {@link Output}. */
interface OutputOptions {
  /** Writes without blocking. @returns the number of bytes written. @throws `EAGAIN` where it would block. */
  readonly write: (bytes: Uint8Array) => number;
  /** Calls `run` once, in `delayMs`; must not keep the process alive. */
  readonly after: (delayMs: number, run: () => void) => void;
  /** Limit of the buffer. Default 4 MiB. */
  readonly maxPendingBytes?: number;
}

/**
 * Writes text to a terminal, pipe or file without ever blocking on its reader: a closed terminal or `| less` must delay
 * neither the bot nor its shutdown. Text that cannot be written yet is buffered up to a limit; beyond it, whole texts
 * are dropped and counted.
 */
export class Output {
  readonly #options: OutputOptions;
  readonly #maxPendingBytes: number;
  readonly #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #dropped = 0;
  #isWaiting = false;
  /** Called with the number of dropped texts, once the reader reads again. */
  onDropped: (count: number) => void = () => undefined;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.#maxPendingBytes = options.maxPendingBytes ?? MAX_PENDING_BYTES;
  }

  /** Writes `text`, now or once the reader catches up; never throws. */
  write(text: string): void {
    const bytes = Buffer.from(text);
    if (this.#pendingBytes + bytes.length > this.#maxPendingBytes) {
      this.#dropped += 1;
      return;
    }
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (!this.#isWaiting) this.flush();
  }

  /** Writes as much of what is pending as fits. */
  flush(): void {
    for (let [bytes] = this.#pending; bytes !== undefined; [bytes] = this.#pending) {
      const written = this.#tryWriting(bytes);
      if (written === null) {
        this.#scheduleRetry();
        return;
      }
      this.#pendingBytes -= written;
      if (written < bytes.length) this.#pending[0] = bytes.subarray(written);
      else this.#pending.shift();
    }
    if (this.#dropped === 0) return;
    const count = this.#dropped;
    this.#dropped = 0;
    this.onDropped(count);
  }

  /** @returns the number of bytes written or given up; `null`: the reader has to read first. */
  #tryWriting(bytes: Uint8Array): number | null {
    try {
      return this.#options.write(bytes);
    } catch (thrown) {
      const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
      // Any other error (EPIPE, EIO: the reader is gone; ENOSPC) cannot be reported here.
      return code === 'EAGAIN' ? null : bytes.length;
    }
  }

  #scheduleRetry(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#options.after(RETRY_MS, () => {
      this.#isWaiting = false;
      this.flush();
    });
  }
}

let standard: Output | undefined;

export function standardOutput(): Output {
  standard ??= open(1);
  return standard;
}

/** Writes a final message to standard error, if it is being read. */
export function complain(text: string): void {
  open(2).write(text);
}

function open(fd: 1 | 2): Output {
  const descriptor = unblocked(fd);
  const output = new Output({
    write: (bytes) => writeSync(descriptor, bytes),
    after: (delayMs, run) => void setTimeout(run, delayMs).unref(),
  });
  process.once('exit', () => output.flush());
  return output;
}

/** Returns a non-blocking descriptor of the same output, where there is one. */
function unblocked(fd: 1 | 2): number {
  try {
    // Opens it anew: O_NONBLOCK belongs to the open file description, which the shell shares.
    if (isatty(fd))
      return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const kind = fstatSync(fd);
    // Node's own stream makes pipes and sockets non-blocking, and restores them at exit.
    if (kind.isFIFO() || kind.isSocket()) (fd === 1 ? process.stdout : process.stderr).on('error', () => undefined);
  } catch {
    // Such as the terminal of another user, or no /proc: then writes to it block.
  }
  return fd;
}
