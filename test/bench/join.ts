/**
 * Joining 12 clips of 100 MB by packet copy, beside `ffmpeg -f concat -c copy` of the same clips, in alternating pairs;
 * while this process polls 100 tasks a second.
 */
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as after } from 'node:timers/promises';
import { systemClock } from '#src/clock.ts';
import { createLogger } from '#src/logger.ts';
import { Joiner } from '#src/media/join/joiner.ts';
import { ffmpeg } from '../fakes/shots.ts';
import { type Figure, report } from './figure.ts';
import { fillWithOpenTasks, inFolder, openHouse, quantile, startUpstream } from './house.ts';

const CLIPS = 12;
const PAIRS = 5;
const MAX_RATIO = 4;
const MAX_GROWTH_MB = 256;
const TASKS = 100;
const POLL_EVERY_MS = 1_000;
/** Polls are late if fewer than this share of those without a join come in the same time. */
const MIN_POLLS = 0.9;
const MB = 1024 ** 2;

const upstream = await startUpstream();
await inFolder(async (folder) => {
  const clips = await makeClips(folder);
  const url = `sqlite:${join(folder, 'store.db')}`;
  await fillWithOpenTasks(url, TASKS);
  const bot = await openHouse({ baseUrl: upstream.baseUrl, url, pollEveryMs: POLL_EVERY_MS });
  bot.start();
  await bot.tasks.resume();
  while (bot.polls() < TASKS) await after(50);
  const idle = await watched(bot.polls, () => after(10_000));
  const [joins, concats] = [[] as Watched[], [] as Watched[]];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    joins.push(await watched(bot.polls, () => joinClips(folder, clips)));
    concats.push(await watched(bot.polls, () => concat(folder, clips)));
  }
  await bot.close();
  report(figuresOf(idle, joins, concats, clips));
});
upstream.stop();

