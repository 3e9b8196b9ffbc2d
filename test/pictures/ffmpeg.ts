import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const program = createRequire(import.meta.url).resolve('@ffmpeg-installer/linux-x64/ffmpeg');

/** Runs the ffmpeg from npm without output. @throws Error with its output on failure. */
export async function ffmpeg(args: readonly string[]): Promise<void> {
  await run(program, ['-v', 'error', '-y', ...args]);
}

/** Runs `use` with an empty folder, which is removed afterwards. */
export async function inFolder<T>(use: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'dailies-picture-'));
  try {
    return await use(dir);
  } finally {
    await rm(dir, { recursive: true });
  }
}

/** Decodes the frame at `seconds` of a clip as a PNG. */
export function frameOf(clip: Buffer, seconds: number): Promise<Buffer> {
  return inFolder(async (dir) => {
    const [from, to] = [join(dir, 'clip.mp4'), join(dir, 'frame.png')];
    await writeFile(from, clip);
    await ffmpeg(['-ss', String(seconds), '-i', from, '-frames:v', '1', to]);
    return readFile(to);
  });
}

/** Writes a PNG to `path` with a palette of 256 colours: less than half the size, and nearly the same to the eye. */
export function writePng(png: Buffer, path: string): Promise<void> {
  return inFolder(async (dir) => {
    const from = join(dir, 'picture.png');
    await writeFile(from, png);
    const filter = 'split[all][again];[all]palettegen[palette];[again][palette]paletteuse';
    await ffmpeg(['-i', from, '-vf', filter, '-compression_level', '9', path]);
  });
}

/** Lossy quality of a picture with clips in it, 0 to 100: keeps text sharp and the file small. */
const WEBP_QUALITY = 70;

/** Writes a screenshot to `path` in the format of its extension: PNG as {@link writePng} does, or lossy WebP. */
export function writePicture(png: Buffer, path: string): Promise<void> {
  if (!path.endsWith('.webp')) return writePng(png, path);
  return inFolder(async (dir) => {
    const from = join(dir, 'picture.png');
    await writeFile(from, png);
    await ffmpeg(['-i', from, '-c:v', 'libwebp', '-q:v', String(WEBP_QUALITY), '-compression_level', '6', path]);
  });
}
