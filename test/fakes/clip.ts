import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Upload } from '#src/chat/platform.ts';
import type { Call, FakeVideoService } from './video-service.ts';

/** Returns `bytes` bytes that begin like an MP4 and continue with a pattern of a long period. */
export function fakeClip(bytes: number): Buffer {
  const clip = Buffer.alloc(bytes);
  for (let at = 0; at + 4 <= bytes; at += 4) clip.writeUInt32LE(Math.imul(at + 1, 2_654_435_761) >>> 0, at);
  Buffer.from('\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41', 'latin1').copy(clip);
  return clip;
}

/** Returns a fake clip with boxes that add up to the file size, as in every complete MP4. @see ISO/IEC 14496-12, 4.2 */
export function wholeClip(bytes: number): Buffer {
  const clip = fakeClip(bytes);
  clip.writeUInt32BE(8, 32);
  clip.write('moov', 36, 'latin1');
  clip.writeUInt32BE(bytes - 40, 40);
  clip.write('mdat', 44, 'latin1');
  return clip;
}

/** Writes a fake clip into a folder. @returns it as an upload */
export async function writeClip(folder: string, changes: Partial<Omit<Upload, 'path'>> = {}): Promise<Upload> {
  const path = join(folder, 'clip.mp4');
  const texts = { name: 'red-fox.mp4', description: 'a red fox' };
  const clip = { path, bytes: 5_000, contentType: 'video/mp4', ...texts, ...changes };
  await writeFile(path, fakeClip(clip.bytes));
  return clip;
}

/** Gives each clip bytes of its own: Slack's fake reports a file that is posted twice. */
export function makeClipsDiffer({ handlers }: Pick<FakeVideoService, 'handlers'>, leastBytes = 5_000): void {
  const sizes = new Map<string, number>();
  handlers.content = (call) => {
    const { path } = call.request;
    const size = sizes.get(path) ?? leastBytes + sizes.size;
    sizes.set(path, size);
    sendBytes(call, fakeClip(size));
  };
}

/** Options of {@link sendBytes}. */
export interface Serving {
  /** Honours `Range`. Default true. */
  readonly hasRange?: boolean;
  /** Breaks the connection after this many bytes of the body. Default: never. */
  readonly breakAfter?: number;
  /** Default `video/mp4`. */
  readonly contentType?: string;
  /** Default: none. */
  readonly etag?: string;
}

/** Serves `bytes` like a file server: 200, or 206 for a range from a byte to the end. */
export function sendBytes(
  { request, response }: Pick<Call, 'request' | 'response'>,
  bytes: Buffer,
  serving: Serving = {},
): void {
  const { hasRange = true, breakAfter = Number.POSITIVE_INFINITY, contentType = 'video/mp4', etag } = serving;
  const asked = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1];
  const isOther = request.headers['if-range'] !== undefined && request.headers['if-range'] !== etag;
  const from = hasRange && asked !== undefined && !isOther ? Number(asked) : 0;
  const headers = {
    'content-type': contentType,
    ...(hasRange ? { 'accept-ranges': 'bytes' } : {}),
    ...(etag === undefined ? {} : { etag }),
  };
  if (from > 0 && from >= bytes.length) {
    response.writeHead(416, { ...headers, 'content-range': `bytes */${bytes.length}` }).end();
    return;
  }
  const part = bytes.subarray(from);
  const range = from === 0 ? {} : { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` };
  response.writeHead(from === 0 ? 200 : 206, { ...headers, ...range, 'content-length': part.length });
  if (part.length <= breakAfter) response.end(part);
  else response.write(part.subarray(0, breakAfter), () => response.socket?.destroySoon());
}
