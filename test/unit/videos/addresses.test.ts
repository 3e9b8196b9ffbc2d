import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { addressKindOf, guardAddresses, isLoopbackHost, parseBaseUrl, type Resolve } from '#src/videos/addresses.ts';

/** Creates a resolver of these names; any other is not found. */
function resolver(names: Readonly<Record<string, readonly string[]>>): Resolve {
  return (hostname, _, callback) => {
    const found = names[hostname];
    if (found === undefined) return callback(new Error(`getaddrinfo ENOTFOUND ${hostname}`), []);
    callback(
      null,
      found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
}

const NAMES = resolver({
  'api.example': ['93.184.215.14'],
  'cdn.example': ['93.184.215.20', '2606:4700::1111'],
  'inside.example': ['10.1.2.3'],
  'near.example': ['192.168.7.7'],
  'mixed.example': ['93.184.215.20', '127.0.0.1'],
  'metadata.example': ['169.254.169.254'],
  'mapped.example': ['::ffff:10.0.0.1'],
  'nat64.example': ['64:ff9b::a00:1'],
  'self.example': ['127.0.0.1'],
  localhost: ['127.0.0.1'],
});

function lookup(base: string, host: string, all = true): Promise<string | LookupAddress[]> {
  const guard = guardAddresses(new URL(base), NAMES);
  return new Promise((resolve, reject) => {
    guard.lookup(host, { all }, (error, address) => (error === null ? resolve(address) : reject(error)));
  });
}

const REFUSED = expect.objectContaining({ code: 'refused_address', retryable: false });

describe('parseBaseUrl', () => {
  it.each([
    ['https://api.example', 'https://api.example/'],
    ['https://api.example/proxy/', 'https://api.example/proxy'],
    ['http://127.0.0.1:4000', 'http://127.0.0.1:4000/'],
    ['http://localhost:4000', 'http://localhost:4000/'],
    ['http://[::1]:4000', 'http://[::1]:4000/'],
  ])('accepts %s', (text, href) => {
    expect(parseBaseUrl(text).href).toBe(href);
  });

  it.each([
    'api.example',
    'http://api.example',
    'http://10.0.0.1',
    'http://127.0.0.1.example',
    'ftp://api.example',
    'https://me:secret@api.example',
    'https://api.example/?key=1',
    'https://api.example/v1',
    'https://api.example/v1/',
  ])('refuses %s', (text) => {
    expect(() => parseBaseUrl(text)).toThrow(REFUSED);
  });

  it('does not include credentials in its error', () => {
    expect(() => parseBaseUrl('https://me:secret@api.example')).not.toThrow(/secret/);
  });
});

describe('addressKindOf', () => {
  it.each([
    ['93.184.215.14', 'unicast'],
    ['2606:4700::1111', 'unicast'],
    ['127.9.9.9', 'loopback'],
    ['::1', 'loopback'],
    ['10.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['192.168.0.1', 'private'],
    ['169.254.169.254', 'linkLocal'],
    ['fe80::1', 'linkLocal'],
    ['fd00::1', 'uniqueLocal'],
    ['100.64.0.1', 'carrierGradeNat'],
    ['0.0.0.0', 'unspecified'],
    ['::ffff:10.0.0.1', 'private'],
    ['64:ff9b::a9fe:a9fe', 'linkLocal'],
    ['64:ff9b::5db8:d70e', 'unicast'],
  ])('%s is %s', (ip, kind) => {
    expect(addressKindOf(ip)).toBe(kind);
  });

  it.each(['::7f00:1', '::a00:1', '2002:a00:1::'])('%s is not public', (ip) => {
    expect(addressKindOf(ip)).not.toBe('unicast');
  });
});

describe('isLoopbackHost', () => {
  it.each(['localhost', 'a.localhost', 'LOCALHOST', '127.0.0.1', '127.9.9.9', '::1', '[::1]'])('%s', (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  });
  it.each(['localhost.example', '10.0.0.1', 'api.example', '0.0.0.0', '::', '128.0.0.1', '1127.0.0.1'])(
    'not %s',
    (host) => {
      expect(isLoopbackHost(host)).toBe(false);
    },
  );
});

describe('guardAddresses', () => {
  it('returns exactly the checked addresses', async () => {
    expect(await lookup('https://api.example', 'cdn.example')).toEqual([
      { address: '93.184.215.20', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ]);
    expect(await lookup('https://api.example', 'cdn.example', false)).toBe('93.184.215.20');
  });

  it.each(['inside.example', 'mixed.example', 'metadata.example', 'mapped.example', 'nat64.example', 'self.example'])(
    'refuses %s for a public service',
    async (host) => {
      await expect(lookup('https://api.example', host)).rejects.toEqual(REFUSED);
    },
  );

  it('allows the service’s own kind of network, and no other', async () => {
    await expect(lookup('https://inside.example', 'near.example')).resolves.toHaveLength(1);
    await expect(lookup('https://inside.example', 'self.example')).rejects.toEqual(REFUSED);
    await expect(lookup('https://inside.example', 'metadata.example')).rejects.toEqual(REFUSED);
    await expect(lookup('http://localhost:4000', 'self.example')).resolves.toHaveLength(1);
    await expect(lookup('http://127.0.0.1:4000', 'self.example')).resolves.toHaveLength(1);
    await expect(lookup('http://127.0.0.1:4000', 'inside.example')).rejects.toEqual(REFUSED);
    await expect(lookup('http://127.0.0.1:4000', 'metadata.example')).rejects.toEqual(REFUSED);
  });

  it('rejects for an unknown host', async () => {
    await expect(lookup('https://api.example', 'nobody.example')).rejects.toThrow('ENOTFOUND');
  });

  it.each([
    ['https://api.example', 'http://cdn.example/a.mp4'],
    ['https://api.example', 'http://127.0.0.1/a.mp4'],
    ['https://api.example', 'https://127.0.0.1/a.mp4'],
    ['https://api.example', 'https://[::1]/a.mp4'],
    ['https://api.example', 'https://169.254.169.254/latest'],
    ['https://api.example', 'https://0x7f.1/a.mp4'],
    ['https://api.example', 'https://me:secret@cdn.example/a.mp4'],
    ['https://api.example', 'file:///etc/passwd'],
    ['http://127.0.0.1:4000', 'http://169.254.169.254/latest'],
    ['http://127.0.0.1:4000', 'https://10.0.0.1/a.mp4'],
  ])('refuses for the service %s: %s', async (base, address) => {
    await expect(guardAddresses(new URL(base), NAMES).check(new URL(address))).rejects.toEqual(REFUSED);
  });

  it.each([
    ['https://api.example', 'https://cdn.example/a.mp4'],
    ['https://api.example', 'https://93.184.215.99/a.mp4'],
    ['http://127.0.0.1:4000', 'http://127.0.0.1:5000/a.mp4'],
    ['http://127.0.0.1:4000', 'https://cdn.example/a.mp4'],
    ['https://10.0.0.1', 'https://10.0.0.1/a.mp4'],
  ])('accepts for the service %s: %s', async (base, address) => {
    await expect(guardAddresses(new URL(base), NAMES).check(new URL(address))).resolves.toBeUndefined();
  });
});
