import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  acceptForms,
  bearerOf,
  cookieOf,
  isFromOtherOrigin,
  isFromOtherSite,
  isRead,
  isSameSecret,
  sendNotePage,
  setCookie,
  type WrongTokens,
} from '#src/http/index.ts';
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
    acceptForms(http);
    http.post(ACCESS_PATH, { bodyLimit: 4_096 }, async (request, reply) => {
      const { accessToken } = this.#options;
      const { token } = accessForm.parse(request.body ?? {});
      if (accessToken !== null && isSameSecret(token, accessToken)) return this.#setCookie(request, reply, accessToken);
      await this.#options.wrongTokens.note();
      return sendAccessPage(reply.code(401), WRONG_TOKEN, accessToken === null ? '' : TOKEN_FORM);
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

  #wrongOrigin(request: FastifyRequest): Refusal | undefined {
    const { headers, method, url } = request;
    // A link from another site may open the page: that is a read.
    const isVisit = method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && pathOf(url) === '/';
    const isForeignSite = isFromOtherSite(request) && !isVisit;
    if (!isForeignSite && !isFromOtherOrigin(request, null)) return undefined;
    return { status: 403, error: 'This playground takes calls from its own page only.' };
  }

  #wrongType(request: FastifyRequest): Refusal | undefined {
    if (isRead(request) || isAccessForm(request)) return undefined;
    const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (type === 'application/json') return undefined;
    return { status: 415, error: 'Send JSON, with the header content-type: application/json.' };
  }

  /** Checks the access token; one in the query of the page's URL is exchanged for a cookie. */
  async #authenticate(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const { accessToken } = this.#options;
    if (accessToken === null)
      return this.#isFromOutside(request) ? refuse(request, reply, { status: 401, error: NEEDS_TOKEN }) : undefined;
    const { url } = request;
    const isPage = request.method === 'GET' && pathOf(url) === '/';
    const inQuery = new URL(url, 'http://page').searchParams.get('token');
    if (isPage && inQuery !== null && isSameSecret(inQuery, accessToken))
      return this.#setCookie(request, reply, accessToken);
    const bearer = bearerOf(request);
    if (isSameSecret(bearer, accessToken)) return undefined;
    const cookie = cookieOf(request, COOKIE);
    if (cookie !== undefined && isSameSecret(cookie, cookieValue(accessToken))) return undefined;
    const isWrong = bearer !== '' || cookie !== undefined || (isPage && inQuery !== null);
    if (isWrong) await this.#options.wrongTokens.note();
    if (isBrowsing(request)) {
      const sentence = isPage && inQuery !== null ? WRONG_TOKEN : ENTER_TOKEN;
      return sendAccessPage(reply.code(401), sentence, TOKEN_FORM);
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
    const { publicUrl } = this.#options;
    const isSecure = publicUrl?.protocol === 'https:' && publicUrl.host === headers.host?.toLowerCase();
    const scope = { path: '/', maxAgeSeconds: COOKIE_SECONDS, sameSite: 'Strict', isSecure } as const;
    return setCookie(reply, { name: COOKIE, value: cookieValue(accessToken), ...scope }).redirect('/', 303);
  }
}

function isAccessForm({ method, url }: FastifyRequest): boolean {
  return method === 'POST' && pathOf(url) === ACCESS_PATH;
}

/** Responds with a page to a browser and with JSON to an API client. */
function refuse(request: FastifyRequest, reply: FastifyReply, { status, error }: Refusal): FastifyReply {
  reply.code(status);
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  return isBrowsing(request) ? sendAccessPage(reply, error) : reply.send({ error });
}

/** Returns a hash of the token: cookies are shared by all ports of a host, so the token itself must not leak. */
function cookieValue(accessToken: string): string {
  return createHash('sha256').update(`${COOKIE}:${accessToken}`).digest('base64url');
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '';
}

const ACCESS_PATH = '/playground/access';

const TOKEN_FORM = `
<form method="post" action="${ACCESS_PATH}">
<label for="token">Access token</label>
<input id="token" name="token" type="password" required autofocus autocomplete="current-password" aria-describedby="why">
<button>Open</button>
</form>`;

/** Returns whether a request is a page load in a browser, which accepts HTML. */
function isBrowsing(request: FastifyRequest): boolean {
  return isRead(request) && request.headers.accept?.includes('text/html') === true;
}

/** Sends the page shown to a browser that is not (yet) authorized to see the chat page. @param form default: none */
function sendAccessPage(reply: FastifyReply, sentence: string, form = ''): FastifyReply {
  return sendNotePage(reply.header('cache-control', 'no-store'), { title: 'Dailies', sentence, form });
}
