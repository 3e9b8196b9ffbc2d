import { createHash, createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Clock } from '#src/clock.ts';
import type { Attachment } from './records.ts';

/** An uploaded file as received. */
export interface UploadedFile {
  /** The `n` of `files[n]`. */
  readonly index: number;
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
  /** Null if it was too large to keep: {@link MAX_KEPT_BYTES}. */
  readonly content: Buffer | null;
}

/** Largest file in bytes that is kept and served again; of larger ones only length and hash are kept. */
export const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/** Content type by extension; Discord detects the type itself. */
const TYPES: Readonly<Record<string, string>> = {
  mp4: 'video/mp4',
  webm: 'video/webm',
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  mp3: 'audio/mpeg',
};

/** Lifetime of a file's URL. @see discord.md, point 7: about a day */
const LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Creates a file from bytes, as if it had been uploaded. */
export function fileOf(filename: string, contentType: string, content: Buffer): UploadedFile {
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { index: 0, filename, contentType, bytes: content.length, sha256, content };
}

/** Discord's CDN: files at signed URLs that expire. @see discord docs: reference, "Signed Attachment CDN URLs" */
export class Files {
  readonly #clock: Clock;
  readonly #origin: () => string;
  readonly #kept = new Map<string, UploadedFile>();

  constructor(clock: Clock, origin: () => string) {
    this.#clock = clock;
    this.#origin = origin;
  }

  /** Stores a file under a fresh id of the message's channel. */
  add(id: string, channelId: string, file: UploadedFile, description: string | null): Attachment {
    const path = `/cdn/attachments/${channelId}/${id}/${encodeURIComponent(file.filename)}`;
    this.#kept.set(path, file);
    const issuedMs = this.#clock.now();
    const expires = Math.floor((issuedMs + LIFETIME_MS) / 1000).toString(16);
    const issued = Math.floor(issuedMs / 1000).toString(16);
    const { filename, bytes, sha256 } = file;
    const contentType = TYPES[/\.(\w+)$/.exec(filename)?.[1] ?? ''] ?? file.contentType;
    const url = `${this.#origin()}${path}?ex=${expires}&is=${issued}&hm=${sign(path, expires, issued)}&`;
    return { id, filename, contentType, bytes, sha256, description, url };
  }

  /** Responds to a GET below `/cdn/`: the file, or 404 if the URL has expired or is not signed. */
  serve(url: URL, response: ServerResponse): void {
    const { pathname, searchParams } = url;
    const [expires, issued] = [searchParams.get('ex') ?? '', searchParams.get('is') ?? ''];
    const file = this.#kept.get(pathname);
    const isSigned = searchParams.get('hm') === sign(pathname, expires, issued);
    if (file === undefined || !isSigned || this.#clock.now() > Number.parseInt(expires, 16) * 1000) {
      response.writeHead(404).end('This content is no longer available.');
    } else if (file.content === null) {
      response.writeHead(410).end('The fake does not keep files of this size.');
    } else {
      response
        .writeHead(200, {
          'content-type': file.contentType || 'application/octet-stream',
          'content-length': file.bytes,
        })
        .end(file.content);
    }
  }
}

const sign = (path: string, expires: string, issued: string): string =>
  createHmac('sha256', 'the fake CDN').update(`${path}\n${expires}\n${issued}`).digest('hex');
