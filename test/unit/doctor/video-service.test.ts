import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { runChecks } from '#src/doctor/diagnosis.ts';
import { checkVideoService, videoServiceChecks } from '#src/doctor/video-service.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
import { modelEntry } from '#test/fakes/catalog-entries.ts';
import { type HttpReply, startHttp } from '#test/fakes/services/http.ts';
import { type FakeVideoService, type FakeVideoServiceOptions, startVideoService } from '#test/fakes/video-service.ts';

const deps = {
  catalog: parseCatalog(sandboxCatalog),
  clock: systemClock,
  random: Math.random,
  logger: pino({ level: 'silent' }),
};

async function start(options: FakeVideoServiceOptions = {}): Promise<FakeVideoService> {
  const service = await startVideoService(options);
  onTestFinished(() => service.close());
  return service;
}

function check({ baseUrl }: Pick<FakeVideoService, 'baseUrl'>, token = 'sk-fake-token-1234') {
  const run = () => checkVideoService({ baseUrl, token }, deps);
  return runChecks([{ subject: 'Video service', run }], systemClock, 60_000);
}

it('asks for one unknown task, and creates nothing', async () => {
  const service = await start();
  expect(await check(service)).toMatchObject([{ level: 'ok', found: expect.stringContaining('no such task') }]);
  expect(service.requests.map(({ method }) => method)).toEqual(['GET']);
  expect(service).toMatchObject({ posts: 0, creates: 0 });
});

it('reports a refused token', async () => {
  const [found] = await check(await start(), 'sk-another-token');
  expect(found).toMatchObject({ level: 'wrong', fix: expect.stringContaining('VIDEO_API_TOKEN') });
  expect(JSON.stringify(found)).not.toContain('sk-another-token');
});

it.each([
  [404, '<html>', 'warning', '404 without the error code'],
  [200, '<html>', 'wrong', 'something else'],
  [429, '{}', 'warning', 'limits the rate'],
  [502, 'bad gateway', 'wrong', 'cannot be reached'],
  [200, '{"id": "x", "status": "completed"}', 'warning', 'an id that does not exist'],
])('says what HTTP %d with %s means', async (status, body, level, found) => {
  const service = await start({ handlers: { retrieve: ({ response }) => void response.writeHead(status).end(body) } });
  expect(await check(service)).toMatchObject([{ level, found: expect.stringContaining(found) }]);
});

it('reports a service that cannot be reached', async () => {
  const service = await startVideoService();
  await service.close();
  expect(await check(service)).toMatchObject([{ level: 'wrong', found: expect.stringContaining('cannot be reached') }]);
});

it('asks each named service, and says where its key is', async () => {
  const [one, other] = [await start(), await start()];
  const services = [
    { name: 'one', baseUrl: one.baseUrl, token: one.token },
    { name: 'other', baseUrl: other.baseUrl, token: 'sk-another-token' },
  ];
  const found = await runChecks(videoServiceChecks(services, deps), systemClock, 60_000);
  expect(found).toMatchObject([
    { subject: 'Video service one', level: 'ok' },
    { subject: 'Video service other', level: 'wrong', fix: expect.stringContaining('its key in SERVICES') },
  ]);
});

describe('a service that tells of the account', () => {
  const catalog = parseCatalog({
    models: [
      modelEntry('veo', { service: 'router', id: 'google/veo-3.1-lite' }),
      modelEntry('gone', { service: 'router', id: 'acme/gone' }),
      modelEntry('other', { service: 'another', id: 'acme/other' }),
    ],
  });
  const LISTED = { data: [{ id: 'google/veo-3.1-lite' }, { id: 'acme/gone' }] };

  async function checkRouter(list: unknown, key: HttpReply) {
    const service = await startHttp(({ path }) => {
      if (path === '/v1/videos/models') return { status: 200, json: list };
      return path === '/v1/key' ? key : { status: 404, json: { error: { code: 404, message: 'Task not found' } } };
    });
    onTestFinished(() => service.close());
    const config = { name: 'router', dialect: 'openrouter', baseUrl: service.baseUrl, token: 'sk-or-1' };
    const run = () => checkVideoService(config, { ...deps, catalog });
    const found = await runChecks([{ subject: 'Video service router', run }], systemClock, 60_000);
    expect(service.requests.every(({ method }) => method === 'GET')).toBe(true);
    return found.slice(1).map(({ level, found: words }) => [level, words]);
  }

  it.each([
    [12.345, 'ok', 'its key has $12.35 left to spend'],
    [0, 'warning', 'its key has $0.00 left to spend'],
    [null, 'ok', 'its key has no limit of its own; whether the account has credit only an order shows'],
  ])('is asked what is left: %j', async (left, level, words) => {
    const found = await checkRouter(LISTED, { status: 200, json: { data: { limit_remaining: left } } });
    expect(found).toEqual([
      ['ok', 'it lists every model of the catalog'],
      [level, words],
    ]);
  });

  it('names models that it does not list, and what it does not say', async () => {
    const found = await checkRouter({ data: [{ id: 'google/veo-3.1-lite' }] }, { status: 500, json: {} });
    expect(found).toEqual([
      ['warning', 'it does not list acme/gone'],
      ['warning', expect.stringContaining('answered HTTP 500, not what is left to spend')],
    ]);
  });
});

it('has nothing to ask without a service', async () => {
  const checks = videoServiceChecks([], deps);
  expect(await runChecks(checks, systemClock, 60_000)).toMatchObject([{ subject: 'Video service', level: 'ok' }]);
});
