import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readSettings } from '#src/config/settings.ts';
import { modelEntry } from '#test/fakes/catalog-entries.ts';

/** Reads the settings with services and a catalog whose models name none. */
async function settingsOf(names: readonly string[], models: readonly object[]) {
  const folder = await mkdtemp(join(tmpdir(), 'dailies-settings-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const services = names.map((name) => ({ name, dialect: 'xai', key: { env: 'SOME_KEY' } }));
  const [servicesFile, catalogFile] = [join(folder, 'services.json'), join(folder, 'catalog.json')];
  await writeFile(servicesFile, JSON.stringify({ services }));
  await writeFile(catalogFile, JSON.stringify({ models }));
  onTestFinished(() => void vi.unstubAllEnvs());
  const env = { SERVICES: servicesFile, MODEL_CATALOG: catalogFile, SOME_KEY: 'sk', PLAYGROUND: 'on', PORT: '0' };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  return readSettings([]);
}

it('models that name no service are those of the only one, also once another comes', async () => {
  const { settings, problems } = await settingsOf(['only'], [modelEntry('one'), modelEntry('two', { default: true })]);
  expect(problems).toEqual([]);
  expect(settings?.catalog.models.map(({ service }) => service)).toEqual(['only', 'only']);
  expect(settings?.catalog.defaultModel).toBe(settings?.catalog.models[1]);
});

it('of several services, each model names its own', async () => {
  const { settings, problems } = await settingsOf(
    ['new', 'old'],
    [modelEntry('one', { service: 'old' }), modelEntry('two')],
  );
  expect(settings).toBeNull();
  expect(problems).toEqual(['MODEL_CATALOG: models[1].service: is missing; SERVICES names new, old (two)']);
});
