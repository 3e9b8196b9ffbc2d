import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import { DefaultRestOptions, type RESTOptions } from 'discord.js';
import { request } from 'undici';

/** File to send with a message. */
export interface SentFile {
  readonly path: string;
  readonly bytes: number;
  readonly contentType: string;
  /** File name as Discord stores it: only letters, digits, `-`, `_` and dots. */
  readonly name: string;
}

/** Chunk size, above a socket's write buffer: each chunk is being sent before the next one is requested. */
const PART_BYTES = 256 * 1024;

/**
 * Multipart request body of a message with a file. Streams the file from disk while it is sent, and again on a retry.
 * (Node's own forms buffer all of it in memory.)
 * @see https://discord.com/developers/docs/reference#uploading-files
 */
export class MultipartUpload {
  readonly headers: Readonly<Record<string, string>>;
  readonly #file: SentFile;
  readonly #head: Buffer;
  readonly #tail: Buffer;
  /**
   * Alternating buffers. undici requests a chunk only once the socket has released the previous one, so no unsent data
   * is overwritten.
   */
  readonly #parts = [Buffer.alloc(PART_BYTES), Buffer.alloc(PART_BYTES)];

  constructor(message: unknown, file: SentFile) {
    const boundary = `dailies-${randomUUID()}`;
    const part = (name: string, type: string): string =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n`;
    const json = `${part('payload_json', 'application/json')}${JSON.stringify(message)}\r\n`;
    this.#file = file;
    this.#head = Buffer.from(json + part(`files[0]"; filename="${file.name}`, file.contentType));
    this.#tail = Buffer.from(`\r\n--${boundary}--\r\n`);
    this.headers = {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': `${this.#head.length + file.bytes + this.#tail.length}`,
    };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    yield this.#head;
    const file = await open(this.#file.path);
    try {
      for (let turn = 0; ; turn += 1) {
        const { bytesRead, buffer } = await file.read(this.#parts[turn % 2] ?? Buffer.alloc(PART_BYTES));
        if (bytesRead === 0) break;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
    yield this.#tail;
  }
}

/** Sends requests as discord.js does, except for {@link MultipartUpload}s, which it would buffer in memory. */
export const sendRequest: RESTOptions['makeRequest'] = async (url, init) => {
  const upload: unknown = init.body;
  if (!(upload instanceof MultipartUpload)) return DefaultRestOptions.makeRequest(url, init);
  const { statusCode, headers, body } = await request(url, {
    method: 'PATCH',
    headers: { ...(init.headers as Record<string, string>), ...upload.headers },
    // undici writes an async iterable chunk by chunk, although its types do not include one.
    body: upload as never,
    signal: init.signal ?? null,
  });
  const text = await body.text();
  const given = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  return new Response(text === '' ? null : text, { status: statusCode, headers: Object.fromEntries(given) }) as never;
};
