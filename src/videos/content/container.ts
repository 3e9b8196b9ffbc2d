import type { FileHandle } from 'node:fs/promises';

/** Number of leading bytes that identify a file's type. */
export const SIGNATURE_BYTES = 64;

/** ISO boxes that a file may start with (their names are at byte 4). Old QuickTime files have no `ftyp`. */
const FIRST_BOXES: ReadonlySet<string> = new Set(['ftyp', 'styp', 'moov', 'mdat', 'wide', 'free', 'skip']);

/** Brands of ISO files that are images or audio: AVIF, HEIF, M4A. */
const IMAGE_OR_AUDIO = /^(avif|avis|mif1|msf1|hei[cxms]|hev[cxm]|M4A |M4B )$/;

/** Length of a box header (size and name); twice that with a 64-bit size. */
const BOX_HEADER_BYTES = 8;
/** More top-level boxes than an hour of fragments has; a file with more counts as damaged. */
const MAX_BOXES = 20_000;

/** Media types that {@link videoTypeOf} returns. */
export const VIDEO_TYPES: ReadonlySet<string> = new Set([
  'video/mp4',
  'video/quicktime',
  'video/webm',
  'video/x-matroska',
  'video/x-msvideo',
  'video/ogg',
]);

/**
 * Detects a video by its first bytes, regardless of the content type that the service sent.
 * @param head the first {@link SIGNATURE_BYTES} of a file, or all of a shorter one.
 * @param fileBytes size of the whole file, where known: the first ISO box has to leave room in it for a second one.
 * @returns the media type, or null where it is not a video container.
 */
export function videoTypeOf(head: Buffer, fileBytes?: number): string | null {
  const box = head.toString('latin1', 4, 8);
  if (FIRST_BOXES.has(box)) {
    if (fileBytes !== undefined && !leavesRoom(head, fileBytes)) return null;
    if (box !== 'ftyp') return box === 'styp' ? 'video/mp4' : 'video/quicktime';
    const brand = head.toString('latin1', 8, 12);
    if (IMAGE_OR_AUDIO.test(brand)) return null;
    return brand === 'qt  ' ? 'video/quicktime' : 'video/mp4';
  }
  if (head.length >= 4 && head.readUInt32BE(0) === 0x1a_45_df_a3) {
    return head.includes('webm') ? 'video/webm' : 'video/x-matroska';
  }
  if (head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'AVI ') return 'video/x-msvideo';
  return head.toString('latin1', 0, 4) === 'OggS' ? 'video/ogg' : null;
}

/**
 * Proves that an ISO file (MP4, QuickTime) is complete: its top-level boxes add up to its size, and include the index
 * (`moov`) and the media data (`mdat`).
 * @returns false where that cannot be proven, which includes every other container.
 * @see ISO/IEC 14496-12, 4.2 "Object structure"
 */
export async function isWholeFile(file: FileHandle, fileBytes: number): Promise<boolean> {
  const header = Buffer.alloc(2 * BOX_HEADER_BYTES);
  const names = new Set<string>();
  let at = 0;
  for (let boxes = 0; at < fileBytes && boxes < MAX_BOXES; boxes += 1) {
    const { bytesRead } = await file.read(header, 0, header.length, at);
    const size = boxSizeOf(header.subarray(0, bytesRead), fileBytes - at);
    if (size === null) return false;
    names.add(header.toString('latin1', 4, 8));
    at += size;
  }
  return at === fileBytes && names.has('moov') && names.has('mdat');
}

/**
 * Returns the size of the box that starts with `header`; null where the header is invalid.
 * @param leftBytes length from the start of the box to the end of the file.
 */
function boxSizeOf(header: Buffer, leftBytes: number): number | null {
  if (header.length < BOX_HEADER_BYTES) return null;
  const short = header.readUInt32BE(0);
  if (short === 0) return leftBytes;
  if (short !== 1) return short < BOX_HEADER_BYTES ? null : short;
  if (header.length < 2 * BOX_HEADER_BYTES) return null;
  const long = header.readBigUInt64BE(BOX_HEADER_BYTES);
  return long >= 2n * BigInt(BOX_HEADER_BYTES) && long <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(long) : null;
}

function leavesRoom(head: Buffer, fileBytes: number): boolean {
  const size = boxSizeOf(head, fileBytes);
  return size !== null && size + BOX_HEADER_BYTES <= fileBytes;
}
