import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import { DefaultRestOptions, type RESTOptions } from 'discord.js';
import { request } from 'undici';

/** A file to send with a message. */
export interface SentFile {
  readonly path: string;
  readonly bytes: number;
  readonly contentType: string;
  /** As Discord stores it: only letters, digits, `-`, `_` and dots. */
  readonly name: string;
}

/** More than a socket holds back: each part is on its way before the next is asked for. */
const PART_BYTES = 256 * 1024;

/**
 * A message with a file as the body of a request. The file is read from disk while it is sent, and again where the
 * request is repeated. (Node's own forms hold all of it in memory.)
 * @see https://discord.com/developers/docs/reference#uploading-files
 */
export class MultipartUpload {
  readonly headers: Readonly<Record<string, string>>;
  readonly #file: SentFile;
  readonly #head: Buffer;
  readonly #tail: Buffer;
  /**
   * Used in turn. undici asks for a part only once the socket let go of the one before it, so nothing is read over
   * that is still to be sent.
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

/** How discord.js sends its requests, but for {@link MultipartUpload}s, which it would read into memory first. */
export const sendRequest: RESTOptions['makeRequest'] = async (url, init) => {
  const upload: unknown = init.body;
  if (!(upload instanceof MultipartUpload)) return DefaultRestOptions.makeRequest(url, init);
  const { statusCode, headers, body } = await request(url, {
    method: 'PATCH',
    headers: { ...(init.headers as Record<string, string>), ...upload.headers },
    // undici writes what can be iterated, part by part; its types do not say so.
    body: upload as never,
    signal: init.signal ?? null,
  });
  const text = await body.text();
  const given = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  return new Response(text === '' ? null : text, { status: statusCode, headers: Object.fromEntries(given) }) as never;
};
