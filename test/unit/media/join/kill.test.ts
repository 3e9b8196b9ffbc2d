import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { Joiner } from '#src/media/join/joiner.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';
import { makeShot, packetsOf } from '#test/fakes/shots.ts';

const PROGRAM = fileURLToPath(new URL('../../../fakes/join-program.ts', import.meta.url));
const SHOTS = 60;

/** Runs the program that joins and is killed. @returns its signal, and the ids of the processes that it had started. */
function joinAndDie(folder: string, paths: readonly string[]): Promise<{ signal: string | null; children: number[] }> {
  const { promise, resolve } = Promise.withResolvers<{ signal: string | null; children: number[] }>();
  execFile(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, folder, ...paths], (error, stdout) =>
    resolve({ signal: error?.signal ?? null, children: stdout.trim().split(/\s+/).map(Number) }),
  );
  return promise;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it('leaves no cut and no process when the bot is killed, and makes the cut later', async () => {
  const [folder, clips] = await Promise.all(
    ['cuts', 'shots'].map((name) => mkdtemp(join(tmpdir(), `dailies-${name}-`))),
  );
  if (folder === undefined || clips === undefined) throw new TypeError('no folders');
  try {
    const clip = await makeShot(join(clips, 'shot.mp4'));
    const paths = Array.from({ length: SHOTS }, () => clip);
    const { signal, children } = await joinAndDie(folder, paths);
    expect(signal).toBe('SIGKILL');
    expect(children).toHaveLength(1);
    await expect.poll(() => children.some(isRunning)).toBe(false);
    expect((await readdir(folder)).map((name) => name.replace(/^.*\./, ''))).toEqual(['part']);
    const clock = new ManualClock(Date.now());
    const joiner = new Joiner({ folder, ffmpeg: null, clock, logger: pino({ level: 'silent' }) });
    const inputs = paths.map((path, at) => ({ id: `${at}`, path }));
    const cut = await joiner.join(inputs, new AbortController().signal);
    expect(await packetsOf(cut.path, 'v')).toHaveLength(SHOTS * 25);
    clock.step(4 * 3_600_000);
    await joiner.sweep();
    expect(await readdir(folder)).toEqual([cut.path.slice(folder.length + 1)]);
  } finally {
    await Promise.all([folder, clips].map((path) => rm(path, { recursive: true })));
  }
});
