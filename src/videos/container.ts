/** How many bytes from the start of a file tell what it is. */
export const SIGNATURE_BYTES = 64;

/** What the names of ISO boxes at byte 4 may be when a file begins with them. Old QuickTime files have no `ftyp`. */
const FIRST_BOXES: ReadonlySet<string> = new Set(['ftyp', 'styp', 'moov', 'mdat', 'wide', 'free', 'skip']);

/** Brands of ISO files that are pictures or sound: AVIF, HEIF, M4A. */
const STILL_OR_SOUND = /^(avif|avis|mif1|msf1|hei[cxms]|hev[cxm]|M4A |M4B )$/;

/**
 * Tells a video by its first bytes, whatever the service called it.
 * @param head the first {@link SIGNATURE_BYTES} of a file, or all of a shorter one.
 * @returns its media type, or null where it is no video container.
 */
export function videoTypeOf(head: Buffer): string | null {
  const box = head.toString('latin1', 4, 8);
  if (FIRST_BOXES.has(box)) {
    if (box !== 'ftyp') return box === 'styp' ? 'video/mp4' : 'video/quicktime';
    const brand = head.toString('latin1', 8, 12);
    if (STILL_OR_SOUND.test(brand)) return null;
    return brand === 'qt  ' ? 'video/quicktime' : 'video/mp4';
  }
  if (head.length >= 4 && head.readUInt32BE(0) === 0x1a_45_df_a3) {
    return head.includes('webm') ? 'video/webm' : 'video/x-matroska';
  }
  if (head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'AVI ') return 'video/x-msvideo';
  return head.toString('latin1', 0, 4) === 'OggS' ? 'video/ogg' : null;
}
