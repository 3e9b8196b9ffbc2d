import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import { MAX_KEPT_BYTES, type UploadedFile } from './files.ts';
import { type Json, Refusal } from './refusal.ts';

/** Parsed body of a request. */
export interface Body {
  readonly json: unknown;
  readonly files: readonly UploadedFile[];
}

/**
 * Reads a request's body: JSON, or a form with `payload_json` and `files[n]`. Files are hashed as they arrive; large
 * ones are not kept.
 * @throws Refusal 50035 for another content type or malformed contents
 * @see discord docs: reference, "Content Type" and "Uploading Files"
 */
export async function readBody(request: IncomingMessage): Promise<Body> {
  const type = request.headers['content-type'] ?? '';
  if (type.startsWith('multipart/form-data')) return readForm(request, type);
  const text = (await Array.fromAsync(request as AsyncIterable<Buffer>)).map(String).join('');
  if (text === '') return { json: {}, files: [] };
  if (!type.startsWith('application/json')) throw malformed(`content type ${type || 'missing'}`);
  return { json: parsed(text), files: [] };
}

async function readForm(request: IncomingMessage, type: string): Promise<Body> {
  const files: Promise<UploadedFile>[] = [];
  const fields = new Map<string, string>();
  const wrong: string[] = [];
  const form = new Busboy({
    headers: { ...request.headers, 'content-type': type },
    limits: { fieldSize: 1024 * 1024 },
  });
  form.on('field', (name, value) => fields.set(name, value));
  form.on('file', (name, stream, filename, _encoding, contentType) => {
    const index = /^files\[(\d+)\]$/.exec(name)?.[1];
    if (index === undefined) wrong.push(`a file's part must be called files[n], not ${name}`);
    // The types declare `filename` as a string, but it is undefined without a Content-Disposition filename.
    if (((filename as string | undefined) ?? '') === '') wrong.push(`${name} has no filename`);
    const file = take(stream, { index: Number(index ?? -1), filename, contentType });
    // If the form is malformed, no caller awaits its files.
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
  const taken = await Promise.all(files);
  if (new Set(taken.map(({ index }) => index)).size < taken.length) wrong.push('two files share a name');
  if (wrong.length > 0) throw malformed(wrong.join('; '));
  const text = fields.get('payload_json');
  return { json: text === undefined ? Object.fromEntries(fields) : parsed(text), files: taken };
}

function take(stream: Readable, head: Pick<UploadedFile, 'index' | 'filename' | 'contentType'>): Promise<UploadedFile> {
  const hash = createHash('sha256');
  let parts: Buffer[] | null = [];
  let bytes = 0;
  stream.on('data', (part: Buffer) => {
    hash.update(part);
    bytes += part.length;
    if (bytes > MAX_KEPT_BYTES) parts = null;
    parts?.push(part);
  });
  return new Promise((resolve, reject) => {
    stream.on('error', reject);
    stream.on('end', () => {
      const content = parts === null ? null : Buffer.concat(parts);
      resolve({ ...head, bytes, sha256: hash.digest('hex'), content });
    });
  });
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text, whole) as Json;
  } catch (thrown) {
    throw thrown instanceof Refusal ? thrown : malformed('the body is no JSON');
  }
}

/** @see github.com/discord/discord-api-docs/issues/6561: Discord answers half a surrogate pair with 500 */
function whole(_key: string, value: unknown): unknown {
  if (typeof value !== 'string' || value.isWellFormed()) return value;
  throw new Refusal(500, 0, { violation: 'half a character in the body' });
}

const malformed = (what: string): Refusal => new Refusal(400, 50035, { violation: `malformed body: ${what}` });
