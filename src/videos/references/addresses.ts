import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP } from 'node:net';
import { type Clock, within } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import { addressesOf, addressKindOf, bareHost, isLoopbackHost, type Resolve } from '../addresses.ts';
import { MEDIA_KINDS, type MediaKind, type Refusal, type VideoRequest } from '../request.ts';

/**
 * Splits user input into URLs: at white space, and at commas or semicolons before another URL (a URL may contain
 * commas itself). A trailing comma, semicolon or closing parenthesis is not part of the URL.
 */
export function splitAddresses(text: string): readonly string[] {
  return text
    .split(/\s+|[,;]+(?=https?:\/\/)/i)
    .map(withoutPunctuation)
    .filter((address) => address !== '');
}

function withoutPunctuation(address: string): string {
  const bare = address.replace(/[,;]+$/, '');
  return bare.endsWith(')') && !bare.includes('(') ? withoutPunctuation(bare.slice(0, -1)) : bare;
}

/**
 * Origin of files that only this bot can resolve, where it has no public address: they are given to a service as bytes, or
 * not at all. No such host ever exists. @see https://www.rfc-editor.org/rfc/rfc6761#section-6.4
 */
export const KEPT_ORIGIN = 'https://kept.dailies.invalid';

/** Returns whether an address leads to a file that only this bot can resolve. */
export function isKept(address: string): boolean {
  return address.startsWith(`${KEPT_ORIGIN}/`);
}

/** Checks the URLs of a request's reference media, without connecting to them. */
export type CheckReferences = (request: Pick<VideoRequest, 'media'>) => Promise<readonly Refusal[]>;

/** Options of {@link createReferenceCheck}. */
interface ReferenceCheckOptions {
  /**
   * Returns the base URL of the service of a request: if it is in a private network or on loopback, reference files may be,
   * too. `undefined`: it is not configured any more.
   */
  readonly baseUrlOf: (request: Pick<VideoRequest, 'service'>) => string | undefined;
  /** Returns the largest file of {@link KEPT_ORIGIN}, in bytes, that can be given to the service of a request. Default: 0. */
  readonly keptBytesOf?: (request: Pick<VideoRequest, 'service'>, kind: MediaKind) => number;
  /** Returns the size of a file of {@link KEPT_ORIGIN}, in bytes; `undefined`: it is not there. */
  readonly sizeOf?: (address: string) => Promise<number | undefined>;
  /** Public URL of the bot, which serves relayed files. */
  readonly publicUrl?: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: the system's resolver. */
  readonly resolve?: Resolve;
}

/** Timeout of the resolver for an order, in milliseconds: a chat requires a response within three seconds. */
const LOOKUP_TIMEOUT_MS = 1_500;

/**
 * Host that every resolver with internet access resolves: one that does not (behind a proxy, or offline) proves nothing
 * about other hosts.
 * @see https://www.rfc-editor.org/rfc/rfc2606 example.com is reserved by IANA
 */
const KNOWN_HOST = 'example.com';

/** Address ranges that a service on the internet cannot reach. */
const PRIVATE_KINDS: ReadonlySet<string> = new Set([
  'unspecified',
  'broadcast',
  'multicast',
  'linkLocal',
  'loopback',
  'carrierGradeNat',
  'private',
  'uniqueLocal',
]);

type Verdict = 'fine' | 'unknown_host' | 'private_address';

/**
 * Creates the check of reference URLs: refuses hosts that do not exist and those in private networks. A DNS lookup that
 * times out or fails (SERVFAIL) refuses nothing: the service's own lookup may succeed.
 */
export function createReferenceCheck(options: ReferenceCheckOptions): CheckReferences {
  const { clock, logger, resolve = systemLookup, keptBytesOf = () => 0, sizeOf = async () => undefined } = options;
  const ownHost = options.publicUrl === undefined ? null : bareHost(new URL(options.publicUrl).hostname);

  const lookup = (host: string): Promise<readonly LookupAddress[] | 'unknown' | 'undecided'> => {
    if (isIP(host) === 0 && isLoopbackHost(host)) return Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
    const found = addressesOf(host, resolve).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code === 'ENOTFOUND') return 'unknown' as const;
      logger.debug(
        { event: 'reference_lookup_failed', host, err: thrown },
        'failed to look up the host of a reference',
      );
      return 'undecided' as const;
    });
    return within(clock, LOOKUP_TIMEOUT_MS, found, 'undecided');
  };

  const kindsOf = async (host: string): Promise<readonly string[]> => {
    const found = await lookup(host);
    return typeof found === 'string' ? [] : found.map(({ address }) => addressKindOf(address));
  };

  const judge = async (host: string, serviceHost: string | null): Promise<Verdict> => {
    if (host === ownHost || host === serviceHost) return 'fine';
    // Reserved names that never exist. @see https://www.rfc-editor.org/rfc/rfc6761#section-6.4
    if (host.endsWith('.invalid')) return 'unknown_host';
    const found = await lookup(host);
    if (found === 'undecided') return 'fine';
    if (found === 'unknown') return Array.isArray(await lookup(KNOWN_HOST)) ? 'unknown_host' : 'fine';
    const kinds = found.map(({ address }) => addressKindOf(address)).filter((kind) => PRIVATE_KINDS.has(kind));
    if (kinds.length === 0) return 'fine';
    const ofService = serviceHost === null ? [] : await kindsOf(serviceHost);
    return kinds.every((kind) => ofService.includes(kind)) ? 'fine' : 'private_address';
  };

  return async ({ media, ...request }) => {
    if (MEDIA_KINDS.every((kind) => media[kind].length === 0)) return [];
    const baseUrl = options.baseUrlOf(request);
    const serviceHost = baseUrl === undefined ? null : bareHost(new URL(baseUrl).hostname);
    const verdicts = new Map<string, Promise<Verdict>>();
    const check = async (option: MediaKind, given: string): Promise<readonly Refusal[]> => {
      const host = bareHost(new URL(given).hostname);
      if (isKept(given)) {
        const [most, bytes] = [keptBytesOf(request, option), await sizeOf(given)];
        // A forged address, or one of a file that is gone.
        if (bytes === undefined) return [{ reason: 'unknown_host', option, given: host }];
        return bytes <= most ? [] : [{ reason: 'kept_here', option, most }];
      }
      const verdict = verdicts.get(host) ?? judge(host, serviceHost);
      verdicts.set(host, verdict);
      const reason = await verdict;
      return reason === 'fine' ? [] : [{ reason, option, given: host }];
    };
    const all = MEDIA_KINDS.flatMap((option) => media[option].map((address) => check(option, address)));
    return (await Promise.all(all)).flat();
  };
}
