import { createReadStream, type ReadStream } from 'node:fs';
import { request } from 'undici';
import type { Upload } from '#src/chat/index.ts';
import { DailiesError } from '#src/errors.ts';
import { isLoopbackHost } from '#src/videos/index.ts';
import { rateLimited } from './errors.ts';

interface UrlRequest {
  readonly operation: string;
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | ReadStream;
}

const ANSWER_TIMEOUT_MS = 10_000;
const UPLOAD_TIMEOUT_MS = 10 * 60_000;

/**
 * Sends an ephemeral message to a command's author through its `response_url`, without a token.
 * @throws `platform_unavailable`
 * @see https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
 */
export async function answerAt(url: string, text: string): Promise<void> {
  await post(url, {
    operation: 'answering a command',
    timeoutMs: ANSWER_TIMEOUT_MS,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ response_type: 'ephemeral', replace_original: false, text }),
  });
}

/**
 * Streams a file from disk to its upload URL on Slack, without a token.
 * @throws `too_large`, `rate_limited`, `platform_unavailable`
 * @see https://docs.slack.dev/reference/methods/files.getUploadURLExternal
 */
export async function sendBytes(url: string, file: Pick<Upload, 'path' | 'bytes' | 'contentType'>): Promise<void> {
  const body = createReadStream(file.path);
  const headers = { 'content-type': file.contentType, 'content-length': String(file.bytes) };
  try {
    await post(url, { operation: 'uploading a clip', timeoutMs: UPLOAD_TIMEOUT_MS, headers, body });
  } finally {
    body.destroy();
  }
}

async function post(url: string, { operation, timeoutMs, headers, body }: UrlRequest): Promise<void> {
  const unavailable = (reason: string): DailiesError =>
    new DailiesError(`${operation}: ${reason}`, { code: 'platform_unavailable', retryable: true });
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !isLoopbackHost(hostname)) throw unavailable('an address without TLS was given');
  const timeouts = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
  const response = await request(url, { method: 'POST', headers, body, ...timeouts }).catch((thrown: unknown) => {
    throw unavailable(thrown instanceof Error ? thrown.message : String(thrown));
  });
  const { statusCode } = response;
  await response.body.dump();
  if (statusCode < 300) return;
  if (statusCode === 413) throw new DailiesError(`${operation}: HTTP 413`, { code: 'too_large', retryable: false });
  const waitSeconds = Number(response.headers['retry-after']);
  if (statusCode === 429) throw rateLimited(operation, (Number.isFinite(waitSeconds) ? waitSeconds : 1) * 1000);
  throw unavailable(`HTTP ${statusCode}`);
}
