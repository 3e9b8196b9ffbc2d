import type { FileHandle } from 'node:fs/promises';
import { boxAt, boxesOf } from '../../mp4-boxes.ts';

/** Number of leading bytes that identify a file's type. */
export const SIGNATURE_BYTES = 64;

/** ISO boxes that a file may start with (their names are at byte 4). Old QuickTime files have no `ftyp`. */
const FIRST_BOXES: ReadonlySet<string> = new Set(['ftyp', 'styp', 'moov', 'mdat', 'wide', 'free', 'skip']);

/** Brands of ISO files that are images or audio: AVIF, HEIF, M4A. */
const IMAGE_OR_AUDIO = /^(avif|avis|mif1|msf1|hei[cxms]|hev[cxm]|M4A |M4B )$/;

/** Length of a box header: size and name. */
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
  const names = new Set<string>();
  let end = 0;
  for await (const { name, until } of boxesOf(file, [0, fileBytes], { boxes: MAX_BOXES })) {
    names.add(name);
    end = until;
  }
  return end === fileBytes && names.has('moov') && names.has('mdat');
}

function leavesRoom(head: Buffer, fileBytes: number): boolean {
  const box = boxAt(head, 0, fileBytes);
  return box !== null && box.until + BOX_HEADER_BYTES <= fileBytes;
}
