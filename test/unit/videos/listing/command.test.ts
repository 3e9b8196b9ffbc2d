import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseCatalog } from '#src/videos/catalog.ts';
import { PROGRAM_ENV } from '#test/fakes/program-env.ts';
import { type HttpReply, type HttpService, startHttp } from '#test/fakes/services/http.ts';
import { OPENROUTER_MODELS } from '#test/fakes/services/openrouter-models.ts';

const PROGRAM = new URL('../../../../src/videos/listing/main.ts', import.meta.url).pathname;
const LIST: HttpReply = { status: 200, json: OPENROUTER_MODELS };
const CATALOG = 'config/catalog.json';

let dir: string;
let service: HttpService;
let reply: HttpReply;
beforeEach(async () => {
  reply = LIST;
  service = await startHttp(() => reply);
  dir = await mkdtemp(join(tmpdir(), 'listing-'));
  await mkdir(join(dir, 'config'));
  await serve(router());
});
afterEach(async () => {
  await service.close();
  await rm(dir, { recursive: true });
});

const router = (fields: object = {}) => ({
  name: 'router',
  dialect: 'openrouter',
  base: `${service.baseUrl}/api`,
  key: { env: 'ROUTER_KEY' },
  ...fields,
});
const serve = (...services: readonly object[]) => writeFile(join(dir, 'services.json'), JSON.stringify({ services }));

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `npm run catalog` in a folder of its own. */
function catalog(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const all = ['--disable-warning=ExperimentalWarning', PROGRAM, ...args];
    const options = { cwd: dir, env: { ...PROGRAM_ENV, SERVICES: 'services.json', ...env } };
    execFile(process.execPath, all, options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

const written = async (path = CATALOG): Promise<string> => readFile(join(dir, path), 'utf8');
const modelsIn = async (path = CATALOG) =>
  (JSON.parse(await written(path)) as { readonly models: readonly Record<string, unknown>[] }).models;

describe('npm run catalog', { timeout: 600_000 }, () => {
  it('writes a catalog without a key, and says what it could not know', async () => {
    await writeFile(join(dir, 'config/catalog.schema.json'), '{}');
    const { code, stdout, stderr } = await catalog(['--service', 'router']);
    expect([code, stderr]).toEqual([0, '']);
    expect(service.requests.map(({ method, path, headers }) => [method, path, headers.authorization])).toEqual([
      ['GET', '/api/v1/videos/models', undefined],
    ]);
    const file: unknown = JSON.parse(await written());
    expect(file).toMatchObject({ $schema: './catalog.schema.json' });
    const { models, defaultModel } = parseCatalog(file);
    expect([models.length, defaultModel.name]).toEqual([19, 'veo-3.1-lite']);
    expect(models.every((model) => model.service === 'router')).toBe(true);
    expect(await written()).toContain('\n      "aspectRatios": ["16:9", "9:16"],\n');
    expect(stdout).toContain(
      '+ veo-3.1-lite (google/veo-3.1-lite): 0.05 USD a second; 4, 6, 8 s; 16:9, 9:16; 720p; 0 to 2 images; sound\n',
    );
    expect(stdout).toContain('Left out, since they are priced by tokens: bytedance/seedance-2.5.\n');
    expect(stdout).toContain(`Written to ${CATALOG}.`);
  });

  it('writes where MODEL_CATALOG or --out says, and sends a key that is there to the service alone', async () => {
    await writeFile(join(dir, '.env'), 'ROUTER_KEY=sk-router\nMODEL_CATALOG=one.json\n');
    expect((await catalog(['--service', 'router'])).code).toBe(0);
    expect((await catalog(['--service', 'router', '--out', 'two.json'])).code).toBe(0);
    expect(await modelsIn('one.json')).toEqual(await modelsIn('two.json'));
    expect(existsSync(join(dir, CATALOG))).toBe(false);
    expect(service.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer sk-router',
      'Bearer sk-router',
    ]);
    const elsewhere = await startHttp(() => LIST);
    reply = { status: 307, headers: { location: `${elsewhere.baseUrl}/list` } };
    const { code, stdout, stderr } = await catalog(['--service', 'router', '--out', 'three.json']);
    await elsewhere.close();
    expect([code, stdout, elsewhere.requests]).toEqual([1, '', []]);
    expect(stderr).toContain('leads elsewhere (HTTP 307), which is not followed');
    expect(stderr).not.toContain('sk-router');
  });

  it('shows the difference, writes it with --yes alone, and keeps what a person added', async () => {
    await catalog(['--service', 'router']);
    const [first, ...others] = await modelsIn();
    const own = { ...first, name: 'lite', title: 'Our Veo', default: true, price: '0.04', parameters: { seed: 7 } };
    const foreign = { ...first, name: 'foreign', service: 'other' };
    const old = { ...first, name: 'veo-2', id: 'google/veo-2' };
    const before = JSON.stringify({ models: [foreign, own, old, ...others.slice(1)] });
    await writeFile(join(dir, CATALOG), before);

    const shown = await catalog(['--service', 'router']);
    expect([shown.code, shown.stderr]).toEqual([0, '']);
    expect(await written()).toBe(before);
    const difference = shown.stdout.split('\n').filter((line) => /^[-+~] /u.test(line));
    expect(difference).toEqual([
      '~ lite: 0.04 USD a second → 0.05 USD a second',
      '- veo-2 (google/veo-2): the service does not list it any more',
      expect.stringContaining('+ veo-3.1-lite-1080p (google/veo-3.1-lite): 0.08 USD a second; '),
    ]);
    expect(shown.stdout).toContain(`${CATALOG} is unchanged. With --yes, this is written to it.\n`);

    const updated = await catalog(['--service', 'router', '--update', '--yes']);
    expect(updated.stdout).not.toContain('+ veo');
    expect((await modelsIn()).slice(0, 2)).toEqual([foreign, { ...own, price: '0.05' }]);

    const all = await catalog(['--service', 'router', '--yes']);
    expect(all.stdout).toContain('The default model is lite.\n');
    expect((await modelsIn()).map(({ name }) => name)).toContain('veo-3.1-lite-1080p');
    const again = await catalog(['--service', 'router']);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining(`${CATALOG} is up to date.\n`)]);
  });

  it('takes entries without a service for those of the only one', async () => {
    await catalog(['--service', 'router']);
    const models = (await modelsIn()).map(({ service: _service, ...model }) => model);
    await writeFile(join(dir, CATALOG), JSON.stringify({ models }));
    expect((await catalog(['--service', 'router'])).stdout).toContain('is up to date');
    await serve(router(), router({ name: 'second' }));
    expect((await catalog(['--service', 'router'])).stdout).toContain('+ router-veo-3.1-lite (google/veo-3.1-lite)');
    await serve(router());
    const withUnnamed = { VIDEO_API_BASE_URL: 'https://videos.example', VIDEO_API_TOKEN: 'token' };
    expect((await catalog(['--service', 'router'], withUnnamed)).stdout).toContain('+ router-veo-3.1-lite ');
  });

  it('fails with one sentence on wrong input, and asks nobody', async () => {
    await serve(router(), router({ name: 'fal', dialect: 'fal' }), router({ name: 'own', dialect: 'v1-videos' }));
    const fails = async (sentence: string, args: readonly string[], env?: Readonly<Record<string, string>>) => {
      const { code, stdout, stderr } = await catalog(args, env);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain(sentence);
      expect(stderr).not.toContain('    at ');
    };
    await fails('Usage: npm run catalog', []);
    await fails('Usage: npm run catalog', ['--service', 'router', '--nonsense']);
    await fails('--service takes the name of a service in SERVICES (router, fal, own), not "x".', ['--service', 'x']);
    await fails('fal lists no models; begin with config/catalogs/fal.json.', ['--service', 'fal']);
    await fails('v1-videos lists no models; begin with config/catalog.example.json.', ['--service', 'own']);
    await fails('SERVICES names no file', ['--service', 'router'], { SERVICES: '' });
    await fails('SERVICES: none.json: ', ['--service', 'router'], { SERVICES: 'none.json' });
    await writeFile(join(dir, CATALOG), '{"models": []}');
    await fails(`${CATALOG} is no valid catalog, and stays as it is: models: `, ['--service', 'router']);
    expect(await written()).toBe('{"models": []}');
    expect(service.requests).toEqual([]);
  });

  it('fails with one sentence where there is no list, and writes nothing', async () => {
    const fails = async (sentence: string, answer: HttpReply, key?: string) => {
      reply = answer;
      const { code, stderr } = await catalog(['--service', 'router'], key === undefined ? {} : { ROUTER_KEY: key });
      expect(code).toBe(1);
      expect(stderr).toContain(sentence);
      expect(stderr.trim().split('\n')).toHaveLength(1);
    };
    const at = `router (${service.baseUrl}/api/v1/videos/models)`;
    await fails(`${at} asks for a key (HTTP 401)`, { status: 401, json: {} });
    await fails(`${at} refuses the key that SERVICES names for it (HTTP 401).`, { status: 401, json: {} }, 'sk-old');
    await fails(`${at} answered HTTP 503, not a list of models.`, { status: 503 });
    await fails(`${at} answered something else than a list of models.`, { status: 200, bytes: Buffer.from('<html>') });
    await fails('Nothing was written: router lists no model', { status: 200, json: { data: [] } });
    await service.close();
    await fails(`${at} could not be asked: `, LIST);
    expect(existsSync(join(dir, CATALOG))).toBe(false);
  });
});
