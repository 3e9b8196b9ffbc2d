/** Returns a new id for something a person does; sent again after a broken connection, it is done once all the same. */
export function newId() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** For this long a call is repeated by itself; later it could surprise the person, and cost money. */
const REPEAT_FOR_MS = 60_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;

/** Calls that wait for the connection to return. */
const waiting = new Set();

/** Wakes the calls that wait for the connection. */
export function connectionReturned() {
  for (const wake of waiting) wake();
}

/**
 * @typedef {object} Answer
 * @property {boolean} ok
 * @property {boolean} offline the bot could not be reached for a minute: whether it arrived is unknown
 * @property {boolean} settled the bot did it or refused it; if not, the same may be sent again under the same id
 * @property {string} error one sentence for the person
 * @property {any} form a form to open
 * @property {string | null} message the id of the answer's message
 * @property {{ field: string, sentence: string }[]} problems what is wrong with the fields of a form
 */

/**
 * Sends what a person does. While the bot cannot be reached the call is repeated under its id, for a minute.
 * @param {'interactions' | 'presses' | 'reactions' | 'forms' | 'dismissals'} what
 * @param {object} body
 * @returns {Promise<Answer>}
 */
export async function act(what, body) {
  const giveUpAtMs = Date.now() + REPEAT_FOR_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await send(what, body);
    } catch {
      if (Date.now() >= giveUpAtMs) {
        return { ...UNANSWERED, offline: true, error: 'I can’t reach Dailies. Try again when it is back.' };
      }
      await pause(pauseMs);
    }
  }
}

const UNANSWERED = { ok: false, offline: false, settled: false, error: '', form: null, message: null, problems: [] };

async function send(what, body) {
  const response = await fetch(`/playground/${what}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { ...UNANSWERED, ok: response.ok, settled: response.status < 500, ...(await response.json()) };
}

/** Waits that long, or until the connection returned. */
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
 * Reads something.
 * @param {string} what
 * @param {Record<string, string>} [query]
 * @throws Error where the bot does not answer 200; `status` says with what.
 */
export async function read(what, query = {}) {
  return (await get(what, query)).json();
}

/**
 * Reads a page of a channel's messages.
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

async function get(what, query) {
  const response = await fetch(`/playground/${what}?${new URLSearchParams(query)}`);
  if (!response.ok)
    throw Object.assign(new Error(`reading ${what}: HTTP ${response.status}`), { status: response.status });
  return response;
}
