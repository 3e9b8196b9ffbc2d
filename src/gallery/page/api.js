/** Token that the server expects with every change; set by {@link enter}. */
let token = '';

/** Error of a request: its sentence for the user, whether the session has ended, and whether the clip is gone. */
export class RequestError extends Error {
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

async function call(path, options = {}) {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(`/gallery/api/${path}`, { ...options, signal }).catch(() => null);
  if (response === null) throw new RequestError(OFFLINE, 0);
  if (response.status === 401) dispatchEvent(new Event(SESSION_ENDED));
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new RequestError(body.error ?? 'Something went wrong. Try again.', response.status);
  return body;
}

/** Reads the session: who sees the page, and what it offers. */
export async function enter() {
  const session = await call('session');
  token = session.token;
  return session;
}

/** Reads a page of clips. @param {Record<string, string>} query filters and cursor; empty ones are left out */
export function readClips(query) {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  return call(`clips?${new URLSearchParams(given)}`);
}

export function readClip(id) {
  return call(`clips/${encodeURIComponent(id)}`);
}

/** Reads what clips were ordered in: its kind, a board's order, and its cuts. */
export function readSet(id) {
  return call(`sets/${encodeURIComponent(id)}`);
}

/** Reads the people, channels and models of the latest clips, for the filters. */
export function readFacets() {
  return call('facets');
}

/** Presses a button for a clip. @returns the reply: `ordered`, or lines of text with buttons */
export function press(id, task, action) {
  return change('presses', { id, task, action });
}

/** Reads the person's defaults and the choices for them. */
export function readDefaults() {
  return call('defaults');
}

/** Changes some of the person's defaults; `null` removes one. @returns all of them */
export function changeDefaults(patch) {
  return change('defaults', patch);
}

export function leave() {
  return change('end', {});
}

function change(path, body) {
  const headers = { 'content-type': 'application/json', 'x-gallery-token': token };
  return call(path, { method: 'POST', headers, body: JSON.stringify(body) });
}
