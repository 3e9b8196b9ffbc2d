import { expect, it } from 'vitest';
import { createEncoder } from '#src/sandbox/render/encoder.ts';

interface Box {
  readonly type: string;
  readonly at: number;
  readonly body: Buffer;
}

function boxes(bytes: Buffer): Box[] {
  const found: Box[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readUInt32BE(at)) {
    const end = at + bytes.readUInt32BE(at);
    found.push({ type: bytes.toString('latin1', at + 4, at + 8), at, body: bytes.subarray(at + 8, end) });
  }
  return found;
}

function dig(bytes: Buffer, ...path: readonly string[]): Buffer {
  return path.reduce((body, type) => {
    const found = boxes(body).find((box) => box.type === type);
    if (found === undefined) throw new Error(`no ${type}`);
    return found.body;
  }, bytes);
}

async function encode(frames: number): Promise<Buffer> {
  const encoder = await createEncoder({ width: 64, height: 48 });
  for (let frame = 0; frame < frames; frame++) encoder.add(new Uint8Array(64 * 48 * 4).fill(frame * 5));
  return encoder.finish();
}

const TABLES = ['moov', 'trak', 'mdia', 'minf', 'stbl'];

it('puts the index before the pictures', async () => {
  const file = await encode(30);
  expect(boxes(file).map(({ type }) => type)).toEqual(['ftyp', 'moov', 'mdat']);
});

it('lists one key frame per second, each of them an IDR picture', async () => {
  const file = await encode(60);
  const stss = dig(file, ...TABLES, 'stss');
  const keys = Array.from({ length: stss.readUInt32BE(4) }, (_, index) => stss.readUInt32BE(8 + index * 4));
  expect(keys).toEqual([1, 25, 49]);
});

it('has correct chunk offsets', async () => {
  const file = await encode(60);
  const stco = dig(file, ...TABLES, 'stco');
  const mdat = boxes(file).find(({ type }) => type === 'mdat');
  const offsets = Array.from({ length: stco.readUInt32BE(4) }, (_, index) => stco.readUInt32BE(8 + index * 4));
  expect(offsets[0]).toBe((mdat?.at ?? 0) + 8);
  // A sample starts with the length and type of its first NAL unit: parameter sets or a picture.
  for (const offset of offsets) expect([1, 5, 7]).toContain((file[offset + 4] ?? 0) & 31);
});

it('has the exact duration of its frames and the requested size', async () => {
  const file = await encode(48);
  const mdhd = dig(file, 'moov', 'trak', 'mdia', 'mdhd');
  const mvhd = dig(file, 'moov', 'mvhd');
  const tkhd = dig(file, 'moov', 'trak', 'tkhd');
  expect(mdhd.readUInt32BE(16) / mdhd.readUInt32BE(12)).toBe(2);
  expect(mvhd.readUInt32BE(16) / mvhd.readUInt32BE(12)).toBe(2);
  expect(dig(file, ...TABLES, 'stsz').readUInt32BE(8)).toBe(48);
  expect([tkhd.readUInt32BE(76) >> 16, tkhd.readUInt32BE(80) >> 16]).toEqual([64, 48]);
});
