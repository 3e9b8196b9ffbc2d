const SQLITE = 'sqlite:';

/** Returns whether `text` is a store URL: `sqlite:PATH`, `redis://HOST:PORT` or `rediss://HOST:PORT`. */
export function isStoreUrl(text: string): boolean {
  const path = sqlitePath(text);
  return path === null ? /^rediss?:\/\/./.test(text) && URL.canParse(text) : path !== '';
}

/** Returns the file path of an SQLite store URL; `null` for any other store. */
export function sqlitePath(url: string): string | null {
  return url.startsWith(SQLITE) ? url.slice(SQLITE.length) : null;
}

/** Returns a store URL without user name, password and query, fit for logs and errors. */
export function withoutPassword(url: string): string {
  if (sqlitePath(url) !== null || !URL.canParse(url)) return url;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
