/** A new id for something somebody does; sent again after a broken connection, it is done once all the same. */
export function newId() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Sends what somebody does.
 * @param {'interactions' | 'presses' | 'reactions' | 'forms' | 'dismissals'} what
 * @param {object} body
 * @returns {Promise<{ ok: boolean, offline: boolean, settled: boolean, error: string, form: any, message: string | null }>}
 *   `offline`: nobody knows whether it arrived; send the same again. `settled`: the bot took it or refused it; if it did
 *   not, the same is sent again under the same id, since it may have been done. `error`: one sentence for the person.
 */
export async function act(what, body) {
  const answer = { ok: false, offline: false, settled: false, error: '', form: null, message: null };
  try {
    const response = await fetch(`/playground/${what}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { ...answer, ok: response.ok, settled: response.status < 500, ...(await response.json()) };
  } catch {
    return { ...answer, offline: true, error: 'The connection is lost.' };
  }
}

/**
 * Reads something.
 * @param {string} what
 * @param {Record<string, string>} [query]
 */
export async function read(what, query = {}) {
  const response = await fetch(`/playground/${what}?${new URLSearchParams(query)}`);
  if (!response.ok) throw new Error(`reading ${what}: HTTP ${response.status}`);
  return response.json();
}
