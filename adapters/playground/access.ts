import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isLoopback } from '#src/config.ts';
import { bearerOf, isSameSecret } from '#src/http/secrets.ts';
import type { WrongTokens } from '#src/http/wrong-tokens.ts';
import { ACCESS_PATH, isBrowsing, sendAccessPage } from './access-page.ts';

/** Who may reach the playground. */
export interface GuardOptions {
  /** The address the server listens on (`HOST`). */
  readonly host: string;
  /** Where the server is reachable from outside (`PUBLIC_URL`), if anywhere. */
  readonly publicUrl: URL | null;
  /** What every call has to carry; `null`: nothing, and then this machine alone is answered. */
  readonly accessToken: string | null;
  /** Notes wrong access tokens and delays the answer to them. */
  readonly wrongTokens: Pick<WrongTokens, 'note'>;
}

/** Why a request is not let through. */
interface Refusal {
  readonly status: 401 | 403 | 415;
  readonly error: string;
}

const COOKIE = 'dailies_playground';
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
/** Addresses that stand for "every interface": nobody types them into a browser. */
const WILDCARDS = ['0.0.0.0', '::', ''];
/** Headers that proxies add to what they pass on; a browser on this machine sends none of them. */
const PASSED_ON =
  /^(?:forwarded|via|x-real-ip|(?:x|true|x-cluster|fastly|fly)-client-ip|(?:x-forwarded|x-original|x-envoy|x-amzn|cf)-.+)$/;
/** How long a browser remembers the access token. */
const REMEMBERED_SECONDS = 30 * 24 * 3_600;
/** Said to those who are not answered. */
const NEEDS_TOKEN =
  'The playground spends money and has no access token, so it answers on its own machine alone. ' +
  'For others to reach it, whoever runs it sets PLAYGROUND_TOKEN.';
const ENTER_TOKEN = 'Enter the access token of this playground. It is in PLAYGROUND_TOKEN.';
const WRONG_TOKEN = 'That isn’t the access token. It is in PLAYGROUND_TOKEN; try again.';
const entering = z.object({ token: z.string().max(1_000).default('') });

/**
 * Lets through what comes from the playground's own page, or from a program on purpose. Against a page of somebody
 * else in the same browser: the Host must be ours (DNS rebinding), the origin must be ours (cross-site calls), a
 * body must be JSON (which no form can send). Against everybody else: the access token; without one, nothing that came
 * from outside is let through, as far as its Host or a proxy's header shows that it did.
 */
export class Guard {
  readonly #options: GuardOptions;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** A Fastify `onRequest` hook: answers what is not let through. */
  readonly check = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const refusal = this.#wrongHost(request) ?? this.#wrongOrigin(request) ?? this.#wrongType(request);
    if (refusal !== undefined) return refuse(request, reply, refusal);
    return isEntering(request) ? undefined : this.#admit(request, reply);
  };

  /** Adds the address to which the form of the access page is sent. */
  addEntrance(http: FastifyInstance): void {
    http.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
      done(null, Object.fromEntries(new URLSearchParams(body.toString()))),
    );
    http.post(ACCESS_PATH, { bodyLimit: 4_096 }, async (request, reply) => {
      const { accessToken } = this.#options;
      const { token } = entering.parse(request.body ?? {});
      if (accessToken !== null && isSameSecret(token, accessToken)) return this.#welcome(request, reply, accessToken);
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
    // A link to the page from elsewhere is fine: it only shows the page.
    const isVisit = method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && pathOf(url) === '/';
    const isForeignSite = site !== undefined && site !== 'same-origin' && site !== 'none' && !isVisit;
    const { origin } = headers;
    const isForeignOrigin = origin !== undefined && hostOf(origin) !== headers.host?.toLowerCase();
    if (!isForeignSite && !isForeignOrigin) return undefined;
    return { status: 403, error: 'This playground takes calls from its own page only.' };
  }

  #wrongType(request: FastifyRequest): Refusal | undefined {
    const { headers, method } = request;
    if (method === 'GET' || method === 'HEAD' || isEntering(request)) return undefined;
    const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (type === 'application/json') return undefined;
    return { status: 415, error: 'Send JSON, with the header content-type: application/json.' };
  }

  /** Asks for the access token; one given in the page's address is exchanged for a cookie. */
  async #admit(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const { accessToken } = this.#options;
    if (accessToken === null)
      return this.#isFromOutside(request) ? refuse(request, reply, { status: 401, error: NEEDS_TOKEN }) : undefined;
    const { headers, url } = request;
    const isPage = request.method === 'GET' && pathOf(url) === '/';
    const inAddress = new URL(url, 'http://page').searchParams.get('token');
    if (isPage && inAddress !== null && isSameSecret(inAddress, accessToken))
      return this.#welcome(request, reply, accessToken);
    const bearer = bearerOf(request);
    if (isSameSecret(bearer, accessToken)) return undefined;
    const cookie = cookieOf(headers.cookie ?? '', COOKIE);
    if (cookie !== undefined && isSameSecret(cookie, cookieValue(accessToken))) return undefined;
    const isWrong = bearer !== '' || cookie !== undefined || (isPage && inAddress !== null);
    if (isWrong) await this.#options.wrongTokens.note();
    const asksForToken = true;
    if (isBrowsing(request)) {
      const sentence = isPage && inAddress !== null ? WRONG_TOKEN : ENTER_TOKEN;
      return sendAccessPage(reply.code(401), { sentence, asksForToken });
    }
    const error = 'This playground needs its access token: open it as /?token=…, or send it as a bearer token.';
    return refuse(request, reply, { status: 401, error });
  }

  /**
   * Whether a request without an access token may come from another machine. nginx passes requests on with HTTP/1.0, the
   * Host of the machine behind it and no other trace, unless told otherwise.
   * @see https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_http_version
   */
  #isFromOutside({ headers, raw }: FastifyRequest): boolean {
    const { publicUrl } = this.#options;
    if (raw.httpVersion === '1.0' || Object.keys(headers).some((name) => PASSED_ON.test(name))) return true;
    const isOutside = publicUrl !== null && !isLoopback(publicUrl.hostname);
    return isOutside && headers.host?.toLowerCase() === publicUrl.host;
  }

  /** Exchanges the access token for a cookie. */
  #welcome({ headers }: FastifyRequest, reply: FastifyReply, accessToken: string): FastifyReply {
    return reply.header('set-cookie', this.#cookie(headers.host, accessToken)).redirect('/', 303);
  }

  #cookie(host: string | undefined, accessToken: string): string {
    const { publicUrl } = this.#options;
    const isSecure = publicUrl?.protocol === 'https:' && publicUrl.host === host?.toLowerCase();
    const lifetime = `Max-Age=${REMEMBERED_SECONDS}`;
    return `${COOKIE}=${cookieValue(accessToken)}; Path=/; ${lifetime}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  }
}

/** Whether somebody sends the form of the access page. */
function isEntering({ method, url }: FastifyRequest): boolean {
  return method === 'POST' && pathOf(url) === ACCESS_PATH;
}

/** A sentence for a browser, JSON for a program. */
function refuse(request: FastifyRequest, reply: FastifyReply, { status, error }: Refusal): FastifyReply {
  reply.code(status);
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  return isBrowsing(request) ? sendAccessPage(reply, { sentence: error, asksForToken: false }) : reply.send({ error });
}

/** Cookies are shared by every port of a host, so the cookie is not the token itself. */
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

/** The host of an Origin header; `null` (a sandboxed page) has none. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
