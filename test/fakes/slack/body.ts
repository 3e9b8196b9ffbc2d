import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Busboy } from '@fastify/busboy';
import type { Json } from './records.ts';
import { Refusal } from './refusal.ts';

/** Largest file in bytes that is kept and served again; of larger ones only length and hash are kept. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/** A received body. */
export interface Received {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
  /** Null if it was too large to keep. */
  readonly content: Buffer | null;
}

/**
 * Reads the arguments of a call: a form, JSON, or the query of a GET.
 * @throws Refusal invalid_post_type, invalid_json
 * @see docs.slack.dev/apis/web-api "POST bodies"
 */
export async function readArgs(request: IncomingMessage, url: URL): Promise<Json> {
  if (request.method === 'GET') return Object.fromEntries(url.searchParams);
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim() ?? '';
  const text = await readText(request);
  if (type === 'application/x-www-form-urlencoded' || (type === '' && text === '')) {
    return Object.fromEntries(new URLSearchParams(text));
  }
  if (type !== 'application/json')
    throw new Refusal('invalid_post_type', { violation: `content type ${type || 'missing'}` });
  const parsed = jsonOf(text);
  if (parsed === null) throw new Refusal('invalid_json', { violation: 'the body is no JSON' });
  return parsed;
}

/** Reads a body as text. */
export async function readText(request: AsyncIterable<Buffer>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(request)).toString('utf8');
}

/** Parses a JSON object; returns null for anything else. */
export function jsonOf(text: string): Json | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? (parsed as Json) : null;
  } catch {
    return null;
  }
}

/**
 * Reads the bytes of a file, raw or as the only file of a form, hashing them as they arrive.
 * @see docs.slack.dev/reference/methods/files.getUploadURLExternal: "raw bytes or … multipart form encoded"
 */
export async function readBytes(request: IncomingMessage): Promise<Received> {
  const type = request.headers['content-type'] ?? '';
  if (!type.startsWith('multipart/form-data')) return take(request);
  const files: Promise<Received>[] = [];
  const form = new Busboy({ headers: { ...request.headers, 'content-type': type } });
  form.on('file', (_name, stream) => {
    const file = take(stream);
    // If the form is aborted, no caller awaits its files.
    file.catch(() => {});
    files.push(file);
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  form.on('finish', resolve);
  form.on('error', reject);
  request.on('error', reject);
  // An aborted upload ends the request without ending the form.
  request.on('close', () => request.complete || reject(new Error('the request broke off')));
  request.pipe(form);
  await promise;
  const [file] = files;
  if (file === undefined || files.length > 1) throw new Error(`${files.length} files in an upload`);
  return file;
}

/** Returns in-memory bytes as a received body. */
export const received = (content: Buffer): Received => ({
  bytes: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
  content,
});

async function take(stream: AsyncIterable<Buffer>): Promise<Received> {
  const hash = createHash('sha256');
  let parts: Buffer[] | null = [];
  let bytes = 0;
  for await (const part of stream) {
    hash.update(part);
    bytes += part.length;
    if (bytes > MAX_KEPT_BYTES) parts = null;
    parts?.push(part);
  }
  return { bytes, sha256: hash.digest('hex'), content: parts === null ? null : Buffer.concat(parts) };
}
