import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCanvas, loadImage } from '@napi-rs/canvas';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { pixelsOf } from '#src/sandbox/render/picture-size.ts';
import { fetchReference } from '#src/sandbox/render/reference.ts';

vi.mock('@napi-rs/canvas', async (original) => {
  const real = await original<{ readonly loadImage: typeof loadImage }>();
  return { ...real, loadImage: vi.fn(real.loadImage) };
});

let server: Server;
let served: Buffer;
let url: string;

beforeAll(async () => {
  server = createServer((_request, response) => void response.end(served));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/fox`;
});

afterAll(() => void server.close());

afterEach(() => void vi.mocked(loadImage).mockClear());

function picture(kind: 'png' | 'jpeg' | 'webp', width: number, height: number): Promise<Buffer> {
  const canvas = createCanvas(width, height);
  return kind === 'png' ? canvas.encode('png') : canvas.encode(kind, 80);
}

/** A small file that says of itself that it is huge. */
async function bomb(): Promise<Buffer> {
  const png = await picture('png', 30, 20);
  png.writeUInt32BE(30_000, 16);
  png.writeUInt32BE(20_000, 20);
  return png;
}

it.each(['png', 'jpeg', 'webp'] as const)(
  'the size of a %s is read from its header, and the picture is shown',
  async (kind) => {
    served = await picture(kind, 301, 203);
    expect(pixelsOf(served)).toBe(301 * 203);
    expect(await fetchReference(url)).toMatchObject({ width: 301, height: 203 });
  },
);

it('a file that would unpack to more than a picture may hold is not unpacked', async () => {
  served = await bomb();
  expect(await fetchReference(url)).toBeNull();
  expect(loadImage).not.toHaveBeenCalled();
});

it.each([
  ['nothing', Buffer.alloc(0)],
  ['words', Buffer.from('a red fox running through snow, cinematic')],
  ['the beginning of a PNG', Buffer.from('89504e470d0a1a0a', 'hex')],
  ['the beginning of a JPEG', Buffer.from('ffd8ffe000104a464946', 'hex')],
  ['a JPEG that goes nowhere', Buffer.from('ffd8ffe00000ffe00000', 'hex')],
  ['what only looks like a WebP', Buffer.from('\0\0\0\x20ftypWEBPVP8X\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0')],
  ['a drawing', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
])('%s is no picture', async (_name, bytes) => {
  served = bytes;
  expect(await fetchReference(url)).toBeNull();
  expect(loadImage).not.toHaveBeenCalled();
});
