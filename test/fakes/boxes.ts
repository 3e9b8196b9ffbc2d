/** Boxes of MP4 files, built by hand. @see ISO/IEC 14496-12, 4.2 */

/** Returns a box. @param size its size as the header has it. Default: the true one. */
export function box(name: string, content: Buffer | string = '', size?: number): Buffer {
  const payload = Buffer.from(content);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(size ?? 8 + payload.length, 0);
  header.write(name, 4, 'latin1');
  return Buffer.concat([header, payload]);
}

/** Returns a box with a 64-bit size. */
export function longBox(name: string, content: Buffer, size = BigInt(16 + content.length)): Buffer {
  const long = Buffer.alloc(8);
  long.writeBigUInt64BE(size);
  return box(name, Buffer.concat([long, content]), 1);
}

export const C2PA = 'd8fec3d6-1b0e-483c-9297-5828877ec481';
export const XMP = 'be7acfcb-97a9-42e8-9c71-999491e3afac';

export function uuidBox(uuid: string, content: Buffer | string): Buffer {
  return box('uuid', Buffer.concat([Buffer.from(uuid.replaceAll('-', ''), 'hex'), Buffer.from(content)]));
}

/** Returns a box of C2PA: version and flags, its purpose, the offset of the first annex, and a manifest. */
export function c2paBox(manifest: string, purpose = 'manifest'): Buffer {
  return uuidBox(
    C2PA,
    Buffer.concat([Buffer.alloc(4), Buffer.from(`${purpose}\0`), Buffer.alloc(8), Buffer.from(manifest)]),
  );
}

const FULL = Buffer.alloc(4);

/** Returns a text as iTunes writes it: `moov/udta/meta/ilst/<name>/data`. */
export function itunesText(name: string, text: string): Buffer {
  const data = box('data', Buffer.concat([Buffer.from([0, 0, 0, 1, 0, 0, 0, 0]), Buffer.from(text)]));
  return box('udta', box('meta', Buffer.concat([FULL, box('ilst', box(name, data))])));
}

/** Returns a whole file with further boxes: at its top, and in its header. */
export function mp4({ top = [], header = [] }: { top?: readonly Buffer[]; header?: readonly Buffer[] } = {}): Buffer {
  const moov = box('moov', Buffer.concat([box('mvhd', Buffer.alloc(100)), ...header]));
  return Buffer.concat([box('ftyp', 'isom\0\0\0\0isom'), ...top, moov, box('mdat', Buffer.alloc(64, 7))]);
}
