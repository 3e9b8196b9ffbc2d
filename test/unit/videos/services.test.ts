import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock as clock } from '#src/clock.ts';
import type { UpstreamId } from '#src/videos/service.ts';
import { createVideoServices, serviceKeys } from '#src/videos/services.ts';
import type { ServiceConfig } from '#src/videos/services-file.ts';
import { type FakeVideoService, startVideoService } from '#test/fakes/video-service.ts';
import { CATALOG } from './models.ts';

async function start(token: string): Promise<FakeVideoService> {
  const service = await startVideoService({ token });
  onTestFinished(() => service.close());
  return service;
}

/** Creates the clients of services, which may change. */
function servicesOf(configs: () => readonly ServiceConfig[]) {
  const logger = pino({ level: 'silent' });
  const timing = { createTimeoutMs: 60_000, requestTimeoutMs: 60_000, maxConcurrentPolls: 4 };
  const catalog = () => CATALOG;
  const services = createVideoServices({ ...timing, services: configs, catalog, clock, random: () => 0, logger });
  onTestFinished(() => services.close());
  return services;
}

const keysAt = ({ requests }: FakeVideoService) => requests.map(({ headers }) => headers.authorization);

it('sends each request to its service, with the key of that one alone', async () => {
  const [own, other] = [await start('sk-own'), await start('sk-other')];
  const services = servicesOf(() => [
    { baseUrl: own.baseUrl, token: own.token },
    { name: 'other', baseUrl: other.baseUrl, token: other.token },
  ]);
  const { id } = other.add();
  expect(await services.of({ service: 'other' }).retrieve(id as UpstreamId)).toMatchObject({ id });
  await expect(services.of({}).retrieve(id as UpstreamId)).rejects.toMatchObject({ code: 'task_unknown' });
  expect([keysAt(own), keysAt(other)]).toEqual([['Bearer sk-own'], ['Bearer sk-other']]);
});

it('uses a key that has changed, without a restart', async () => {
  const service = await start('sk-new');
  const { id } = service.add();
  let token = 'sk-old';
  const services = servicesOf(() => [{ name: 'own', baseUrl: service.baseUrl, token }]);
  const retrieve = () => services.of({ service: 'own' }).retrieve(id as UpstreamId);
  await expect(retrieve()).rejects.toMatchObject({ code: 'unauthorised' });
  token = 'sk-new';
  expect(await retrieve()).toMatchObject({ id });
});

it('has the only service for requests that name none, and waits for one that is not configured', async () => {
  const service = await start('sk-own');
  const { id } = service.add();
  const services = servicesOf(() => [{ name: 'own', baseUrl: service.baseUrl, token: service.token }]);
  expect(await services.of({}).retrieve(id as UpstreamId)).toMatchObject({ id });
  expect(() => services.of({ service: 'gone' })).toThrow(
    expect.objectContaining({ code: 'unavailable', retryable: true }),
  );
});

it('has no other service for a request of one without a name, once there are several', () => {
  const config = (name: string) => ({ name, baseUrl: `https://${name}.example`, token: 'sk' });
  const services = servicesOf(() => [config('new'), config('old')]);
  expect(() => services.of({})).toThrow(expect.objectContaining({ code: 'unavailable', retryable: true }));
});

it('keeps the ids of a service that is not configured any more apart from those of another', () => {
  const own = { baseUrl: 'https://own.example', token: 'sk' };
  const other = { name: 'other', baseUrl: 'https://other.example', token: 'sk' };
  const keyOf = serviceKeys(() => [own, other], 'https://own.example');
  const keys = [{}, { service: 'other' }, { service: 'gone' }].map(keyOf);
  expect(keys.slice(0, 2)).toEqual(['https://own.example', 'https://other.example']);
  expect(new Set(keys).size).toBe(3);
});
