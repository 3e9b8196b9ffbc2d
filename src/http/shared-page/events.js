import { useEffect, useState } from 'preact/hooks';

/** Listens to an event while the component is mounted. @param {EventTarget} [target] default: the window */
export function useListener(type, listener, target = globalThis) {
  useEffect(() => {
    target.addEventListener(type, listener);
    return () => target.removeEventListener(type, listener);
  });
}

/** Returns what `read` finds in the fragment of the page's address, now and after each change of it. */
export function useFragment(read) {
  const [found, setFound] = useState(() => read(location.hash));
  useListener('hashchange', () => setFound(read(location.hash)));
  return found;
}
