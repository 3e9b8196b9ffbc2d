/** What the browser keeps for the page. A browser that refuses (private windows, full quota) keeps nothing. */

/** @param {string} key @param {any} fallback */
export function recall(key, fallback) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') ?? fallback;
  } catch {
    return fallback;
  }
}

/** Keeps a value as JSON; `null` forgets it. @param {string} key @param {any} value */
export function keep(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Nothing depends on it.
  }
}
