import { type LookupAddress, type LookupOptions, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { DailiesError } from '../errors.ts';

/**
 * Reads the base address of the video service: https, or http for loopback hosts; without `/v1`, query and credentials.
 * @throws DailiesError `refused_address`, saying what is wrong with it.
 */
export function parseBaseUrl(text: string): URL {
  const refuse = (why: string): never => {
    throw refusedAddress(`the video service's address ${why}`);
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

/** Whether a host is this machine, by its name or its literal address. */
export function isLoopbackHost(hostname: string): boolean {
  const bare = bareHost(hostname);
  if (isIP(bare) !== 0) return kindOf(bare) === 'loopback';
  return bare === 'localhost' || bare.endsWith('.localhost');
}

/**
 * What an IP address leads to: `unicast` is the public internet; everything else (`private`, `loopback`, `linkLocal`,
 * `uniqueLocal`, …) is not. IPv4 inside IPv6 (mapped, compatible, NAT64) counts as the IPv4 it is.
 */
export function kindOf(ip: string): string {
  const address = ipaddr.process(ip);
  if (address instanceof ipaddr.IPv4) return address.range();
  const embedded = new ipaddr.IPv4(address.toByteArray().slice(12)).range();
  const range = address.range();
  if (range === 'rfc6052') return embedded;
  // ::a.b.c.d, long deprecated: routed nowhere good.
  const isCompatible = address.parts.slice(0, 6).every((part) => part === 0);
  return range === 'unicast' && isCompatible ? 'reserved' : range;
}

/** Decides to which addresses a download may go. Redirects and answers of a service are not trusted to say. */
export interface AddressGuard {
  /** @throws DailiesError `refused_address` for an address that is refused by its looks alone. */
  check(url: URL): Promise<void>;
  /** Resolves names for `net.connect`; answers only with addresses that are allowed, and the connection goes to just those. */
  readonly lookup: LookupFunction;
}

/** A resolver such as `dns.lookup`, always asked for all addresses. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Lets downloads go to the public internet, and beyond it only where the service itself is: a service on loopback may
 * lead to loopback, one in a private network to private networks, and nothing leads to link-local addresses (cloud
 * metadata) unless the service is there. Only https, except on loopback.
 * @param base of the video service; its own host is always allowed.
 */
export function guardAddresses(base: URL, resolve: Resolve = systemLookup): AddressGuard {
  const ownHost = bareHost(base.hostname);
  const addressesOf = (host: string): Promise<readonly LookupAddress[]> =>
    new Promise((done, fail) => {
      const family = isIP(host);
      if (family !== 0) return done([{ address: host, family }]);
      resolve(host, { all: true }, (error, found) => (error === null ? done(found) : fail(error)));
    });

  const allowed = async (host: string): Promise<readonly LookupAddress[]> => {
    const addresses = await addressesOf(host);
    if (host === ownHost) return addresses;
    const kinds = addresses.map(({ address }) => kindOf(address)).filter((kind) => kind !== 'unicast');
    if (kinds.length === 0) return addresses;
    const ownKinds = new Set((await addressesOf(ownHost)).map(({ address }) => kindOf(address)));
    const foreign = kinds.find((kind) => !ownKinds.has(kind));
    if (foreign !== undefined) throw refusedAddress(`the clip's address leads to a ${foreign} network`);
    return addresses;
  };

  return {
    async check(url) {
      const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
      if (!isWeb || url.username !== '' || url.password !== '') {
        throw refusedAddress("the clip's address is not a plain web address");
      }
      if (url.protocol === 'http:' && !(isLoopbackHost(url.hostname) && isLoopbackHost(base.hostname))) {
        throw refusedAddress("the clip's address is not https");
      }
      // Sockets resolve names with `lookup` below, but never ask it about literal addresses.
      if (isIP(bareHost(url.hostname)) !== 0) await allowed(bareHost(url.hostname));
    },
    lookup(hostname, options, callback) {
      void answerLookup(allowed(bareHost(hostname)), options, callback);
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

function refusedAddress(why: string): DailiesError {
  return new DailiesError(why, { code: 'refused_address', retryable: false });
}

/** Without the brackets of IPv6 and the root's dot. */
function bareHost(hostname: string): string {
  return hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}
