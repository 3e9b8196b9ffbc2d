/** Shots made and measured by the ffmpeg from npm, whose encoders and demuxer are independent of Mediabunny. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Path of the ffmpeg program. */
export const FFMPEG = createRequire(import.meta.url).resolve('@ffmpeg-installer/linux-x64/ffmpeg');

/** Options of {@link makeShot}. */
export interface ShotOptions {
  /** Default: 160x90. */
  readonly size?: string;
  /** Default: 24. */
  readonly rate?: number;
  /** Pictures. Default: 25. */
  readonly frames?: number;
  /** Further options of x264, such as `-bf 0`. */
  readonly video?: string;
  /** Channels of the sound. Default: 2; `null`: a silent clip. */
  readonly channels?: 1 | 2 | null;
  /** Default: 48000. */
  readonly sampleRate?: number;
  /** Length of the sound. Default: that of the pictures. */
  readonly soundSeconds?: number;
  /** Further options of the file. */
  readonly output?: readonly string[];
}

/** Picture from which on a shot is white and beeps. */
const FLASH_FRAME = 12;

/** Makes a shot that is black and silent at first, then white and beeping: both have to stay together. */
export async function makeShot(path: string, options: ShotOptions = {}): Promise<string> {
  const { size = '160x90', rate = 24, frames = 25, channels = 2, sampleRate = 48_000 } = options;
  const flash = FLASH_FRAME / rate;
  const { soundSeconds = frames / rate } = options;
  const picture = `color=black:size=${size}:rate=${rate}:duration=${frames / rate}`;
  const white = `noise=alls=8:allf=t,drawbox=color=white:t=fill:enable='gte(t,${flash - 0.001})',format=yuv420p`;
  const beep = `aevalsrc='if(gte(t,${flash}),0.5*sin(2*PI*880*t),0)':s=${sampleRate}:d=${soundSeconds}`;
  const audio = channels === null ? [] : ['-f', 'lavfi', '-i', beep];
  const codec = channels === null ? [] : ['-c:a', 'aac', '-ac', `${channels}`];
  const video = ['-vf', white, '-c:v', 'libx264', '-preset', 'veryfast', ...(options.video?.split(' ') ?? [])];
  await ffmpeg('-f', 'lavfi', '-i', picture, ...audio, ...video, ...codec, ...(options.output ?? []), path);
  return path;
}

/** Runs ffmpeg. @throws Error with its output, also for a mere complaint. @returns its standard output. */
export async function ffmpeg(...options: readonly string[]): Promise<Buffer> {
  const buffers = { encoding: 'buffer', maxBuffer: 256 * 1024 ** 2 } as const;
  const { stdout, stderr } = await run(FFMPEG, ['-v', 'error', '-y', ...options], buffers);
  if (stderr.length > 0) throw new Error(stderr.toString());
  return stdout;
}

/** One packet of a file. */
export interface PacketFacts {
  /** Presentation time and duration in seconds. */
  readonly at: number;
  readonly seconds: number;
  readonly bytes: number;
  /** Checksum of its content. */
  readonly checksum: string;
}

/** Returns the packets of the track `v` or `a` in the order of decoding. */
export async function packetsOf(path: string, track: 'v' | 'a'): Promise<readonly PacketFacts[]> {
  const lines = (await ffmpeg('-i', path, '-map', `0:${track}`, '-c', 'copy', '-copyts', '-f', 'framecrc', '-'))
    .toString()
    .split('\n');
  const [, over = '1', per = '1'] = /#tb 0: (\d+)\/(\d+)/.exec(lines.join('\n')) ?? [];
  const unit = Number(over) / Number(per);
  return lines
    .filter((line) => /^\d/.test(line))
    .map((line) => {
      const [, , at, units, bytes, checksum = ''] = line.split(',').map((field) => field.trim());
      return { at: Number(at) * unit, seconds: Number(units) * unit, bytes: Number(bytes), checksum };
    });
}

/** What a player shows and plays of a file. */
export interface Playback {
  readonly width: number;
  readonly height: number;
  readonly frames: number;
  /** Seconds of the longest track, from the header. */
  readonly seconds: number;
  /** Seconds at which the picture turns white, and the beep begins. */
  readonly flashes: readonly number[];
  readonly beeps: readonly number[];
  /** Seconds of sound; 0 without a track. */
  readonly soundSeconds: number;
}

const SAMPLES_PER_SECOND = 120;
const LOUD = 2_000;
const SILENT_MS = 60;

/** Decodes a file. @throws Error where anything in it is damaged. */
export async function play(path: string): Promise<Playback> {
  const about = await describe(path);
  const [, hours = '', minutes = '', rest = ''] = /Duration: (\d+):(\d+):([\d.]+)/.exec(about) ?? [];
  const [, width, height] = /Video: h264.*? (\d{2,5})x(\d{2,5})/.exec(about) ?? [];
  const frames = (await ffmpeg('-i', path, '-map', '0:v', '-f', 'framecrc', '-')).toString().match(/^0,/gm) ?? [];
  const centre = `fps=${SAMPLES_PER_SECOND},crop=2:2:iw/2:ih/2,scale=1:1,format=gray`;
  const grey = await ffmpeg('-i', path, '-map', '0:v', '-vf', centre, '-f', 'rawvideo', '-');
  const hasSound = about.includes('Audio:');
  const pcm = hasSound ? await ffmpeg('-i', path, '-map', '0:a', '-ac', '1', '-ar', '48000', '-f', 's16le', '-') : null;
  return {
    width: Number(width),
    height: Number(height),
    frames: frames.length,
    seconds: Number(hours) * 3_600 + Number(minutes) * 60 + Number(rest),
    flashes: [...grey].flatMap((level, at) =>
      level > 128 && (grey[at - 1] ?? 0) <= 128 ? [at / SAMPLES_PER_SECOND] : [],
    ),
    beeps: pcm === null ? [] : beepsIn(pcm),
    soundSeconds: pcm === null ? 0 : pcm.length / 2 / 48_000,
  };
}

/** Returns what ffmpeg says about a file. */
export async function describe(path: string): Promise<string> {
  // It complains that there is no output.
  return run(FFMPEG, ['-hide_banner', '-i', path])
    .catch((thrown: { stderr: string }) => thrown)
    .then(({ stderr }) => stderr);
}

/** Returns the times at which sound follows silence, in seconds. */
function beepsIn(pcm: Buffer): readonly number[] {
  const beeps: number[] = [];
  let silentSamples = Number.POSITIVE_INFINITY;
  for (let at = 0; at + 2 <= pcm.length; at += 2) {
    if (Math.abs(pcm.readInt16LE(at)) < LOUD) {
      silentSamples += 1;
      continue;
    }
    if (silentSamples > SILENT_MS * 48) beeps.push(at / 2 / 48_000);
    silentSamples = 0;
  }
  return beeps;
}

/** Returns the hash of the last picture of a clip, or of the only one of an image file, as RGB. */
export async function lastFrameHash(path: string): Promise<string> {
  const { stdout } = await run(FFMPEG, ['-v', 'error', '-i', path, '-an', '-pix_fmt', 'rgb24', '-f', 'framemd5', '-']);
  return stdout.trim().split(/\s+/u).at(-1) ?? '';
}
