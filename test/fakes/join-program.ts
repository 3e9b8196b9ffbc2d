/**
 * Joins clips (arguments: folder of the cuts, then the clips) and kills itself, as by `kill -9`, once the cut is being
 * written. Prints the id of the process that writes it.
 */
import { readdirSync, readFileSync, watch, writeSync } from 'node:fs';
import { pino } from 'pino';
import { systemClock } from '#src/clock.ts';
import { Joiner } from '#src/media/join/joiner.ts';

const [, , folder = '', ...paths] = process.argv;

/** Returns the ids of this process's children. @see proc_tid_children(5) */
function childrenOf(pid: number): string {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')).join('');
}

watch(folder, () => {
  writeSync(1, childrenOf(process.pid));
  process.kill(process.pid, 'SIGKILL');
});
const joiner = new Joiner({ folder, ffmpeg: null, clock: systemClock, logger: pino({ level: 'silent' }) });
const inputs = paths.map((path, at) => ({ id: `${at}`, path }));
await joiner.join(inputs, new AbortController().signal);
