import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#src/clock.ts';
import { runChecks } from '#src/doctor/diagnosis.ts';
import { checkVideoService, videoServiceChecks } from '#src/doctor/video-service.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { parseCatalog } from '#src/videos/catalog.ts';
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

it('has nothing to ask without a service', async () => {
  const checks = videoServiceChecks([], deps);
  expect(await runChecks(checks, systemClock, 60_000)).toMatchObject([{ subject: 'Video service', level: 'ok' }]);
});
