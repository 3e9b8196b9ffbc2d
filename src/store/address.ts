const SQLITE = 'sqlite:';

/** Whether that is the address of a store: `sqlite:PATH`, `redis://HOST:PORT` or `rediss://HOST:PORT`. */
export function isStoreUrl(text: string): boolean {
  const path = sqlitePath(text);
  return path === null ? /^rediss?:\/\/./.test(text) && URL.canParse(text) : path !== '';
}

/** The file of an SQLite store; `null` where a store is none. */
export function sqlitePath(url: string): string | null {
  return url.startsWith(SQLITE) ? url.slice(SQLITE.length) : null;
}

/** The address of a store without the password that may be in it. */
export function withoutPassword(url: string): string {
  if (sqlitePath(url) !== null || !URL.canParse(url)) return url;
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
