import { type FileHandle, open } from 'node:fs/promises';
import { boxesOf } from '../../mp4-boxes.ts';

/** Edit list of one track: which part of its media is shown. */
export interface Edits {
  /** Seconds of media that are shown; `Infinity` where the list leaves the end open. */
  readonly seconds: number;
  /** Whether one piece is shown, at its own speed. */
  readonly isOnePiece: boolean;
}

/** Largest header that is read: that of an hour of video has about 5 MB. */
const MAX_HEADER_BYTES = 64 * 1024 ** 2;
const BOX_HEADER_BYTES = 8;
/** Pictures or packets of sound of one track: days of them. */
const MAX_SAMPLES = 10_000_000;
/** Boxes at the top of a file before its header is given up on. */
const MAX_BOXES = 1_000;

/**
 * Reads the edit lists of an MP4 or QuickTime file by track id; a track without one is missing. Mediabunny uses only the
 * beginning of the first edit.
 * @throws RangeError if the header is larger than that of any clip, or damaged: its tables are checked, too.
 * @see ISO/IEC 14496-12, 8.6.6 (elst), 8.3.2 (tkhd), 8.2.2 (mvhd)
 */
export async function readEdits(path: string): Promise<ReadonlyMap<number, Edits>> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const header = await readHeader(file, size);
    if (header === null) return new Map();
    checkCounts(header, size);
    return editsIn(header);
  } finally {
    await file.close();
  }
}

/** Returns the content of the `moov` box; `null` if there is none, as in WebM. */
async function readHeader(file: FileHandle, fileBytes: number): Promise<Buffer | null> {
  for await (const { name, from, until } of boxesOf(file, [0, fileBytes], { boxes: MAX_BOXES })) {
    if (name !== 'moov') continue;
    const bytes = until - from;
    if (bytes > MAX_HEADER_BYTES) throw new RangeError(`a header of ${bytes} bytes`);
    const header = Buffer.alloc(bytes);
    await file.read(header, 0, bytes, from);
    return header;
  }
  return null;
}

function editsIn(header: Buffer): ReadonlyMap<number, Edits> {
  const found = new Map<number, Edits>();
  const movie = boxesIn(header).find(({ name }) => name === 'mvhd');
  if (movie === undefined) return found;
  // The fields before the time scale have 64 bits in version 1.
  const unitsPerSecond = movie.content.readUInt32BE(movie.content[0] === 1 ? 20 : 12);
  for (const { name, content } of boxesIn(header)) {
    if (name !== 'trak') continue;
    const track = boxesIn(content);
    const tkhd = track.find((box) => box.name === 'tkhd')?.content;
    const edts = track.find((box) => box.name === 'edts')?.content;
    const elst = edts && boxesIn(edts).find((box) => box.name === 'elst')?.content;
    if (tkhd === undefined || elst === undefined) continue;
    found.set(tkhd.readUInt32BE(tkhd[0] === 1 ? 20 : 12), parseEdits(elst, unitsPerSecond));
  }
  return found;
}

function parseEdits(elst: Buffer, unitsPerSecond: number): Edits {
  const isWide = elst[0] === 1;
  const entryBytes = isWide ? 20 : 12;
  const pieces: { readonly units: number; readonly rate: number }[] = [];
  const entries = Math.min(elst.readUInt32BE(4), Math.floor((elst.length - 8) / entryBytes));
  for (let entry = 0; entry < entries; entry += 1) {
    const at = 8 + entry * entryBytes;
    const units = isWide ? Number(elst.readBigUInt64BE(at)) : elst.readUInt32BE(at);
    const isEmpty = isWide ? elst.readBigInt64BE(at + 8) === -1n : elst.readInt32BE(at + 4) === -1;
    // An empty edit only delays what follows.
    if (!isEmpty) pieces.push({ units, rate: elst.readInt32BE(at + entryBytes - 4) });
  }
  const units = pieces.reduce((sum, piece) => sum + piece.units, 0);
  return {
    seconds: units === 0 ? Number.POSITIVE_INFINITY : units / unitsPerSecond,
    isOnePiece: pieces.length <= 1 && pieces.every(({ rate }) => rate === 0x1_0000),
  };
}

/**
 * Compares the counts in the sample tables with each other and with the file: a parser that believes a wrong one, as in a damaged
 * download, counts for minutes. @see ISO/IEC 14496-12, 8.6.1 (stts, ctts), 8.7.3 (stsz), 8.7.4 (stsc), 8.7.5 (stco, co64)
 */
function checkCounts(header: Buffer, fileBytes: number): void {
  for (const track of boxesIn(header).filter(({ name }) => name === 'trak')) {
    const tables = ['mdia', 'minf', 'stbl'].reduce(
      (boxes, name) => boxes.filter((box) => box.name === name).flatMap(({ content }) => boxesIn(content)),
      boxesIn(track.content),
    );
    const sizes = tables.find(({ name }) => name === 'stsz')?.content;
    if (sizes === undefined) continue;
    const samples = sizes.readUInt32BE(8);
    const chunks = tables.find(({ name }) => name === 'stco' || name === 'co64')?.content.readUInt32BE(4) ?? 0;
    const counts = tables.map(({ name, content }) =>
      name === 'stsc' ? chunked(content, chunks) : timed(name, content),
    );
    if (samples > Math.min(MAX_SAMPLES, fileBytes) || counts.some((count) => count > samples))
      throw new RangeError(`a table of ${Math.max(...counts)} samples, another of ${samples}`);
  }
}

/** Returns the samples of a table of times; 0 for any other. */
function timed(name: string, table: Buffer): number {
  let samples = 0;
  const rows = name === 'stts' || name === 'ctts' ? table.readUInt32BE(4) : 0;
  for (let row = 0; row < rows; row += 1) samples += table.readUInt32BE(8 + row * 8);
  return samples;
}

function chunked(table: Buffer, chunks: number): number {
  let samples = 0;
  const rows = table.readUInt32BE(4);
  for (let row = 0; row < rows; row += 1) {
    const [first, each] = [table.readUInt32BE(8 + row * 12), table.readUInt32BE(12 + row * 12)];
    const next = row + 1 < rows ? table.readUInt32BE(20 + row * 12) : chunks + 1;
    if (next < first) throw new RangeError(`chunk ${next} after ${first}`);
    samples += (next - first) * each;
  }
  return samples;
}

interface Box {
  readonly name: string;
  readonly content: Buffer;
}

function boxesIn(content: Buffer): readonly Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at + BOX_HEADER_BYTES <= content.length; ) {
    const bytes = content.readUInt32BE(at);
    if (bytes < BOX_HEADER_BYTES) break;
    const name = content.toString('latin1', at + 4, at + 8);
    boxes.push({ name, content: content.subarray(at + BOX_HEADER_BYTES, at + bytes) });
    at += bytes;
  }
  return boxes;
}
