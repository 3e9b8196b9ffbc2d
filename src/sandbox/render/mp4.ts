/** Boxes that hold other boxes, as far as this file looks into them. */
const CONTAINERS: ReadonlySet<string> = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl']);
/** The H.264 NAL unit type of a picture that needs no other to be shown. @see ITU-T H.264, table 7-1 */
const NAL_IDR = 5;

/** A box of an MP4 file: its type and what is inside. */
interface Box {
  readonly type: string;
  readonly body: Buffer;
}

/**
 * Makes the encoder's MP4 fit for browsers: adds the list of key frames (`stss`), without which a player cannot seek,
 * and puts the index (`moov`) before the pictures, so that playing starts before the last byte has come.
 * @param encoded one video track with four-byte NAL lengths and 32-bit chunk offsets, the index last.
 * @throws Error when the file is not of that kind.
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
  // Every picture moves by as much as `mdat` does.
  const shift = ftyp.length + lengthOfIndex + 8 - (pictures.body.byteOffset - encoded.byteOffset);
  return Buffer.concat([ftyp, writeBox(withTables(moov, keyFrames, shift)), writeBox(pictures)]);
}

function boxesOf(bytes: Buffer): readonly Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const size = bytes.readUInt32BE(at);
    if (size < 8 || at + size > bytes.length)
      throw new Error(`reading the encoder's MP4: a box of ${size} bytes at ${at}`);
    boxes.push({ type: bytes.toString('latin1', at + 4, at + 8), body: bytes.subarray(at + 8, at + size) });
    at += size;
  }
  return boxes;
}

function find(boxes: readonly Box[], type: string): Box {
  const found = boxes.find((box) => box.type === type);
  if (found === undefined) throw new Error(`reading the encoder's MP4: no ${type} box`);
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

/** The `stss` box: the numbers, from 1, of the samples that are key frames. */
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

/** The bytes of every sample, in order, by the tables of sizes, of samples per chunk and of chunk offsets. */
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
