import { createRequire } from 'node:module';
import {
  BufferSource,
  BufferTarget,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  MP4,
  Mp4OutputFormat,
  Output,
} from 'mediabunny';
import type { FrameSize } from './job.ts';
import { FRAMES_PER_SECOND } from './job.ts';

interface Encoder {
  /** Adds one frame of `width × height × 4` bytes RGBA; alpha is ignored. */
  add(rgba: Uint8Array): void;
  /** Ends the clip. @returns the whole MP4, seekable. */
  finish(): Promise<Buffer>;
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
    async finish() {
      encoder.finalize();
      const encoded = encoder.FS.readFile(encoder.outputFilename);
      encoder.delete();
      return seekable(Uint8Array.from(encoded));
    },
  };
}

/**
 * Writes the encoder's MP4 anew for browsers: with the list of its key frames, without which a player cannot seek, and
 * with its index before the pictures, so that playback starts before the download ends.
 */
async function seekable(encoded: Uint8Array<ArrayBuffer>): Promise<Buffer> {
  using input = new Input({ formats: [MP4], source: new BufferSource(encoded) });
  const track = await input.getPrimaryVideoTrack();
  const decoderConfig = await track?.getDecoderConfig();
  if (!track || !decoderConfig) throw new TypeError('the encoder made a file without pictures');
  const pictures = new EncodedVideoPacketSource('avc');
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: 'in-memory' }), target });
  output.addVideoTrack(pictures, { frameRate: FRAMES_PER_SECOND });
  await output.start();
  const packets = new EncodedPacketSink(track).packets(undefined, undefined, { verifyKeyPackets: true });
  for await (const packet of packets) await pictures.add(packet, { decoderConfig });
  await output.finalize();
  return Buffer.from(target.buffer ?? new ArrayBuffer(0));
}
