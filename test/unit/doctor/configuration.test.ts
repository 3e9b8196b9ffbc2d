import { describe, expect, it } from 'vitest';
import { PLATFORM_CONFIGS } from '#adapters/registry.ts';
import { distance } from '#commands/input/closest-match.ts';
import { systemClock } from '#src/clock.ts';
import { readConfig } from '#src/config/config.ts';
import { checkAdmins, checkCatalog, checkEnvironment } from '#src/doctor/configuration.ts';
import { type Findings, runChecks } from '#src/doctor/diagnosis.ts';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { parseCatalog } from '#src/videos/catalog.ts';

type Env = Readonly<Record<string, string>>;

const diagnosed = (run: () => Findings) => runChecks([{ subject: 'Subject of the check', run }], systemClock, 60_000);
const check = (given: Env, problems: readonly string[] = []) =>
  diagnosed(() => checkEnvironment({ given, platforms: PLATFORM_CONFIGS, problems, distance }));
const catalog = parseCatalog(sandboxCatalog);
const configOf = (env: Env) => readConfig(env, PLATFORM_CONFIGS);

describe('unknown variables', () => {
  it.each([
    ['DISCORD_BOT_TOKEN', 'DISCORD_TOKEN'],
    ['SLACK_SIGNING_SECRETS', 'SLACK_SIGNING_SECRET'],
    ['VIDEO_API_URL', 'VIDEO_API_BASE_URL'],
    ['PUBLIC_ULR', 'PUBLIC_URL'],
    ['ALLOWED_TEAMS', 'ALLOW_TEAMS'],
    ['ADMIN', 'ADMINS'],
  ])('%s is reported, with what was meant', async (name, meant) => {
    const [, found] = await check({ [name]: 'x' });
    expect(found).toMatchObject({ level: 'warning', subject: name, fix: expect.stringContaining(meant) });
  });

  it('without a similar name are reported within a family', async () => {
    const [, found] = await check({ DISCORD_WEBHOOK_FOR_DEPLOYS: 'x' });
    expect(found).toMatchObject({ level: 'warning', fix: expect.not.stringContaining('Did you mean') });
  });

  it('of other programs are not reported', async () => {
    const usual = ['PATH', 'HOME', 'HOSTNAME', 'USER', 'PWD', 'LANG', 'TERM', 'REDIS_PASSWORD', 'npm_config_port'];
    expect(await check(Object.fromEntries(usual.map((name) => [name, 'x'])))).toHaveLength(1);
  });
});

it('reports every invalid variable', async () => {
  const found = await check({}, ['PORT: no', 'HOST: no']);
  expect(found.map(({ level, found: text }) => [level, text])).toEqual([
    ['wrong', 'PORT: no'],
    ['wrong', 'HOST: no'],
  ]);
});

const SERVICE = { VIDEO_API_BASE_URL: 'https://videos.example', VIDEO_API_TOKEN: 'secret-of-the-service' };

it('warns of the sandbox’s prices with another service', async () => {
  const first = async (env: Env) => (await diagnosed(() => checkCatalog(configOf(env), catalog)))[0];
  expect(await first({})).toMatchObject({ level: 'ok' });
  const own = await first(SERVICE);
  expect(own).toMatchObject({ level: 'warning', fix: expect.stringContaining('MODEL_CATALOG') });
});

it('names the models that a budget refuses, and currencies that do not exist', async () => {
  const [model, ...models] = catalog.models;
  if (model === undefined) throw new TypeError('no model');
  const foreign = {
    ...catalog,
    models: [{ ...model, name: 'euro-1', currency: 'EUR' }, { ...model, name: 'odd', currency: 'QQQ' }, ...models],
  };
  const found = await diagnosed(() => checkCatalog(configOf({ BUDGET_PER_MONTH: '5 USD, 5 QQQ' }), foreign));
  expect(found.filter(({ level }) => level === 'warning').map(({ found: text }) => text)).toEqual([
    'it has no amount in EUR, so every order of euro-1 is refused',
    'QQQ is no currency of ISO 4217 that Node knows',
  ]);
});

it('reports administrators of a platform that is off', async () => {
  const found = await diagnosed(() => checkAdmins(configOf({ ADMINS: 'slack:U1,playground:ada' })));
  expect(found).toEqual([expect.objectContaining({ found: expect.stringContaining('slack:U1') })]);
});
