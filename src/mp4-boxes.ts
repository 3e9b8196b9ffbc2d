import type { FileHandle } from 'node:fs/promises';

/** Box of an MP4 or QuickTime file, by its header. @see ISO/IEC 14496-12, 4.2 "Object structure" */
interface Box {
  /** Four characters, such as `moov`. */
  readonly name: string;
  /** Hexadecimal digits; empty where the name is not `uuid`. */
  readonly uuid: string;
  /** Offset of its content. */
  readonly from: number;
  /** Offset of its end, which in a damaged file is beyond what holds it. */
  readonly until: number;
}

/** Size and name; with a 64-bit size, twice that. A UUID follows. */
const SHORT_HEADER_BYTES = 8;
const LONG_HEADER_BYTES = 16;
const UUID_BYTES = 16;

/**
 * Reads the header of a box; `null` where it is damaged or cut off.
 * @param at offset of the box
 * @param until end of what holds it, which is the end of a box without a size
 */
export function boxAt(head: Buffer, at: number, until: number): Box | null {
  if (head.length < SHORT_HEADER_BYTES) return null;
  const short = head.readUInt32BE(0);
  const isLong = short === 1;
  if (isLong && head.length < LONG_HEADER_BYTES) return null;
  const bytes = isLong ? Number(head.readBigUInt64BE(SHORT_HEADER_BYTES)) : short === 0 ? until - at : short;
  const name = head.toString('latin1', 4, 8);
  const headerBytes = isLong ? LONG_HEADER_BYTES : SHORT_HEADER_BYTES;
  const contentAt = headerBytes + (name === 'uuid' ? UUID_BYTES : 0);
  if (bytes < contentAt) return null;
  const uuid = head.toString('hex', headerBytes, contentAt);
  return { name, uuid, from: at + contentAt, until: at + bytes };
}

/**
 * Reads the headers of the boxes between two offsets of a file, until one is damaged.
 * @param left number of headers that may still be read, which is counted down
 */
export async function* boxesOf(
  file: FileHandle,
  [from, until]: readonly [from: number, until: number],
  left: { boxes: number },
): AsyncGenerator<Box> {
  const head = Buffer.alloc(LONG_HEADER_BYTES + UUID_BYTES);
  for (let at = from; at + SHORT_HEADER_BYTES <= until && left.boxes > 0; ) {
    left.boxes -= 1;
    const { bytesRead } = await file.read(head, 0, head.length, at);
    const box = boxAt(head.subarray(0, bytesRead), at, until);
    if (box === null) return;
    yield box;
    at = box.until;
  }
}
