/**
 * Reads the number of pixels from the header of a PNG, JPEG or WebP, without decompressing it. Returns `null` for any
 * other format and for a truncated header.
 */
export function pixelsOf(bytes: Buffer): number | null {
  try {
    const { width, height } = sizeOf(bytes) ?? NOTHING;
    return width * height || null;
  } catch (thrown) {
    if (thrown instanceof RangeError) return null;
    throw thrown;
  }
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const NOTHING: Size = { width: 0, height: 0 };

function sizeOf(bytes: Buffer): Size | null {
  if (bytes.toString('latin1', 0, 8) === '\x89PNG\r\n\x1A\n') {
    // @see https://www.w3.org/TR/png-3/#11IHDR
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  }
  if (bytes.toString('latin1', 0, 3) === '\xFF\xD8\xFF') return sizeOfJpeg(bytes);
  return /^RIFF.{4}WEBP$/s.test(bytes.toString('latin1', 0, 12)) ? sizeOfWebp(bytes) : null;
}

/** Scans the markers up to the first frame header. @see https://www.w3.org/Graphics/JPEG/itu-t81.pdf B.1.1 */
function sizeOfJpeg(bytes: Buffer): Size | null {
  for (let at = bytes.indexOf(0xff, 2); at >= 0; at = bytes.indexOf(0xff, at)) {
    while (bytes[at] === 0xff) at += 1;
    const marker = bytes.readUInt8(at);
    at += 1;
    if (FRAME_MARKERS.has(marker)) return { width: bytes.readUInt16BE(at + 5), height: bytes.readUInt16BE(at + 3) };
    if (!BARE_MARKERS.has(marker)) at += bytes.readUInt16BE(at);
  }
  return null;
}

/** SOF0 to SOF15, without DHT, JPG and DAC, which share their range. */
const FRAME_MARKERS = new Set([0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);
/** Markers without a segment: none (0x00), TEM, RST0 to RST7. */
const BARE_MARKERS = new Set([0x00, 0x01, 0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7]);

/** @see https://developers.google.com/speed/webp/docs/riff_container */
function sizeOfWebp(bytes: Buffer): Size | null {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    default:
      return null;
  }
}