/** Makes the clips: ten seconds of 1080p with B-frames and stereo sound, the pictures being one second of noise ten times. */
async function makeClips(folder: string): Promise<readonly string[]> {
  const pictures = join(folder, 'second.mp4');
  const noise = ['-f', 'lavfi', '-i', 'testsrc2=size=1920x1080:rate=30:duration=1', '-vf', 'noise=alls=40:allf=t'];
  const rate = ['-b:v', '84M', '-minrate', '84M', '-maxrate', '84M', '-bufsize', '8M', '-pix_fmt', 'yuv420p'];
  await ffmpeg(...noise, '-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '2', ...rate, pictures);
  const paths = Array.from({ length: CLIPS }, (_, at) => join(folder, `clip-${at}.mp4`));
  const [first = '', ...others] = paths;
  const sound = ['-f', 'lavfi', '-i', 'sine=sample_rate=48000:duration=10'];
  await ffmpeg('-stream_loop', '9', '-i', pictures, ...sound, '-c:v', 'copy', '-c:a', 'aac', '-ac', '2', first);
  for (const path of others) copyFileSync(first, path);
  return paths;
}

async function joinClips(folder: string, clips: readonly string[]): Promise<void> {
  const joiner = new Joiner({ folder, ffmpeg: null, clock: systemClock, logger: createLogger('error') });
  const inputs = clips.map((path) => ({ id: path, path }));
  const cut = await joiner.join(inputs, new AbortController().signal);
  if (cut.bytes < statSync(clips[0] ?? '').size * CLIPS * 0.99) throw new TypeError('the cut is too short');
  rmSync(cut.path);
}

async function concat(folder: string, clips: readonly string[]): Promise<void> {
  const [list, output] = [join(folder, 'list.txt'), join(folder, 'concat.mp4')];
  writeFileSync(list, clips.map((path) => `file '${path}'\n`).join(''));
  await ffmpeg('-f', 'concat', '-safe', '0', '-i', list, '-c', 'copy', output);
  rmSync(output);
}

interface Watched {
  readonly ms: number;
  /** Growth of this process and its children at their peaks, in bytes. */
  readonly bytes: number;
  readonly pollsPerSecond: number;
  /** 99th percentile of the delay of this process's event loop. */
  readonly delayMs: number;
}

/** Runs `work` and looks at this process and its children meanwhile. */
async function watched(polls: () => number, work: () => Promise<unknown>): Promise<Watched> {
  globalThis.gc?.();
  // 5 resets the peak. @see proc_pid_clear_refs(5)
  writeFileSync('/proc/self/clear_refs', '5');
  const before = { bytes: statusBytes('self', 'VmRSS'), polls: polls(), atMs: performance.now() };
  const peaks = new Map<string, number>();
  // The process that plays the service.
  const others = new Set(childrenOf());
  const timer = setInterval(() => {
    for (const pid of childrenOf().filter((each) => !others.has(each)))
      peaks.set(pid, Math.max(peaks.get(pid) ?? 0, statusBytes(pid, 'VmHWM')));
  }, 20);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await work();
  delay.disable();
  clearInterval(timer);
  const ms = performance.now() - before.atMs;
  const children = [...peaks.values()].reduce((most, bytes) => Math.max(most, bytes), 0);
  return {
    ms,
    bytes: statusBytes('self', 'VmHWM') - before.bytes + children,
    pollsPerSecond: ((polls() - before.polls) * 1_000) / ms,
    delayMs: delay.percentile(99) / 1e6,
  };
}

/** Returns a field of a process's status in bytes; 0 once it has ended. @see proc_pid_status(5) */
function statusBytes(pid: string, field: 'VmRSS' | 'VmHWM'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** Returns the ids of this process's children. @see proc_tid_children(5) */
function childrenOf(): readonly string[] {
  const found = readdirSync('/proc/self/task').flatMap((thread) => {
    try {
      return readFileSync(`/proc/self/task/${thread}/children`, 'utf8').trim().split(' ');
    } catch {
      return [];
    }
  });
  return found.filter((pid) => pid !== '');
}

function figuresOf(
  idle: Watched,
  joins: readonly Watched[],
  concats: readonly Watched[],
  clips: readonly string[],
): readonly Figure[] {
  const median = (runs: readonly Watched[], key: keyof Watched): number =>
    quantile(
      runs.map((run) => run[key]),
      0.5,
    );
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  const [joinMs, concatMs] = [median(joins, 'ms'), median(concats, 'ms')];
  const megabytes = Math.max(...joins.map(({ bytes }) => bytes)) / MB;
  const polls = median(joins, 'pollsPerSecond') / idle.pollsPerSecond;
  const clip = Math.round(statSync(clips[0] ?? '').size / MB);
  return [
    {
      what: `join of ${CLIPS} clips of ${clip} MB by packet copy`,
      measured: `${seconds(joinMs)}, ${(joinMs / concatMs).toFixed(1)} × ffmpeg`,
      target: 'at most 4 × ffmpeg',
      isMet: joinMs <= MAX_RATIO * concatMs,
      remark: `ffmpeg -f concat -c copy: ${seconds(concatMs)}, without a sync to disk and with the header last; medians of ${PAIRS} alternating pairs`,
    },
    {
      what: 'join, growth of resident memory',
      measured: `${megabytes.toFixed(0)} MB`,
      target: 'at most 256 MB',
      isMet: megabytes <= MAX_GROWTH_MB,
      remark: `the joining process and the growth of the bot at their peaks, the most of ${PAIRS} runs; ffmpeg: ${(median(concats, 'bytes') / MB).toFixed(0)} MB`,
    },
    {
      what: 'join, polls of the bot meanwhile',
      measured: `${(polls * 100).toFixed(0)} %`,
      target: 'at least 90 %',
      isMet: polls >= MIN_POLLS,
      remark: `of ${idle.pollsPerSecond.toFixed(0)}/s without a join; during ffmpeg ${((median(concats, 'pollsPerSecond') / idle.pollsPerSecond) * 100).toFixed(0)} %; delay of the event loop, p99: ${median(joins, 'delayMs').toFixed(0)} ms, idle ${idle.delayMs.toFixed(0)} ms, during ffmpeg ${median(concats, 'delayMs').toFixed(0)} ms`,
    },
  ];
}
