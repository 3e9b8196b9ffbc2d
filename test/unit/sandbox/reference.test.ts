import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as Canvas from '@napi-rs/canvas';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';

vi.mock('@napi-rs/canvas', async (original) => {
  const real = await original<typeof Canvas>();
  return { ...real, loadImage: vi.fn(real.loadImage) };
});
// Another file of the same process may have loaded it, with the real one.
vi.resetModules();
const { createCanvas, loadImage } = await import('@napi-rs/canvas');
const { readReference } = await import('#src/sandbox/render/reference.ts');

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

/** Returns a small file whose header claims a huge picture (decompression bomb). */
async function bomb(): Promise<Buffer> {
  const png = await picture('png', 30, 20);
  png.writeUInt32BE(30_000, 16);
  png.writeUInt32BE(20_000, 20);
  return png;
}

it.each(['png', 'jpeg', 'webp'] as const)('reads the size of a %s from its header and decodes it', async (kind) => {
  served = await picture(kind, 301, 203);
  expect(await readReference({ url }, true)).toMatchObject({ width: 301, height: 203 });
  expect(loadImage).toHaveBeenCalledOnce();
});

it('does not decode a decompression bomb', async () => {
  served = await bomb();
  expect(await readReference({ url }, true)).toBeNull();
  expect(loadImage).not.toHaveBeenCalled();
});

it('blocks requests to this machine and its network (SSRF), for any form of the host', async () => {
  served = await picture('png', 30, 20);
  let asked = 0;
  const redirecting = createServer((_request, response) => {
    asked += 1;
    response.writeHead(302, { location: url }).end();
  });
  await new Promise<void>((resolve) => void redirecting.listen(0, '127.0.0.1', resolve));
  const { port } = redirecting.address() as AddressInfo;
  try {
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::1]', '[::ffff:127.0.0.1]', 'user:word@127.0.0.1']) {
      expect(await readReference({ url: `http://${host}:${port}/` }, false)).toBeNull();
    }
    expect(asked).toBe(0);
    expect(await readReference({ url: `http://127.0.0.1:${port}/` }, true)).toMatchObject({ width: 30, height: 20 });
    expect(asked).toBe(1);
  } finally {
    redirecting.close();
  }
});

it('validates a redirect like the URL itself', async () => {
  const away = createServer(
    (_request, response) => void response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
  );
  await new Promise<void>((resolve) => void away.listen(0, '127.0.0.1', resolve));
  const { port } = away.address() as AddressInfo;
  try {
    expect(await readReference({ url: `http://127.0.0.1:${port}/` }, true)).toBeNull();
  } finally {
    away.close();
  }
});

it('reads a file of the bot from its folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dailies-reference-'));
  const path = join(folder, 'fox.png');
  await writeFile(path, await picture('png', 31, 21));
  expect(await readReference({ path }, false)).toMatchObject({ width: 31, height: 21 });
  expect(await readReference({ path: join(folder, 'none.png') }, false)).toBeNull();
  await rm(folder, { recursive: true });
});

it.each([
  ['nothing', Buffer.alloc(0)],
  ['text', Buffer.from('a red fox running through snow, cinematic')],
  ['the beginning of a PNG', Buffer.from('89504e470d0a1a0a', 'hex')],
  ['the beginning of a JPEG', Buffer.from('ffd8ffe000104a464946', 'hex')],
  ['a JPEG without a frame header', Buffer.from('ffd8ffe00000ffe00000', 'hex')],
  ['a file that resembles a WebP', Buffer.from('\0\0\0\x20ftypWEBPVP8X\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0')],
  ['a drawing', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
])('rejects %s', async (_name, bytes) => {
  served = bytes;
  expect(await readReference({ url }, true)).toBeNull();
  expect(loadImage).not.toHaveBeenCalled();
});
