import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { bearerOf, escapeHtml, isSameSecret, NOTE_STYLE, type WrongTokens } from '#src/http/index.ts';
import { isLoopbackHost } from '#src/videos/index.ts';

export interface GuardOptions {
  /** Address the server listens on (`HOST`). */
  readonly host: string;
  /** Public URL of the server (`PUBLIC_URL`); `null`: none. */
  readonly publicUrl: URL | null;
  /** Access token required of every request; `null`: none, and then only requests from this machine are served. */
  readonly accessToken: string | null;
  /** Counts wrong access tokens and throttles the responses to them. */
  readonly wrongTokens: Pick<WrongTokens, 'note'>;
}

/** Response to a rejected request. */
interface Refusal {
  readonly status: 401 | 403 | 415;
  readonly error: string;
}

const COOKIE = 'dailies_playground';
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
/** Addresses that mean "every interface"; no browser requests them. */
const WILDCARDS = ['0.0.0.0', '::', ''];
/** Headers that proxies add to forwarded requests; a browser on this machine sends none of them. */
const PROXY_HEADERS =
  /^(?:forwarded|via|x-real-ip|(?:x|true|x-cluster|fastly|fly)-client-ip|(?:x-forwarded|x-original|x-envoy|x-amzn|cf)-.+)$/;
/** Lifetime of the access cookie in seconds. */
const COOKIE_SECONDS = 30 * 24 * 3_600;
/** Message of a 401 response while no access token is configured. */
const NEEDS_TOKEN =
  'The playground spends money and has no access token, so it answers on its own machine alone. ' +
  'For others to reach it, set PLAYGROUND_TOKEN.';
const ENTER_TOKEN = 'Enter the access token of this playground. It is in PLAYGROUND_TOKEN.';
const WRONG_TOKEN = 'That isn’t the access token. It is in PLAYGROUND_TOKEN; try again.';
const accessForm = z.object({ token: z.string().max(1_000).default('') });

/**
 * Admits requests of the playground's own page and of API clients. Against foreign pages in the same browser, the Host
 * must be ours (DNS rebinding), the origin must be ours (CSRF), and a body must be JSON (which no form can send).
 * Everything else is up to the access token; without one, requests from other machines are rejected, as far as their
 * Host or a proxy's header reveals them.
 */
