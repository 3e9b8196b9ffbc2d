// Values in localStorage. A browser that refuses to store (private windows, full quota) stores nothing.

/** Returns the stored value, or `fallback`. @param {string} key @param {any} fallback */
export function recall(key, fallback) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') ?? fallback;
  } catch {
    return fallback;
  }
}

/** Stores a value as JSON; `null` removes it. @param {string} key @param {any} value */
export function keep(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // The page works without storage.
  }
}
