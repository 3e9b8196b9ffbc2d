import { useEffect, useState } from 'preact/hooks';

/** Listens to an event while the component is mounted. @param {EventTarget} [target] default: the window */
export function useListener(type, listener, target = globalThis) {
  useEffect(() => {
    target.addEventListener(type, listener);
    return () => target.removeEventListener(type, listener);
  });
}

/**
 * Loads with `read` when the component is mounted and whenever one of `on` changes; `null` from it loads nothing. The
 * result for earlier values of `on` is ignored.
 * @returns the latest result, `null` before the first, and a function that sets it
 */
export function useLoaded(read, on, failed = () => {}) {
  const [loaded, setLoaded] = useState(null);
  useEffect(() => {
    let isCurrent = true;
    read()?.then(
      (result) => isCurrent && setLoaded(result),
      (thrown) => isCurrent && failed(thrown),
    );
    return () => {
      isCurrent = false;
    };
  }, on);
  return [loaded, setLoaded];
}

/** Returns what `read` finds in the fragment of the page's address, now and after each change of it. */
export function useFragment(read) {
  const [found, setFound] = useState(() => read(location.hash));
  useListener('hashchange', () => setFound(read(location.hash)));
  return found;
}