export class Guard {
  readonly #options: GuardOptions;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** Fastify `onRequest` hook that rejects unauthorized requests. */
  readonly check = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const refusal = this.#wrongHost(request) ?? this.#wrongOrigin(request) ?? this.#wrongType(request);
    if (refusal !== undefined) return refuse(request, reply, refusal);
    return isAccessForm(request) ? undefined : this.#authenticate(request, reply);
  };

  /** Registers the route that the form of the access page posts to. */
  addEntrance(http: FastifyInstance): void {
    http.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
      done(null, Object.fromEntries(new URLSearchParams(body.toString()))),
    );
    http.post(ACCESS_PATH, { bodyLimit: 4_096 }, async (request, reply) => {
      const { accessToken } = this.#options;
      const { token } = accessForm.parse(request.body ?? {});
      if (accessToken !== null && isSameSecret(token, accessToken)) return this.#setCookie(request, reply, accessToken);
      await this.#options.wrongTokens.note();
      return sendAccessPage(reply.code(401), { sentence: WRONG_TOKEN, asksForToken: accessToken !== null });
    });
  }

  #wrongHost(request: FastifyRequest): Refusal | undefined {
    const host = request.headers.host?.toLowerCase() ?? '';
    if (this.#ownHosts(request).includes(host)) return undefined;
    const error = `This playground does not answer at "${host}". Open it at its own address, or set PUBLIC_URL to this one.`;
    return { status: 403, error };
  }

  #ownHosts(request: FastifyRequest): readonly string[] {
    const { host, publicUrl } = this.#options;
    const port = request.socket.localPort ?? 0;
    const given = host.includes(':') ? `[${host}]` : host.toLowerCase();
    const names = WILDCARDS.includes(host) ? LOOPBACK_NAMES : [...LOOPBACK_NAMES, given];
    const local = names.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]));
    return publicUrl === null ? local : [...local, publicUrl.host];
  }

  #wrongOrigin({ headers, method, url }: FastifyRequest): Refusal | undefined {
    const site = headers['sec-fetch-site'];
    // A link from another site may open the page: that is a read.
    const isVisit = method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && pathOf(url) === '/';
    const isForeignSite = site !== undefined && site !== 'same-origin' && site !== 'none' && !isVisit;
    const { origin } = headers;
    const isForeignOrigin = origin !== undefined && hostOf(origin) !== headers.host?.toLowerCase();
    if (!isForeignSite && !isForeignOrigin) return undefined;
    return { status: 403, error: 'This playground takes calls from its own page only.' };
  }

  #wrongType(request: FastifyRequest): Refusal | undefined {
    const { headers, method } = request;
    if (method === 'GET' || method === 'HEAD' || isAccessForm(request)) return undefined;
    const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (type === 'application/json') return undefined;
    return { status: 415, error: 'Send JSON, with the header content-type: application/json.' };
  }

  /** Checks the access token; one in the query of the page's URL is exchanged for a cookie. */
  async #authenticate(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const { accessToken } = this.#options;
    if (accessToken === null)
      return this.#isFromOutside(request) ? refuse(request, reply, { status: 401, error: NEEDS_TOKEN }) : undefined;
    const { headers, url } = request;
    const isPage = request.method === 'GET' && pathOf(url) === '/';
    const inQuery = new URL(url, 'http://page').searchParams.get('token');
    if (isPage && inQuery !== null && isSameSecret(inQuery, accessToken))
      return this.#setCookie(request, reply, accessToken);
    const bearer = bearerOf(request);
    if (isSameSecret(bearer, accessToken)) return undefined;
    const cookie = cookieOf(headers.cookie ?? '', COOKIE);
    if (cookie !== undefined && isSameSecret(cookie, cookieValue(accessToken))) return undefined;
    const isWrong = bearer !== '' || cookie !== undefined || (isPage && inQuery !== null);
    if (isWrong) await this.#options.wrongTokens.note();
    const asksForToken = true;
    if (isBrowsing(request)) {
      const sentence = isPage && inQuery !== null ? WRONG_TOKEN : ENTER_TOKEN;
      return sendAccessPage(reply.code(401), { sentence, asksForToken });
    }
    const error = 'This playground needs its access token: open it as /?token=…, or send it as a bearer token.';
    return refuse(request, reply, { status: 401, error });
  }

  /**
   * Returns whether a request without an access token may come from another machine. By default, nginx forwards over
   * HTTP/1.0, with the upstream's Host and no forwarding header.
   * @see https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_http_version
   */
  #isFromOutside({ headers, raw }: FastifyRequest): boolean {
    const { publicUrl } = this.#options;
    if (raw.httpVersion === '1.0' || Object.keys(headers).some((name) => PROXY_HEADERS.test(name))) return true;
    const isOutside = publicUrl !== null && !isLoopbackHost(publicUrl.hostname);
    return isOutside && headers.host?.toLowerCase() === publicUrl.host;
  }

  #setCookie({ headers }: FastifyRequest, reply: FastifyReply, accessToken: string): FastifyReply {
    return reply.header('set-cookie', this.#cookie(headers.host, accessToken)).redirect('/', 303);
  }

  #cookie(host: string | undefined, accessToken: string): string {
    const { publicUrl } = this.#options;
    const isSecure = publicUrl?.protocol === 'https:' && publicUrl.host === host?.toLowerCase();
    const lifetime = `Max-Age=${COOKIE_SECONDS}`;
    return `${COOKIE}=${cookieValue(accessToken)}; Path=/; ${lifetime}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  }
}

function isAccessForm({ method, url }: FastifyRequest): boolean {
  return method === 'POST' && pathOf(url) === ACCESS_PATH;
}

/** Responds with a page to a browser and with JSON to an API client. */
function refuse(request: FastifyRequest, reply: FastifyReply, { status, error }: Refusal): FastifyReply {
  reply.code(status);
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  return isBrowsing(request) ? sendAccessPage(reply, { sentence: error, asksForToken: false }) : reply.send({ error });
}

/** Returns a hash of the token: cookies are shared by all ports of a host, so the token itself must not leak. */
function cookieValue(accessToken: string): string {
  return createHash('sha256').update(`${COOKIE}:${accessToken}`).digest('base64url');
}

function cookieOf(header: string, name: string): string | undefined {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '';
}

/** Returns the host of an Origin header; `null` (a sandboxed page) has none. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

const ACCESS_PATH = '/playground/access';

/** Page shown to a browser that is not (yet) authorized to see the chat page. */
interface AccessPage {
  /** Plain text; escaped here. */
  readonly sentence: string;
  /** True: the page has a field for the access token. */
  readonly asksForToken: boolean;
}

/** The referrer policy lets browsers send the origin with the form, which the access check validates. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(NOTE_STYLE).digest('base64')}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
} as const;

/** Returns whether a request is a page load in a browser, which accepts HTML. */
function isBrowsing({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>): boolean {
  return (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true;
}

/** Sends a page with a field for the access token, or with the reason for the refusal alone. */
function sendAccessPage(reply: FastifyReply, page: AccessPage): FastifyReply {
  return reply.headers(HEADERS).send(accessPage(page));
}

function accessPage({ sentence, asksForToken }: AccessPage): string {
  const form = `
<form method="post" action="${ACCESS_PATH}">
<label for="token">Access token</label>
<input id="token" name="token" type="password" required autofocus autocomplete="current-password" aria-describedby="why">
<button>Open</button>
</form>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Dailies</title>
<style>${NOTE_STYLE}</style>
</head>
<body>
<main>
<h1>Dailies</h1>
<p id="why"${asksForToken ? ' role="status"' : ''}>${escapeHtml(sentence)}</p>${asksForToken ? form : ''}
</main>
</body>
</html>
`;
}
