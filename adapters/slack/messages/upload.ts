import { createReadStream } from 'node:fs';
import { request } from 'undici';
import type { Upload } from '#src/chat/platform.ts';
import { isLoopback } from '#src/config/variables.ts';
import { DailiesError } from '#src/errors.ts';
import { rateLimited } from '../web-api/errors.ts';

const OPERATION = 'uploading a clip';
const TIMEOUT_MS = 10 * 60_000;

/**
 * Streams a file from disk to its upload URL on Slack, without a token.
 * @throws `too_large`, `rate_limited`, `platform_unavailable`
 * @see https://docs.slack.dev/reference/methods/files.getUploadURLExternal
 */
export async function sendBytes(url: string, file: Pick<Upload, 'path' | 'bytes' | 'contentType'>): Promise<void> {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !isLoopback(hostname)) throw unavailable('an address without TLS was given');
  const { statusCode, headers } = await send(url, file);
  if (statusCode >= 200 && statusCode < 300) return;
  if (statusCode === 413) throw new DailiesError(`${OPERATION}: HTTP 413`, { code: 'too_large', retryable: false });
  const waitSeconds = Number(headers['retry-after']);
  if (statusCode === 429) throw rateLimited(OPERATION, (Number.isFinite(waitSeconds) ? waitSeconds : 1) * 1000);
  throw unavailable(`HTTP ${statusCode}`);
}

async function send(url: string, file: Pick<Upload, 'path' | 'bytes' | 'contentType'>) {
  const stream = createReadStream(file.path);
  try {
    const response = await request(url, {
      method: 'POST',
      headers: { 'content-type': file.contentType, 'content-length': String(file.bytes) },
      body: stream,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    await response.body.dump();
    return response;
  } catch (thrown) {
    throw unavailable(thrown instanceof Error ? thrown.message : String(thrown));
  } finally {
    stream.destroy();
  }
}

function unavailable(reason: string): DailiesError {
  return new DailiesError(`${OPERATION}: ${reason}`, { code: 'platform_unavailable', retryable: true });
}
