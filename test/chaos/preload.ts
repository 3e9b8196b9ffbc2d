/**
 * Loaded into a replica before its program (`node --import`): steps the clock and fills the disk on command of the
 * harness over the IPC channel. The program itself is unaware of it.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Command of the harness to a replica. */
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
// The channel alone keeps no process alive, and a process that loses the harness exits.
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
  // Called without `new`, `Date` returns a string.
  apply: () => new SteppingDate().toString(),
}) as unknown as DateConstructor;

function noSpace(syscall: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`ENOSPC: no space left on device, ${syscall}`), {
    code: 'ENOSPC',
    errno: -28,
    syscall,
  });
}

// Standard output must keep working, and the database writes to the disk on its own.
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
