import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { createCanvas, loadImage } from '@napi-rs/canvas';

const ffmpeg = createRequire(import.meta.url).resolve('@ffmpeg-installer/linux-x64/ffmpeg');
const run = promisify(execFile);

/** One frame of a clip, as a player would show it. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** RGBA, row by row. */
  readonly pixels: Uint8ClampedArray;
}

/** Decodes the frame of a clip at `seconds` with ffmpeg; seeks to it like a player. */
export async function decodePicture(path: string, seconds: number): Promise<Picture> {
  const seek = ['-v', 'error', '-ss', String(seconds), '-i', path];
  const output = ['-frames:v', '1', '-f', 'image2pipe', '-c:v', 'png', '-'];
  const { stdout } = await run(ffmpeg, [...seek, ...output], { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 });
  const image = await loadImage(stdout);
  const canvas = createCanvas(image.width, image.height);
  const ctx = canvas.getContext('2d');
  ctx.drawImage(image, 0, 0);
  return { width: image.width, height: image.height, pixels: ctx.getImageData(0, 0, image.width, image.height).data };
}

/** Decodes every frame. @returns the number of frames; rejects if one is broken. */
export async function countFrames(path: string): Promise<number> {
  const { stdout, stderr } = await run(ffmpeg, ['-v', 'error', '-i', path, '-f', 'framemd5', '-']);
  if (stderr !== '') throw new Error(stderr);
  return stdout.split('\n').filter((line) => line.startsWith('0,')).length;
}

/** Returns the share of pixels within `reach` of a colour on every channel, 0 to 1. */
export function shareOf(
  { pixels }: Picture,
  [red, green, blue]: readonly [number, number, number],
  reach = 40,
): number {
  const near = (at: number, wanted: number): boolean => Math.abs((pixels[at] ?? 0) - wanted) <= reach;
  let found = 0;
  for (let at = 0; at < pixels.length; at += 4) {
    if (near(at, red) && near(at + 1, green) && near(at + 2, blue)) found += 1;
  }
  return (found * 4) / pixels.length;
}

/** Returns the mean difference of two frames of the same size, over all channels, 0 (identical) to 255. */
export function difference(one: Picture, other: Picture): number {
  let sum = 0;
  for (let at = 0; at < one.pixels.length; at++) sum += Math.abs((one.pixels[at] ?? 0) - (other.pixels[at] ?? 0));
  return sum / one.pixels.length;
}
