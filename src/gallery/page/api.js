/** Token that the server expects with every change; set by {@link enter}. */
let token = '';

/** Error of a request: its sentence for the user, whether the session has ended, and whether the clip is gone. */
class RequestError extends Error {
  /** @param status of the response; 0 for none */
  constructor(sentence, status) {
    super(sentence);
    this.hasEnded = status === 401;
    this.isGone = status === 404;
  }
}

/** Event of the window: the session has ended, as a response said. */
export const SESSION_ENDED = 'sessionended';

const OFFLINE = 'I can’t reach Dailies. Check your connection, then try again.';
/** Time after which a request counts as failed; a press is repeated under its key. */
const TIMEOUT_MS = 60_000;

/** Reads the session: who sees the page, and what it offers. */
export async function enter() {
  const session = await read('session');
  token = session.token;
  return session;
}

/** Makes a change, such as a press of a button. @returns the body of the response */
export function change(path, body) {
  const headers = { 'content-type': 'application/json', 'x-gallery-token': token };
  return read(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Reads a path of the API. @throws RequestError */
export async function read(path, options = {}) {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(`/gallery/api/${path}`, { ...options, signal }).catch(() => null);
  if (response === null) throw new RequestError(OFFLINE, 0);
  if (response.status === 401) dispatchEvent(new Event(SESSION_ENDED));
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new RequestError(body.error ?? 'Something went wrong. Try again.', response.status);
  return body;
}
