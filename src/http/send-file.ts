import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sizeOf } from '../files.ts';

/** Returns the `content-disposition` of a file with this name. @see https://www.rfc-editor.org/rfc/rfc6266 */
export function dispositionOf(name: string, isDownload: boolean): string {
  return `${isDownload ? 'attachment' : 'inline'}; filename*=UTF-8''${encodeURIComponent(name.toWellFormed())}`;
}

/**
 * Sends a file that never changes, with Range and a validator of its name and size. The usual ones have the time of the file:
 * that of a clip tells when it was finished, and so which model made it.
 */
export async function sendFile(request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> {
  const bytes = await sizeOf(path);
  const etag = `"${createHash('sha256')
    .update(`${basename(path)} ${bytes}`)
    .digest('base64url')}"`;
  const { headers } = request.raw;
  void reply.header('etag', etag);
  if (bytes !== null && headers['if-none-match']?.includes(etag) === true) return reply.code(304).send();
  // Those that remain are of another file, and get all of this one.
  if (headers['if-range'] === etag) delete headers['if-range'];
  const undated = { contentType: false, cacheControl: false, etag: false, lastModified: false };
  return reply.sendFile(basename(path), dirname(path), undated);
}
