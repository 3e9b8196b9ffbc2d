import type { LookupAddress } from 'node:dns';
import { connect } from 'node:tls';
import type { Config } from '../config/index.ts';
import {
  addressKindOf,
  bareHost,
  type Catalog,
  isLoopbackHost,
  keptBytes,
  type ServiceConfig,
} from '../videos/index.ts';
import { CHECK_TIMEOUT_MS, type Finding, type Findings, ok, warning, wrong } from './diagnosis.ts';

const BOT = 'Bot';
const TIMEOUT_MS = CHECK_TIMEOUT_MS - 1_000;
/** Rest of a certificate's lifetime from which its renewal is overdue. */
const SOON_MS = 14 * 24 * 3_600_000;
const HEALTHY = /"status"\s*:\s*"ok"/;

/** Answer to a GET; `null` without one. */
interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Certificate of an HTTPS server. */
interface Certificate {
  /** End of its validity, in milliseconds since the epoch. */
  readonly validToMs: number;
  /** Reason for which clients refuse it; `null`: none. */
  readonly problem: string | null;
}

/** Network that {@link checkReachability} uses. */
export interface Network {
  readonly fetch: typeof fetch;
  /** Rejects where the name has no address. */
  readonly lookup: (host: string) => Promise<readonly LookupAddress[]>;
  /** Rejects where the server cannot be reached. */
  readonly certificateOf: (url: URL) => Promise<Certificate>;
  /** Returns the current time in milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Checks whether a bot runs here and is ready, and whether `PUBLIC_URL` leads to a bot.
 * @param needing titles of the models that can be given no images from the chat without it
 */
export async function checkReachability(
  config: Pick<Config, 'http' | 'links'>,
  needing: readonly string[],
  network: Network,
): Promise<Findings> {
  const { isRunning, bot } = await checkBot(config.http, network);
  const { publicUrl } = config.links ?? {};
  const without = ok(
    `not set: no signed links, no audio or video files from Slack; images from the chat ${needing.length === 0 ? 'go to every model all the same' : `can’t be given to ${needing.join(', ')}`}`,
  );
  return [bot, ...(publicUrl === undefined ? [without] : await checkPublicUrl(publicUrl, { ...network, isRunning }))];
}

/** Returns the titles of the models that take images, but from the chat only at a public address of this bot. */
export function needingPublicUrl({ models }: Catalog, services: readonly ServiceConfig[]): readonly string[] {
  if (services.length === 0) return [];
  const needing = models.filter(
    (model) => model.media.image.max > 0 && !keptBytes(services, 'image', model).some(Boolean),
  );
  return needing.map(({ title }) => title);
}

async function checkBot(
  { host, port }: Config['http'],
  { fetch }: Network,
): Promise<{ readonly isRunning: boolean; readonly bot: Finding }> {
  const at = `http://${localHost(host)}:${port}`;
  const away = (bot: Finding) => ({ isRunning: false, bot });
  if (port === 0) return away(ok('PORT is 0, so it gets another one at each start; not looked for', BOT));
  const health = await get(`${at}/healthz`, fetch);
  if (health === null) return away(ok(`none runs at ${at} now`, BOT));
  if (!HEALTHY.test(health.text))
    return away(wrong(`another program answers at ${at}`, 'Stop it, or set PORT to another one.', BOT));
  const ready = await get(`${at}/readyz`, fetch);
  if (ready?.status === 200) return { isRunning: true, bot: ok(`one runs at ${at}, and is ready`, BOT) };
  const found = `one runs at ${at}, but is not ready: ${reasonsIn(ready)}`;
  return { isRunning: true, bot: wrong(found, 'Solve this; its log and docs/operations.md say more.', BOT) };
}

function localHost(host: string): string {
  const bare = bareHost(host);
  if (bare === '0.0.0.0') return '127.0.0.1';
  if (bare === '::') return '[::1]';
  return bare.includes(':') ? `[${bare}]` : bare;
}

function reasonsIn(answer: Answer | null): string {
  if (answer === null) return '/readyz does not answer';
  try {
    const { missing = {} } = JSON.parse(answer.text) as { readonly missing?: Readonly<Record<string, string>> };
    return Object.entries(missing)
      .map(([name, reason]) => `${name}: ${reason}`)
      .join('; ');
  } catch {
    return `HTTP ${answer.status}`;
  }
}

async function checkPublicUrl(
  publicUrl: string,
  network: Network & { readonly isRunning: boolean },
): Promise<readonly (Finding | null)[]> {
  const url = new URL(publicUrl);
  const addresses = await network.lookup(bareHost(url.hostname)).catch(() => []);
  if (addresses.length === 0) {
    return [wrong(`${url.hostname} has no address`, 'Create the DNS record, or correct PUBLIC_URL.')];
  }
  return [...privacyOf(url, addresses), await certificateFinding(url, network), await reached(url, network)];
}

function privacyOf(url: URL, addresses: readonly LookupAddress[]): readonly (Finding | null)[] {
  const inside = addresses.filter(({ address }) => addressKindOf(address) !== 'unicast').map(({ address }) => address);
  const isOpen = url.protocol === 'http:' && !isLoopbackHost(url.hostname);
  return [
    inside.length === 0
      ? null
      : warning(
          `${url.hostname} is ${inside.join(', ')}, which the internet does not reach: links work inside only, and no video service can fetch reference files`,
          'Use an address of the internet, unless all of that is inside.',
        ),
    isOpen
      ? warning(
          'http:// sends clips and links unencrypted, and Slack takes https:// alone',
          'Put a proxy with TLS in front (ops/Caddyfile).',
        )
      : null,
  ];
}

async function certificateFinding(url: URL, { certificateOf, now }: Network): Promise<Finding | null> {
  if (url.protocol !== 'https:') return null;
  const found = await certificateOf(url).catch(() => null);
  // Without a connection, the next check reports it.
  if (found === null) return null;
  const { problem, validToMs } = found;
  const subject = 'Certificate';
  const until = new Date(validToMs).toISOString().slice(0, 10);
  const renew = 'Renew the certificate, or let the proxy do it (ops/Caddyfile).';
  if (problem !== null)
    return wrong(`${url.host} has one that is refused (${problem}), valid until ${until}`, renew, subject);
  if (validToMs - now() < SOON_MS) return warning(`that of ${url.host} ends on ${until}`, renew, subject);
  return ok(`that of ${url.host} is valid until ${until}`, subject);
}

async function reached(url: URL, { fetch, isRunning }: Network & { readonly isRunning: boolean }): Promise<Finding> {
  const base = url.href.replace(/\/+$/, '');
  const health = await get(`${base}/healthz`, fetch);
  if (health !== null && HEALTHY.test(health.text)) {
    return ok(
      `${base} leads to a bot, seen from this machine; whether the internet gets there cannot be known from here`,
    );
  }
  const found =
    health === null
      ? `${base} does not answer this machine`
      : `${base}/healthz is answered by something else (HTTP ${health.status})`;
  if (isRunning) {
    return wrong(found, 'Let the proxy pass that address on to HOST and PORT (ops/Caddyfile), or correct PUBLIC_URL.');
  }
  return warning(`${found}, and no bot runs here`, 'Start the bot, then run this again.');
}

async function get(url: string, fetch: Network['fetch']): Promise<Answer | null> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS / 3) });
    return { status: response.status, text: (await response.text()).slice(0, 10_000) };
  } catch {
    return null;
  }
}

/** Fetches the certificate of an HTTPS server, whether it is accepted or not. */
export function fetchCertificate(url: URL): Promise<Certificate> {
  const host = bareHost(url.hostname);
  return new Promise((resolve, reject) => {
    const port = url.port === '' ? 443 : Number(url.port);
    // A refused certificate is what this reports; nothing is sent.
    const socket = connect({ host, port, servername: host, rejectUnauthorized: false, timeout: TIMEOUT_MS / 3 });
    socket.once('secureConnect', () => {
      const { valid_to: validTo } = socket.getPeerCertificate();
      const problem = socket.authorized ? null : String(socket.authorizationError);
      resolve({ validToMs: Date.parse(validTo), problem });
      socket.destroy();
    });
    socket.once('timeout', () => socket.destroy(new Error('timed out')));
    socket.once('error', reject);
  });
}
