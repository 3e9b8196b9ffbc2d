import { createRequire } from 'node:module';
import type { FrameSize } from './job.ts';
import { FRAMES_PER_SECOND } from './job.ts';
import { makeSeekable } from './mp4.ts';

interface Encoder {
  /** Adds one frame of `width × height × 4` bytes RGBA; alpha is ignored. */
  add(rgba: Uint8Array): void;
  /** Ends the clip. @returns the whole MP4, seekable. */
  finish(): Buffer;
}

// A CommonJS package that loads its WASM with `require`; its types do not match an ESM import.
const { createH264MP4Encoder } = createRequire(import.meta.url)(
  'h264-mp4-encoder',
) as typeof import('h264-mp4-encoder');

/** Creates an H.264 encoder. It blocks the thread while encoding: use it in a worker only. */
export async function createEncoder({ width, height }: FrameSize): Promise<Encoder> {
  const encoder = await createH264MP4Encoder();
  encoder.width = width;
  encoder.height = height;
  encoder.frameRate = FRAMES_PER_SECOND;
  // Fastest of 0 to 10: 720p takes 19 ms a frame on one core; the quantiser below preserves the quality.
  encoder.speed = 10;
  encoder.quantizationParameter = 25;
  // A key frame every second: seeking to a second is immediate, and to a frame takes decoding at most 23 more.
  encoder.groupOfPictures = FRAMES_PER_SECOND;
  encoder.initialize();
  return {
    add: (rgba) => encoder.addFrameRgba(rgba),
    finish() {
      encoder.finalize();
      const encoded = encoder.FS.readFile(encoder.outputFilename);
      encoder.delete();
      return makeSeekable(Buffer.from(encoded));
    },
  };
}
