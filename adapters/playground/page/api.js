/** Retries stop after this long; a later success could surprise the user, and cost money. */
const RETRY_FOR_MS = 60_000;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 5_000;

const OFFLINE = 'I can’t reach Dailies. Try again when it is back.';

/** Retries waiting for the connection to return. */
const waiting = new Set();

/** Retries the waiting calls at once. */
export function connectionReturned() {
  for (const wake of waiting) wake();
}

/**
 * @typedef {object} InteractionResult
 * @property {boolean} ok
 * @property {boolean} offline the bot was unreachable for a minute, so the outcome is unknown
 * @property {boolean} settled the bot handled or refused it; if false, it may be retried under the same id
 * @property {string} error one sentence for the user
 * @property {any} form a form to open
 * @property {string | null} message id of the response message
 * @property {any} [card] the response, where there is no message of it: on the page Settings
 * @property {{ field: string, sentence: string }[]} problems errors of a form by field
 */

/**
 * Sends an interaction. While the bot is unreachable, retries it under its id with backoff, for up to a minute.
 * @param {'interactions' | 'presses' | 'reactions' | 'forms' | 'dismissals' | 'gallery'} path
 * @param {object} body
 * @returns {Promise<InteractionResult>}
 */
export async function act(path, body) {
  const deadlineMs = Date.now() + RETRY_FOR_MS;
  for (let backoffMs = FIRST_BACKOFF_MS; ; backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS)) {
    try {
      return await send(path, body);
    } catch {
      if (Date.now() >= deadlineMs) {
        return { ...NO_RESULT, offline: true, error: OFFLINE };
      }
      await pause(backoffMs);
    }
  }
}

const NO_RESULT = { ok: false, offline: false, settled: false, error: '', form: null, message: null, problems: [] };

async function send(path, body) {
  const response = await fetch(`/playground/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { ...NO_RESULT, ok: response.ok, settled: response.status < 500, ...(await response.json()) };
}

/** Resolves after `ms`, or as soon as the connection returns. */
function pause(ms) {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      waiting.delete(wake);
      resolve(undefined);
    };
    const timer = setTimeout(wake, ms);
    waiting.add(wake);
  });
}

/**
 * Reads a resource of the HTTP API.
 * @param {string} path
 * @param {Record<string, string>} [query]
 * @throws Error unless the status is 2xx: a sentence for the user, with the `status`, 0 for no response.
 */
export async function read(path, query = {}) {
  return (await get(path, query)).json();
}

/**
 * Reads a page of messages of a channel.
 * @param {Record<string, string>} query
 * @throws Error as {@link read} does.
 */
export async function readMessages(query) {
  const response = await get('messages', query);
  return {
    messages: await response.json(),
    hasEarlier: response.headers.get('x-has-more') === 'true',
    hasLater: response.headers.get('x-has-later') === 'true',
  };
}

async function get(path, query) {
  const response = await fetch(`/playground/${path}?${new URLSearchParams(query)}`).catch(() => null);
  if (response?.ok) return response;
  const { error = OFFLINE } = (await response?.json().catch(() => null)) ?? {};
  throw Object.assign(new Error(error), { status: response?.status ?? 0 });
}
