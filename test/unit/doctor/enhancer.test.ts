import { once } from 'node:events';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Clock, systemClock } from '#src/clock.ts';
import { runChecks } from '#src/doctor/diagnosis.ts';
import { checkEnhancer } from '#src/doctor/enhancer.ts';
import { type FakeEnhancer, startEnhancer } from '#test/fakes/enhancer.ts';
import { ManualClock } from '#test/fakes/manual-clock.ts';

const logger = pino({ level: 'silent' });

let fake: FakeEnhancer;

beforeEach(async () => {
  fake = await startEnhancer();
});

afterEach(() => fake.close());

function check({ token = 'sk-enhancer', clock = systemClock }: { token?: string; clock?: Clock } = {}) {
  const run = () => checkEnhancer({ enhancer: { url: fake.url, token, model: 'tiny' } }, { clock, logger });
  return runChecks([{ subject: 'Enhancer', run }], systemClock, 60_000);
}

it('is silent where prompts are not improved', async () => {
  expect(await checkEnhancer({}, { clock: systemClock, logger })).toBeNull();
});

it('has one short prompt improved', async () => {
  expect(await check()).toMatchObject([{ level: 'ok', found: expect.stringContaining('with tiny') }]);
  expect(fake.requests).toMatchObject([{ model: 'tiny', messages: [{}, { role: 'user' }] }]);
});

it('reports a refused token without showing it', async () => {
  const [found] = await check({ token: 'sk-of-another-service' });
  expect(found).toMatchObject({ level: 'wrong', fix: expect.stringContaining('ENHANCER_TOKEN') });
  expect(JSON.stringify(found)).not.toContain('sk-');
});

it.each([
  [200, '<html>', 'wrong', 'ENHANCER_URL'],
  [404, '{"error":{"message":"no model sk-enhancer"}}', 'wrong', 'ENHANCER_MODEL'],
  [429, '{}', 'warning', 'Wait a minute'],
  [503, '{}', 'wrong', 'the network'],
  [200, '{"choices":[{"finish_reason":"stop","message":{"content":""}}]}', 'warning', 'ENHANCER_MODEL'],
] as const)('says what to do about HTTP %d with %s', async (status, body, level, fix) => {
  fake.respond = (response) => void response.writeHead(status).end(body);
  const [found] = await check();
  expect(found).toMatchObject({ level, fix: expect.stringContaining(fix) });
  expect(JSON.stringify(found)).not.toContain('sk-');
});

it('reports a service that cannot be reached', async () => {
  await fake.close();
  expect(await check()).toMatchObject([{ level: 'wrong', found: expect.stringContaining('cannot be reached') }]);
  fake = await startEnhancer();
});

it('reports a slow service before the time for a check is over', async () => {
  const clock = new ManualClock();
  const asked = Promise.withResolvers<void>();
  fake.respond = (response) => {
    asked.resolve();
    void once(response, 'close');
  };
  const found = check({ clock });
  await asked.promise;
  clock.advance(9_000);
  expect(await found).toMatchObject([{ level: 'warning', found: expect.stringContaining('within 9 s') }]);
});
