import { describe, expect, it } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { runChecks } from '#src/doctor/diagnosis.ts';
import { checkReachability, type Network, needingPublicUrl } from '#src/doctor/reachability.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { modelEntry } from '#test/fakes/catalog-entries.ts';

const NOW_MS = Date.parse('2026-11-23T12:00:00Z');
const DAY_MS = 24 * 3_600_000;
const HTTP = { host: '0.0.0.0', port: 3000 };
const LOCAL = 'http://127.0.0.1:3000';
const PUBLIC = 'https://dailies.example';
const OK = '{"status":"ok"}';

interface World {
  /** Body, or status and body, by URL. Anything else does not answer. */
  readonly pages?: Readonly<Record<string, string | readonly [number, string]>>;
  readonly address?: string | null;
  readonly certificate?: { readonly validToMs: number; readonly problem: string | null };
  readonly publicUrl?: string;
  readonly needing?: readonly string[];
}

function check({ pages = {}, address = '93.184.216.34', certificate, publicUrl = PUBLIC, needing = [] }: World) {
  const network: Network = {
    fetch: async (url) => {
      const page = pages[url instanceof Request ? url.url : `${url}`];
      if (page === undefined) throw new TypeError('fetch failed');
      const [status, body] = typeof page === 'string' ? [200, page] : page;
      return new Response(body, { status });
    },
    lookup: async () => (address === null ? [] : [{ address, family: 4 }]),
    certificateOf: async () => certificate ?? { validToMs: NOW_MS + 90 * DAY_MS, problem: null },
    now: () => NOW_MS,
  };
  const links = publicUrl === '' ? {} : { links: { publicUrl, secret: 'secret' } };
  const run = () => checkReachability({ http: HTTP, ...links }, needing, network);
  return runChecks([{ subject: 'PUBLIC_URL', run }], systemClock, 60_000);
}

const RUNNING = { [`${LOCAL}/healthz`]: OK, [`${LOCAL}/readyz`]: '{"status":"ready"}' };

describe('the bot', () => {
  it('may be away', async () => {
    const [bot] = await check({ publicUrl: '' });
    expect(bot).toMatchObject({ level: 'ok', found: `none runs at ${LOCAL} now` });
  });

  it('is ready, or says what is missing', async () => {
    expect((await check({ pages: RUNNING }))[0]).toMatchObject({
      level: 'ok',
      found: `one runs at ${LOCAL}, and is ready`,
    });
    const pages = { ...RUNNING, [`${LOCAL}/readyz`]: [503, '{"missing":{"slack":"Not connected."}}'] as const };
    expect((await check({ pages }))[0]).toMatchObject({
      level: 'wrong',
      found: expect.stringContaining('slack: Not connected.'),
    });
  });

  it('is not another program on its port', async () => {
    const [bot] = await check({ pages: { [`${LOCAL}/healthz`]: [404, 'nginx'] } });
    expect(bot).toMatchObject({ level: 'wrong', fix: expect.stringContaining('PORT') });
  });
});

describe('PUBLIC_URL', () => {
  it('says what is not possible without it', async () => {
    const [, all] = await check({ publicUrl: '' });
    expect(all).toMatchObject({
      level: 'ok',
      found: expect.stringContaining('images from the chat go to every model'),
    });
    const [, some] = await check({ publicUrl: '', needing: ['Swift 1', 'Reel 2'] });
    expect(some?.found).toContain('can’t be given to Swift 1, Reel 2');
  });

  it('is needed for the models with images whose service takes none in a request', () => {
    const none = { min: 0, max: 0 };
    const media = { image: { min: 0, max: 1 }, audio: none, video: none };
    const models = [
      modelEntry('plain', { service: 'own', media }),
      modelEntry('inline', { service: 'fal', media }),
      modelEntry('blind', { service: 'own' }),
    ];
    const catalog = parseCatalog({ models });
    const at = { baseUrl: 'https://a.example', token: 'sk' };
    const services = [
      { ...at, name: 'own', dialect: 'v1-videos' },
      { ...at, name: 'fal', dialect: 'fal' },
    ];
    expect(needingPublicUrl(catalog, services)).toEqual(['plain']);
    expect(needingPublicUrl(catalog, [])).toEqual([]);
  });

  it('is fine where it leads to a bot, as far as that can be known here', async () => {
    const found = await check({ pages: { ...RUNNING, [`${PUBLIC}/healthz`]: OK } });
    expect(found.map(({ level }) => level)).toEqual(['ok', 'ok', 'ok']);
    expect(found[2]?.found).toContain('cannot be known from here');
  });

  it('is reported where the name has no address', async () => {
    expect((await check({ address: null }))[1]).toMatchObject({ level: 'wrong', fix: expect.stringContaining('DNS') });
  });

  it.each(['10.0.0.7', '127.0.0.1', '169.254.1.1', 'fd00::1'])('warns of the private address %s', async (address) => {
    expect((await check({ address }))[1]).toMatchObject({ level: 'warning', found: expect.stringContaining(address) });
  });

  it('warns of an unencrypted address', async () => {
    const found = await check({ publicUrl: 'http://dailies.example' });
    expect(found[1]).toMatchObject({ level: 'warning', found: expect.stringContaining('unencrypted') });
  });

  it.each([
    [{ validToMs: NOW_MS - DAY_MS, problem: 'CERT_HAS_EXPIRED' }, 'wrong', 'CERT_HAS_EXPIRED'],
    [{ validToMs: NOW_MS + 5 * DAY_MS, problem: null }, 'warning', '2026-11-28'],
  ])('reports the certificate %j', async (certificate, level, found) => {
    expect((await check({ certificate }))[1]).toMatchObject({
      subject: 'Certificate',
      level,
      found: expect.stringContaining(found),
    });
  });

  it('that leads elsewhere is wrong while a bot runs here, and else unknown', async () => {
    const elsewhere = { [`${PUBLIC}/healthz`]: [502, 'Bad gateway'] as const };
    expect((await check({ pages: { ...RUNNING, ...elsewhere } })).at(-1)).toMatchObject({ level: 'wrong' });
    expect((await check({ pages: elsewhere })).at(-1)).toMatchObject({
      level: 'warning',
      fix: expect.stringContaining('Start the bot'),
    });
  });
});
