import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLoopback } from '#src/config.ts';
import { bearerOf, isSameSecret } from '#src/http/secrets.ts';

/** Who may reach the playground. */
export interface GuardOptions {
  /** The address the server listens on (`HOST`). */
  readonly host: string;
  /** Where the server is reachable from outside (`PUBLIC_URL`), if anywhere. */
  readonly publicUrl: URL | null;
  /** What every call has to carry; `null`: nothing, and then this machine alone is answered. */
  readonly accessToken: string | null;
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
/** What proxies add to what they pass on; a browser on this machine sends none of it. */
const PASSED_ON = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];
/** Said to whom is not answered, and in the log. */
export const NEEDS_TOKEN =
  'The playground spends money and has no access token, so it answers on its own machine alone. ' +
  'For others to reach it, whoever runs it sets PLAYGROUND_TOKEN.';

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
    if (refusal !== undefined) return reply.code(refusal.status).send({ error: refusal.error });
    return this.#admit(request, reply);
  };

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

  #wrongType({ headers, method }: FastifyRequest): Refusal | undefined {
    if (method === 'GET' || method === 'HEAD') return undefined;
    const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (type === 'application/json') return undefined;
    return { status: 415, error: 'Send JSON, with the header content-type: application/json.' };
  }

  /** Asks for the access token; one given in the page's address is exchanged for a cookie. */
  #admit(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
    const { accessToken } = this.#options;
    if (accessToken === null) return this.#isFromOutside(request) ? refuse(reply, NEEDS_TOKEN) : undefined;
    const { headers, url } = request;
    const isPage = request.method === 'GET' && pathOf(url) === '/';
    const inAddress = new URL(url, 'http://page').searchParams.get('token');
    if (isPage && inAddress !== null && isSameSecret(inAddress, accessToken)) {
      return reply.header('set-cookie', this.#cookie(headers.host, accessToken)).redirect('/', 303);
    }
    if (isSameSecret(bearerOf(request), accessToken)) return undefined;
    const cookie = cookieOf(headers.cookie ?? '', COOKIE);
    if (cookie !== undefined && isSameSecret(cookie, cookieValue(accessToken))) return undefined;
    const error = 'This playground needs its access token: open it as /?token=…, or send it as a bearer token.';
    return refuse(reply, error);
  }

  #isFromOutside({ headers }: FastifyRequest): boolean {
    const { publicUrl } = this.#options;
    if (PASSED_ON.some((name) => headers[name] !== undefined)) return true;
    return isOutside(publicUrl) && headers.host?.toLowerCase() === publicUrl.host;
  }

  #cookie(host: string | undefined, accessToken: string): string {
    const { publicUrl } = this.#options;
    const isSecure = publicUrl?.protocol === 'https:' && publicUrl.host === host?.toLowerCase();
    return `${COOKIE}=${cookieValue(accessToken)}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  }
}

/** Whether others than this machine reach the server at `publicUrl`. */
export function isOutside(publicUrl: URL | null): publicUrl is URL {
  return publicUrl !== null && !isLoopback(publicUrl.hostname);
}

function refuse(reply: FastifyReply, error: string): FastifyReply {
  return reply.code(401).header('www-authenticate', 'Bearer').send({ error });
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
