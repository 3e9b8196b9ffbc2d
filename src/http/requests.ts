import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

type Head = Pick<FastifyRequest, 'headers'>;

/** Returns whether a request changes nothing, by its method. */
export function isRead({ method }: Pick<FastifyRequest, 'method'>): boolean {
  return method === 'GET' || method === 'HEAD';
}

/**
 * Returns whether a request comes from another site, by the header that browsers add themselves.
 * @see https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Sec-Fetch-Site
 */
export function isFromOtherSite({ headers }: Head): boolean {
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

/**
 * Returns whether a request comes from a page of another origin, by the header that browsers add themselves. A sandboxed
 * page has none of its own.
 * @param publicUrl address of this server from outside, whose proxy may not pass its Host on; `null`: only the Host counts
 */
export function isFromOtherOrigin({ headers: { origin, host } }: Head, publicUrl: URL | null): boolean {
  if (origin === undefined) return false;
  const from = URL.canParse(origin) ? new URL(origin).host : '';
  return from === '' || (from !== host?.toLowerCase() && from !== publicUrl?.host);
}

/** Makes the routes of a scope accept the forms of HTML pages; a body is an object of texts. */
export function acceptForms(http: FastifyInstance): void {
  http.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(body.toString()))),
  );
}

/** Returns the value of a cookie; `undefined` where the request has none of that name. */
export function cookieOf({ headers }: Head, name: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** Cookie that no script can read. */
interface Cookie {
  readonly name: string;
  readonly value: string;
  /** Path to which it is sent, and below. */
  readonly path: string;
  /** 0 removes it. */
  readonly maxAgeSeconds: number;
  /** `Lax` is sent as well when a link on another site is followed. */
  readonly sameSite: 'Lax' | 'Strict';
  /** True: sent by HTTPS only. */
  readonly isSecure: boolean;
}

/** Sets a cookie with a response. */
export function setCookie(reply: FastifyReply, cookie: Cookie): FastifyReply {
  const { name, value, path, maxAgeSeconds, sameSite, isSecure } = cookie;
  const attributes = `Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}`;
  return reply.header('set-cookie', `${name}=${value}; ${attributes}${isSecure ? '; Secure' : ''}`);
}
