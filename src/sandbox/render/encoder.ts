import { createRequire } from 'node:module';
import type { FrameSize } from './job.ts';
import { FRAMES_PER_SECOND } from './job.ts';

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

/** Types of the container boxes that are parsed. */
const CONTAINERS: ReadonlySet<string> = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl']);
/** H.264 NAL unit type of a key frame (IDR picture). @see ITU-T H.264, table 7-1 */
const NAL_IDR = 5;

interface Box {
  readonly type: string;
  readonly body: Buffer;
}

/**
 * Prepares the encoder's MP4 for browsers: adds the list of key frames (`stss`), without which a player cannot seek,
 * and moves the index (`moov`) before the pictures, so that playback starts before the download ends.
 * @param encoded file with one video track, four-byte NAL lengths, 32-bit chunk offsets and the index last.
 * @throws Error when the file has another structure.
 * @see ISO/IEC 14496-12, 8.6.2 (stss) and 8.7.5 (stco)
 */
export function makeSeekable(encoded: Buffer): Buffer {
  const top = boxesOf(encoded);
  const ftyp = writeBox(find(top, 'ftyp'));
  const pictures = find(top, 'mdat');
  const moov = find(top, 'moov');
  const tables = ['trak', 'mdia', 'minf', 'stbl'].reduce((box, type) => find(boxesOf(box.body), type), moov);
  const keyFrames = writeKeyFrames(encoded, boxesOf(tables.body));
  const lengthOfIndex = writeBox(withTables(moov, keyFrames, 0)).length;
  // Every chunk offset shifts by as much as `mdat` moves.
  const shift = ftyp.length + lengthOfIndex + 8 - (pictures.body.byteOffset - encoded.byteOffset);
  return Buffer.concat([ftyp, writeBox(withTables(moov, keyFrames, shift)), writeBox(pictures)]);
}

function boxesOf(bytes: Buffer): readonly Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const size = bytes.readUInt32BE(at);
    if (size < 8 || at + size > bytes.length)
      throw new Error(`reading the encoder’s MP4: a box of ${size} bytes at ${at}`);
    boxes.push({ type: bytes.toString('latin1', at + 4, at + 8), body: bytes.subarray(at + 8, at + size) });
    at += size;
  }
  return boxes;
}

function find(boxes: readonly Box[], type: string): Box {
  const found = boxes.find((box) => box.type === type);
  if (found === undefined) throw new Error(`reading the encoder’s MP4: no ${type} box`);
  return found;
}

function writeBox({ type, body }: Box): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}

/** Rebuilds a box with the key frames added to the sample tables, and every chunk offset moved by `shift`. */
function withTables(box: Box, keyFrames: Buffer, shift: number): Box {
  if (box.type === 'stco') return { type: box.type, body: moveChunks(box.body, shift) };
  if (!CONTAINERS.has(box.type)) return box;
  const inner = boxesOf(box.body).map((child) => writeBox(withTables(child, keyFrames, shift)));
  return { type: box.type, body: Buffer.concat(box.type === 'stbl' ? [...inner, keyFrames] : inner) };
}

function moveChunks(body: Buffer, shift: number): Buffer {
  const moved = Buffer.from(body);
  for (let at = 8; at < moved.length; at += 4) moved.writeUInt32BE(moved.readUInt32BE(at) + shift, at);
  return moved;
}

/** Builds the `stss` box: the numbers, from 1, of the samples that are key frames. */
function writeKeyFrames(file: Buffer, tables: readonly Box[]): Buffer {
  const numbers: number[] = [];
  let number = 0;
  for (const sample of samples(file, tables)) {
    number += 1;
    if (holdsKeyFrame(sample)) numbers.push(number);
  }
  const body = Buffer.alloc(8 + numbers.length * 4);
  body.writeUInt32BE(numbers.length, 4);
  numbers.forEach((value, index) => {
    body.writeUInt32BE(value, 8 + index * 4);
  });
  return writeBox({ type: 'stss', body });
}

/** Yields the bytes of every sample in order, from the tables of sizes, samples per chunk and chunk offsets. */
function* samples(file: Buffer, tables: readonly Box[]): Generator<Buffer> {
  const sizes = find(tables, 'stsz').body;
  const runs = find(tables, 'stsc').body;
  const chunks = find(tables, 'stco').body;
  const sameSize = sizes.readUInt32BE(4);
  const count = sizes.readUInt32BE(8);
  let sample = 0;
  let run = 0;
  for (let chunk = 0; chunk < chunks.readUInt32BE(4) && sample < count; chunk++) {
    if (run + 1 < runs.readUInt32BE(4) && runs.readUInt32BE(8 + (run + 1) * 12) <= chunk + 1) run += 1;
    const inChunk = runs.readUInt32BE(8 + run * 12 + 4);
    let at = chunks.readUInt32BE(8 + chunk * 4);
    for (let index = 0; index < inChunk && sample < count; index++) {
      const size = sameSize === 0 ? sizes.readUInt32BE(12 + sample * 4) : sameSize;
      yield file.subarray(at, at + size);
      at += size;
      sample += 1;
    }
  }
}

function holdsKeyFrame(sample: Buffer): boolean {
  for (let at = 0; at + 5 <= sample.length; at += 4 + sample.readUInt32BE(at)) {
    if (((sample[at + 4] ?? 0) & 31) === NAL_IDR) return true;
  }
  return false;
}
