import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { DailiesError } from '../errors.ts';

/**
 * Parses the base URL of the video service: https, or http for loopback hosts; without `/v1`, query and credentials.
 * @throws DailiesError `refused_address`, with the problem in its message.
 */
export function parseBaseUrl(text: string): URL {
  const refuse = (why: string): never => {
    throw refusedAddress(`the video service’s address ${why}`);
  };
  const url = URL.canParse(text) ? new URL(text) : refuse('is no URL');
  if (url.username !== '' || url.password !== '') refuse('must not hold credentials');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') refuse('must begin with https://');
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    refuse('must begin with https:// (http:// is for loopback hosts alone)');
  }
  if (url.search !== '' || url.hash !== '') refuse('must have neither query nor fragment');
  url.pathname = url.pathname.replace(/\/+$/, '');
  if (url.pathname.endsWith('/v1')) refuse('must be given without /v1');
  return url;
}

/** Returns whether a host is this machine, by its name or IP address. */
export function isLoopbackHost(hostname: string): boolean {
  const bare = bareHost(hostname);
  if (isIP(bare) !== 0) return addressKindOf(bare) === 'loopback';
  return bare === 'localhost' || bare.endsWith('.localhost');
}

/**
 * Azure's platform services for a virtual machine (metadata, agents): in a public range, but reachable only from
 * inside.
 * @see https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
 */
const AZURE_HOST = '168.63.129.16';

/**
 * Returns the range of an IP address: `unicast` is the public internet; any other (`private`, `loopback`, `linkLocal`,
 * `uniqueLocal`, …) is not. IPv4 embedded in IPv6 (mapped, NAT64) has the range of its IPv4 address; the deprecated
 * compatible form is `reserved`.
 */
export function addressKindOf(ip: string): string {
  const address = ipaddr.process(ip);
  if (address.toString() === AZURE_HOST) return 'linkLocal';
  if (address instanceof ipaddr.IPv4) return address.range();
  const embedded = addressKindOf(new ipaddr.IPv4(address.toByteArray().slice(12)).toString());
  const range = address.range();
  if (range === 'rfc6052') return embedded;
  // ::a.b.c.d is deprecated and has no legitimate route.
  const isCompatible = address.parts.slice(0, 6).every((part) => part === 0);
  return range === 'unicast' && isCompatible ? 'reserved' : range;
}

/** Reason for refusing the URL of a download: the `words` of a `refused_address`, worded in `commands/sentences`. */
export type AddressRefusal = 'private_network' | 'not_https' | 'not_web' | 'credentials' | 'redirects' | 'no_address';

/** Decides which addresses a download may connect to. Redirects and responses of a service are not trusted. */
export interface AddressGuard {
  /** @throws DailiesError `refused_address` for a URL that can be refused without a DNS lookup of its host. */
  check(url: URL): Promise<void>;
  /** DNS lookup for `net.connect` that returns only allowed addresses, so that the connection goes to one of them. */
  readonly lookup: LookupFunction;
}

/** Resolver such as `dns.lookup`, always called with `all: true`. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Returns the addresses of a host; an IP address is its own. Rejects with the error of the resolver. */
export function addressesOf(host: string, resolve: Resolve): Promise<readonly LookupAddress[]> {
  const family = isIP(host);
  if (family !== 0) return Promise.resolve([{ address: host, family }]);
  return new Promise((done, fail) => {
    resolve(host, { all: true }, (error, found) => (error === null ? done(found) : fail(error)));
  });
}

/**
 * Creates a guard that allows downloads from the public internet, and from other ranges only where the service itself
 * is: a service on loopback may point to loopback, one in a private network to private networks, and none to link-local
 * addresses (cloud metadata) unless the service is there. Only https, except on loopback.
 * @param base URL of the video service; its own host is always allowed.
 */
export function guardAddresses(base: URL, resolve: Resolve = systemLookup): AddressGuard {
  const ownHost = bareHost(base.hostname);
  const allowed = async (host: string): Promise<readonly LookupAddress[]> => {
    const addresses = await addressesOf(host, resolve);
    if (host === ownHost) return addresses;
    const kinds = addresses.map(({ address }) => addressKindOf(address)).filter((kind) => kind !== 'unicast');
    if (kinds.length === 0) return addresses;
    const ownKinds = new Set((await addressesOf(ownHost, resolve)).map(({ address }) => addressKindOf(address)));
    const foreign = kinds.find((kind) => !ownKinds.has(kind));
    if (foreign !== undefined) {
      throw refusedAddress(`the clip’s address leads to a ${foreign} network`, 'private_network');
    }
    return addresses;
  };

  return {
    async check(url) {
      if (url.protocol !== 'https:' && url.protocol !== 'http:') {
        throw refusedAddress('the clip’s address is not a web address', 'not_web');
      }
      if (url.username !== '' || url.password !== '') {
        throw refusedAddress('the clip’s address holds credentials', 'credentials');
      }
      if (url.protocol === 'http:' && !(isLoopbackHost(url.hostname) && isLoopbackHost(base.hostname))) {
        throw refusedAddress('the clip’s address is not https', 'not_https');
      }
      // Sockets resolve names with `lookup` below, but do not call it for IP addresses.
      if (isIP(bareHost(url.hostname)) !== 0) await allowed(bareHost(url.hostname));
    },
    lookup(hostname, options, callback) {
      void answerLookup(allowed(bareHost(hostname)), options, callback);
    },
  };
}

/**
 * Creates a guard that allows only the public internet, by https or http: for URLs that users enter in a chat.
 * @param options.isLoopbackAllowed whether loopback counts as public, as in tests. Default false.
 */
export function guardPublicAddresses({
  resolve = systemLookup,
  isLoopbackAllowed = false,
}: {
  readonly resolve?: Resolve;
  readonly isLoopbackAllowed?: boolean;
} = {}): AddressGuard {
  const assertPublic = (addresses: readonly LookupAddress[]): readonly LookupAddress[] => {
    const foreign = addresses
      .map(({ address }) => addressKindOf(address))
      .find((kind) => kind !== 'unicast' && !(isLoopbackAllowed && kind === 'loopback'));
    if (foreign !== undefined) throw refusedAddress(`the address leads to a ${foreign} network`);
    return addresses;
  };
  return {
    async check({ protocol, username, password, hostname }) {
      if ((protocol !== 'https:' && protocol !== 'http:') || username !== '' || password !== '') {
        throw refusedAddress('the address is not a plain web address');
      }
      const host = bareHost(hostname);
      if (isIP(host) !== 0) assertPublic(await addressesOf(host, resolve));
    },
    lookup(hostname, options, callback) {
      void answerLookup(addressesOf(bareHost(hostname), resolve).then(assertPublic), options, callback);
    },
  };
}

async function answerLookup(
  allowed: Promise<readonly LookupAddress[]>,
  options: LookupOptions,
  callback: Parameters<LookupFunction>[2],
): Promise<void> {
  let addresses: readonly LookupAddress[];
  try {
    addresses = await allowed;
  } catch (error) {
    callback(error instanceof Error ? error : new Error(String(error)), []);
    return;
  }
  const first = addresses[0];
  if (options.all === true) callback(null, [...addresses]);
  else if (first !== undefined) callback(null, first.address, first.family);
  else callback(new Error('the name has no address'), []);
}

function refusedAddress(why: string, reason?: AddressRefusal): DailiesError {
  const words = reason === undefined ? {} : { words: reason };
  return new DailiesError(why, { code: 'refused_address', retryable: false, ...words });
}

/** Returns a host in lower case, without IPv6 brackets and a trailing dot. */
export function bareHost(hostname: string): string {
  return hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}
