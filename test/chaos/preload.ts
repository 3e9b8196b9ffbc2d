/**
 * Loaded into a replica before its program (`node --import`): steps the clock and fills the disk on command of the
 * harness over the IPC channel, leads connections to the video service through the replica's own proxy, although all
 * replicas know it by the same address, and runs some jobs oftener. The program itself is unaware of it.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

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

const { CHAOS_SERVICE_PORT, CHAOS_ROAD_PORT, CHAOS_JOBS_EVERY_MS } = process.env;

const { connect } = net;
net.connect = new Proxy(connect, {
  apply(real, self, [to, ...rest]: [{ readonly port?: number | string } | undefined, ...unknown[]]) {
    const isService = CHAOS_SERVICE_PORT !== undefined && String(to?.port) === CHAOS_SERVICE_PORT;
    return Reflect.apply(real, self, [isService ? { ...to, port: Number(CHAOS_ROAD_PORT) } : to, ...rest]);
  },
});

/** Usual delay between two runs of the jobs that read lists of tasks and look for lost jobs. */
const JOBS_EVERY_MS = 20_000;
globalThis.setTimeout = new Proxy(globalThis.setTimeout, {
  apply(real, self, [run, delayMs, ...rest]: [() => void, number, ...unknown[]]) {
    const isJob = CHAOS_JOBS_EVERY_MS !== undefined && delayMs === JOBS_EVERY_MS;
    return Reflect.apply(real, self, [run, isJob ? Number(CHAOS_JOBS_EVERY_MS) : delayMs, ...rest]);
  },
});
syncBuiltinESMExports();
