/** Returns a new idempotency key: an interaction that is repeated under the same key is handled once. */
export function newId() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
