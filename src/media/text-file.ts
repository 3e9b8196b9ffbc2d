import { request } from 'undici';
import { DailiesError } from '../errors.ts';
import { decodedText, readBounded } from '../http/index.ts';

/** Largest text file in bytes: more than the longest storyboard. */
const MAX_BYTES = 100_000;
const TIMEOUT_MS = 10_000;

interface ChatFile {
  readonly url: string;
  readonly name: string;
  readonly contentType?: string | undefined;
}

/** Returns whether a file is plain text, by its content type or else by its extension. */
export function isTextFile({ name, contentType = '' }: Omit<ChatFile, 'url'>): boolean {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type === '' || type === 'application/octet-stream'
    ? /\.(?:txt|md|markdown|text)$/iu.test(name)
    : type === 'text/plain' || type === 'text/markdown';
}

/**
 * Downloads a small text file from a chat platform.
 * @throws `too_large`; `bad_answer` for one that is not text; `unavailable` where the platform does not send it.
 */
export async function readTextFile(
  { url }: Pick<ChatFile, 'url'>,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const response = await request(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  const { statusCode, body } = response;
  // Without access, Slack sends its sign-in page instead.
  const isPage = String(response.headers['content-type']).startsWith('text/html');
  if (statusCode !== 200 || isPage) {
    await body.dump();
    const reason = isPage ? 'a page came instead of the file' : `HTTP ${statusCode}`;
    throw new DailiesError(`fetching a text file: ${reason}`, { code: 'unavailable', retryable: true });
  }
  const bytes = await readBounded(body, MAX_BYTES);
  if (bytes === null) {
    const limit = { code: 'too_large', retryable: false, limitBytes: MAX_BYTES } as const;
    throw new DailiesError(`fetching a text file: more than ${MAX_BYTES} bytes`, limit);
  }
  const text = decodedText(bytes);
  if (text === null)
    throw new DailiesError('fetching a text file: it is no text', { code: 'bad_answer', retryable: false });
  return text;
}
