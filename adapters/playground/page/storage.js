// Values that the browser keeps. One that refuses to (private windows, full quota) keeps nothing, and the page works.

const USER_KEY = 'dailies.user';

/** Returns the stored value, or `fallback`. @param {string} key @param {any} fallback */
export function recall(key, fallback) {
  return tried(() => JSON.parse(localStorage.getItem(key) ?? 'null')) ?? fallback;
}

/** Stores a value as JSON; `null` removes it. @param {string} key @param {any} value */
export function keep(key, value) {
  tried(() => (value === null ? localStorage.removeItem(key) : localStorage.setItem(key, JSON.stringify(value))));
}

/** Returns the user of this window; a new window starts with the one chosen last, in any. */
export function recallUser() {
  return tried(() => sessionStorage.getItem(USER_KEY) ?? localStorage.getItem(USER_KEY));
}

/** @param {string} user */
export function keepUser(user) {
  tried(() => {
    sessionStorage.setItem(USER_KEY, user);
    localStorage.setItem(USER_KEY, user);
  });
}

function tried(use) {
  try {
    return use();
  } catch {
    return null;
  }
}
