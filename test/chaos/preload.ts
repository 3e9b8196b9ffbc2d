/**
 * Loaded into a replica before its program (`node --import`): a clock that steps and a disk that is full, on command
 * of the harness over the IPC channel. Nothing in the program knows of it.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** What the harness says to a replica. */
export interface Command {
  readonly offsetMs?: number;
  readonly isDiskFull?: boolean;
}

const RealDate = Date;
let offsetMs = 0;
let isDiskFull = false;

process.on('message', (command: Command) => {
  offsetMs = command.offsetMs ?? offsetMs;
  isDiskFull = command.isDiskFull ?? isDiskFull;
});
// The channel alone keeps nobody alive; and whoever loses the harness has nothing left to do.
process.channel?.unref();
process.on('disconnect', () => process.exit(70));

class SteppingDate extends RealDate {
  constructor(...given: readonly unknown[]) {
    if (given.length === 0) super(RealDate.now() + offsetMs);
    else super(...(given as [number]));
  }

  static override now(): number {
    return RealDate.now() + offsetMs;
  }
}
globalThis.Date = new Proxy(SteppingDate, {
  // Called without `new`, it is a text.
  apply: () => new SteppingDate().toString(),
}) as unknown as DateConstructor;

function noSpace(syscall: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`ENOSPC: no space left on device, ${syscall}`), {
    code: 'ENOSPC',
    errno: -28,
    syscall,
  });
}

// Standard output is no file of ours, and the database has its own way to the disk.
const STREAMS = 2;

const { write, writev } = fs;
fs.write = new Proxy(write, {
  apply(real, self, [fd, ...rest]: [number, ...unknown[]]) {
    const done = rest.at(-1);
    if (!isDiskFull || fd <= STREAMS || typeof done !== 'function') return Reflect.apply(real, self, [fd, ...rest]);
    process.nextTick(() => done(noSpace('write')));
  },
});
fs.writev = new Proxy(writev, {
  apply(real, self, [fd, ...rest]: [number, ...unknown[]]) {
    const done = rest.at(-1);
    if (!isDiskFull || fd <= STREAMS || typeof done !== 'function') return Reflect.apply(real, self, [fd, ...rest]);
    process.nextTick(() => done(noSpace('writev')));
  },
});
for (const name of ['link', 'copyFile', 'writeFile'] as const) {
  const real = fs.promises[name] as (...given: unknown[]) => Promise<void>;
  Object.assign(fs.promises, {
    [name]: (...given: unknown[]) => (isDiskFull ? Promise.reject(noSpace(name)) : real(...given)),
  });
}
syncBuiltinESMExports();
