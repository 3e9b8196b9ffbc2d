import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Most bytes kept for a terminal or pipe that is not read; what comes after that is dropped. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024;
/** How often a reader that does not read is tried again. */
const TRY_AGAIN_MS = 50;

/** Collaborators of {@link Output}. */
export interface OutputOptions {
  /** Writes without waiting. @returns how many bytes it took. @throws `EAGAIN` where it would have to wait. */
  readonly write: (bytes: Uint8Array) => number;
  /** Calls `run` once, in `delayMs`; must not keep the process alive. */
  readonly after: (delayMs: number, run: () => void) => void;
  readonly maxPendingBytes?: number;
}

/**
 * A terminal, pipe or file that text is written to without ever waiting for its reader: a closed terminal or `| less` must
 * hold up neither the bot nor its shutdown. What does not fit is kept up to a bound, then dropped whole and counted.
 */
export class Output {
  readonly #options: OutputOptions;
  readonly #maxPendingBytes: number;
  readonly #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #dropped = 0;
  #isWaiting = false;
  /** Told how many texts were dropped, once the reader reads again. */
  onDropped: (count: number) => void = () => undefined;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.#maxPendingBytes = options.maxPendingBytes ?? MAX_PENDING_BYTES;
  }

  /** Writes `text`, now or once there is room; never throws. */
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
        this.#tryLater();
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

  /** @returns how many bytes are done with; `null`: the reader has to read first. */
  #tryWriting(bytes: Uint8Array): number | null {
    try {
      return this.#options.write(bytes);
    } catch (thrown) {
      const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
      // Of anything else (EPIPE, EIO: the reader is gone; ENOSPC) nobody can be told here.
      return code === 'EAGAIN' ? null : bytes.length;
    }
  }

  #tryLater(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#options.after(TRY_AGAIN_MS, () => {
      this.#isWaiting = false;
      this.flush();
    });
  }
}

let standard: Output | undefined;

/** Standard output of this process. */
export function standardOutput(): Output {
  standard ??= open(1);
  return standard;
}

/** Writes a last sentence to standard error, as far as somebody reads it. */
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

/** A descriptor of the same output on which a write does not wait. */
function unblocked(fd: 1 | 2): number {
  try {
    // A description of its own: whether writes wait is of the description, and the shell has the same one.
    if (isatty(fd))
      return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const kind = fstatSync(fd);
    // Node's own stream sets pipes and sockets to not waiting, and back at the end.
    if (kind.isFIFO() || kind.isSocket()) (fd === 1 ? process.stdout : process.stderr).on('error', () => undefined);
  } catch {
    // Such as the terminal of another user, or no /proc: then writes to it wait.
  }
  return fd;
}
