import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { CustomSource } from 'mediabunny';

/** Bytes read at once for small reads: headers, and packets of sound. */
const WINDOW_BYTES = 256 * 1024;

/**
 * Opens a clip for reading, in the process that does nothing else: reads block, and all of them use the same two buffers,
 * since Mediabunny copies what it is given where it caches nothing. That halves what has to be collected.
 */
export function openSource(path: string): CustomSource {
  const file = openSync(path, 'r');
  const window = new Uint8Array(WINDOW_BYTES);
  let [windowFrom, windowUntil] = [0, 0];
  let large = new Uint8Array(0);
  const read = (from: number, until: number): Uint8Array => {
    const bytes = until - from;
    if (bytes > WINDOW_BYTES / 2) {
      if (large.length < bytes) large = new Uint8Array(bytes);
      return large.subarray(0, fill(file, large.subarray(0, bytes), from));
    }
    if (from < windowFrom || until > windowUntil) {
      windowFrom = from;
      windowUntil = from + fill(file, window, from);
    }
    return window.subarray(from - windowFrom, until - windowFrom);
  };
  return new CustomSource({
    getSize: () => fstatSync(file).size,
    read,
    dispose: () => closeSync(file),
    maxCacheSize: 0,
    prefetchProfile: 'none',
  });
}

/** Reads until a buffer is full, or the file ends. @returns the number of bytes that were read */
function fill(file: number, buffer: Uint8Array, from: number): number {
  let filled = 0;
  while (filled < buffer.length) {
    const bytes = readSync(file, buffer, filled, buffer.length - filled, from + filled);
    if (bytes === 0) break;
    filled += bytes;
  }
  return filled;
}
