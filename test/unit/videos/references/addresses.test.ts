import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { Resolve } from '#src/videos/addresses.ts';
import { createReferenceCheck, KEPT_ORIGIN, splitAddresses } from '#src/videos/references/addresses.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

describe('splitAddresses', () => {
  it.each<[string, readonly string[]]>([
    ['https://a/1, https://a/2', ['https://a/1', 'https://a/2']],
    ['https://a/1,https://a/2;HTTP://a/3', ['https://a/1', 'https://a/2', 'HTTP://a/3']],
    [' https://a/1\n\thttps://a/2 ', ['https://a/1', 'https://a/2']],
    ['https://a/1);', ['https://a/1']],
    ['https://a/1,;,', ['https://a/1']],
    ['https://a/w_100,h_200/fox.png', ['https://a/w_100,h_200/fox.png']],
    ['https://a/Fox_(animal)', ['https://a/Fox_(animal)']],
    ['https://a/?u=https://b/1', ['https://a/?u=https://b/1']],
    ['not an address', ['not', 'an', 'address']],
    [' , ; ', []],
  ])('%j', (text, addresses) => {
    expect(splitAddresses(text)).toEqual(addresses);
  });
});

const ADDRESSES: Readonly<Record<string, string>> = {
  'example.com': '93.184.215.14',
  'public.test': '1.1.1.1',
  'inside.test': '10.0.0.7',
  'azure.test': '168.63.129.16',
  'service.test': '1.1.1.2',
  'lan.test': '192.168.1.9',
};

interface CheckOptions {
  readonly baseUrl?: string;
  /** DNS lookups succeed at all. Default true. */
  readonly hasNetwork?: boolean;
  readonly clock?: ManualClock;
  readonly asked?: string[];
}

function checkIn({
  baseUrl = 'https://service.test',
  hasNetwork = true,
  clock = new ManualClock(),
  asked = [],
}: CheckOptions) {
  const resolve: Resolve = (host, _options, done) => {
    asked.push(host);
    if (host === 'silent.test') return;
    const address = hasNetwork ? ADDRESSES[host] : undefined;
    if (address !== undefined) return done(null, [{ address, family: 4 }]);
    const code = host === 'broken.test' ? 'EAI_AGAIN' : 'ENOTFOUND';
    done(Object.assign(new Error(code), { code }), []);
  };
  const logger = pino({ level: 'silent' });
  const check = createReferenceCheck({
    baseUrlOf: () => baseUrl,
    publicUrl: 'https://bot.lan.invalid/x',
    clock,
    logger,
    resolve,
  });
  return (...image: readonly string[]) => check({ media: { image, audio: [], video: [] } });
}

const reasonsOf = async (options: CheckOptions, ...image: readonly string[]) =>
  (await checkIn(options)(...image)).map(({ reason }) => reason);

describe('the hosts of reference media', () => {
  it.each([
    'https://public.test/1.png',
    'http://public.test:8080/1.png',
    'https://1.1.1.1/1.png',
    'https://broken.test/1.png',
    'https://bot.lan.invalid/media/relay-1',
    'https://service.test/1.png',
  ])('are accepted: %s', async (address) => {
    expect(await checkIn({})(address)).toEqual([]);
  });

  it.each([
    ['https://typo.test/1.png', 'unknown_host', 'typo.test'],
    ['https://nowhere.invalid/1.png', 'unknown_host', 'nowhere.invalid'],
    ['https://inside.test/1.png', 'private_address', 'inside.test'],
    ['https://azure.test/1.png', 'private_address', 'azure.test'],
    ['http://10.1.2.3/1.png', 'private_address', '10.1.2.3'],
    ['http://[::1]/1.png', 'private_address', '::1'],
    ['http://[::ffff:192.168.0.1]/1.png', 'private_address', '::ffff:c0a8:1'],
    ['http://2130706433/1.png', 'private_address', '127.0.0.1'],
    ['http://localhost:3000/1.png', 'private_address', 'localhost'],
    ['http://169.254.169.254/latest', 'private_address', '169.254.169.254'],
    ['http://0.0.0.0/1.png', 'private_address', '0.0.0.0'],
  ])('are refused: %s', async (address, reason, given) => {
    expect(await checkIn({})(address)).toEqual([{ reason, option: 'image', given }]);
  });

  it('may be in the service’s own network, and in no other private one', async () => {
    const onLoopback = { baseUrl: 'http://127.0.0.1:4000' };
    expect(await reasonsOf(onLoopback, 'http://localhost:1/a', 'http://127.0.0.1:2/a')).toEqual([]);
    expect(await reasonsOf(onLoopback, 'http://10.0.0.1/a')).toEqual(['private_address']);
    const inLan = { baseUrl: 'https://lan.test' };
    expect(await reasonsOf(inLan, 'http://192.168.7.7/a', 'https://inside.test/a')).toEqual([]);
    expect(await reasonsOf(inLan, 'http://localhost/a')).toEqual(['private_address']);
  });

  it('are accepted where no DNS lookup succeeds, except reserved names', async () => {
    expect(await reasonsOf({ hasNetwork: false }, 'https://typo.test/1.png')).toEqual([]);
    expect(await reasonsOf({ hasNetwork: false }, 'https://nowhere.invalid/1.png')).toEqual(['unknown_host']);
  });

  it.each([
    ['image', 1_000, []],
    ['image', 1_001, [{ reason: 'kept_here', option: 'image', most: 1_000 }]],
    ['audio', 1, [{ reason: 'kept_here', option: 'audio', most: 0 }]],
    ['image', undefined, [{ reason: 'unknown_host', option: 'image', given: 'kept.dailies.invalid' }]],
  ] as const)('may be this bot, where the service takes its files: %s of %j bytes', async (kind, bytes, refusals) => {
    const check = createReferenceCheck({
      baseUrlOf: () => 'https://service.test',
      keptBytesOf: (_request, of) => (of === 'image' ? 1_000 : 0),
      sizeOf: async () => bytes,
      clock: new ManualClock(),
      logger: pino({ level: 'silent' }),
    });
    const media = { image: [], audio: [], video: [], [kind]: [`${KEPT_ORIGIN}/media/relay-1`] };
    expect(await check({ media })).toEqual(refusals);
  });

  it('are looked up once each, and reported for every URL', async () => {
    const asked: string[] = [];
    expect(await reasonsOf({ asked }, 'https://typo.test/1', 'https://typo.test/2')).toHaveLength(2);
    expect(asked).toEqual(['typo.test', 'example.com']);
  });

  it('delay an order only up to the timeout', async () => {
    const clock = new ManualClock();
    const pending = checkIn({ clock })('https://silent.test/1.png');
    clock.advance(1_500);
    expect(await pending).toEqual([]);
  });
});
