import { request } from 'undici';
import { isLoopback } from '#src/config/variables.ts';
import { DailiesError } from '#src/errors.ts';

const OPERATION = 'answering a command';
const TIMEOUT_MS = 10_000;

/**
 * Sends an ephemeral message to a command's author through its `response_url`, without a token.
 * @throws `platform_unavailable`
 * @see https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
 */
export async function answerAt(url: string, text: string): Promise<void> {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !isLoopback(hostname)) throw unavailable('an address without TLS was given');
  const { statusCode, body } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ response_type: 'ephemeral', replace_original: false, text }),
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  }).catch((thrown: unknown) => {
    throw unavailable(thrown instanceof Error ? thrown.message : String(thrown));
  });
  await body.dump();
  if (statusCode >= 300) throw unavailable(`HTTP ${statusCode}`);
}

function unavailable(reason: string): DailiesError {
  return new DailiesError(`${OPERATION}: ${reason}`, { code: 'platform_unavailable', retryable: true });
}
