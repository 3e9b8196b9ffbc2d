import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { InvalidFileError } from '#src/videos/json-file.ts';
import { parseServices, readServices, servicesJsonSchema } from '#src/videos/services-file.ts';

const ENV = { OWN_KEY: 'sk-own', BLANK: ' ', BROKEN: 'sk a' };
const OWN = { name: 'own', dialect: 'v1-videos', base: 'https://videos.example/api/', key: { env: 'OWN_KEY' } };

/** Returns the problems of services; none where they are valid. */
function problemsOf(services: unknown): readonly string[] {
  try {
    parseServices({ services }, ENV);
    return [];
  } catch (thrown) {
    if (thrown instanceof InvalidFileError) return thrown.problems;
    throw thrown;
  }
}

describe('a services file', () => {
  it('names services with their keys, bases and limits', () => {
    const limits = { createsPerMinute: 10, polls: 4 };
    expect(parseServices({ services: [{ ...OWN, limits }] }, ENV)).toEqual([
      { name: 'own', dialect: 'v1-videos', baseUrl: 'https://videos.example/api', token: 'sk-own', limits },
    ]);
  });

  it('takes a key from a file, without the line break at its end', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dailies-services-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const [key, file] = [join(folder, 'key'), join(folder, 'services.json')];
    await writeFile(key, 'sk-mounted\n');
    await writeFile(file, `\uFEFF${JSON.stringify({ services: [{ ...OWN, key: { file: key } }] })}`);
    expect(await readServices(file, {})).toMatchObject([{ name: 'own', token: 'sk-mounted' }]);
  });

  it.each([
    [[], 'services: must name at least one service'],
    [[{ ...OWN, dialect: 'morse' }], 'services[0].dialect: must be "'],
    [
      [{ ...OWN, name: 'Own!' }],
      'services[0].name: must have 1 to 32 small letters, digits and hyphens (given: "Own!")',
    ],
    [[{ ...OWN, base: 'http://videos.example' }], 'services[0].base: must begin with https://'],
    [[{ ...OWN, base: undefined }], 'services[0].base: is missing; v1-videos has no address of its own'],
    [[{ ...OWN, key: { env: 'MISSING' } }], 'services[0].key.env: MISSING is not set'],
    [[{ ...OWN, key: { env: 'BLANK' } }], 'services[0].key.env: BLANK is not set'],
    [[{ ...OWN, key: { env: 'BROKEN' } }], 'services[0].key.env: holds something else than a key'],
    [[{ ...OWN, key: { file: '/nowhere/key' } }], 'services[0].key.file: /nowhere/key cannot be read, or is empty'],
    [[{ ...OWN, key: 'sk-own' }], 'services[0].key: must be {"env": "VARIABLE"} or {"file": "/path"}'],
    [[{ ...OWN, limits: { polls: 0 } }], 'services[0].limits.polls: must be at least 1 (given: 0)'],
    [[{ ...OWN, token: 'sk-own' }], 'services[0].token: unknown key'],
    [[OWN, OWN], 'services[1].name: is the name of another service'],
  ] as const)('reports a problem with its path: %j', (services, problem) => {
    expect(problemsOf(services)).toEqual([expect.stringContaining(problem)]);
  });

  it('reports all problems at once, and never a key', () => {
    const problems = problemsOf([
      { ...OWN, base: 'http://videos.example', key: { env: 'BROKEN' } },
      { ...OWN, name: 'other', key: { env: 'MISSING' } },
    ]);
    expect(problems).toHaveLength(3);
    expect(problems.join()).not.toContain('sk a');
  });

  it('may lack keys, where none is needed', () => {
    const services = [
      { ...OWN, key: { env: 'MISSING' } },
      { ...OWN, name: 'other', key: { env: 'BROKEN' } },
    ];
    const read = parseServices({ services }, ENV, { needsKeys: false });
    expect(read.map(({ name, token }) => [name, token])).toEqual([
      ['own', ''],
      ['other', ''],
    ]);
  });

  it.each([
    'sk-secret',
    ['sk-secret'],
    { env: 'sk-secret' },
    { env: 'skSecret_sk-secret' },
    { file: 'sk-secret' },
    { env: ['sk-secret'] },
    { value: 'sk-secret' },
  ])('never repeats a key that was written into the file: %j', (key) => {
    const problems = problemsOf([{ ...OWN, key }]);
    expect(problems).toEqual([expect.stringMatching(/^services\[0\]\.key/), ...problems.slice(1)]);
    expect(problems.join()).not.toContain('secret');
  });

  it('never quotes a file that is no JSON', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dailies-services-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'services.json');
    for (const text of ['{"key": sk-secret}', '{"services": [{ "key": "sk-secret" "name": "a" }] }']) {
      await writeFile(file, text);
      const error = await readServices(file, ENV).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ problems: [expect.stringMatching(/is no valid JSON( \(line 1 column \d+\))?$/)] });
      expect(inspect(error)).not.toContain('secret');
    }
  });

  it('is reported where it cannot be read, or is no JSON', async () => {
    await expect(readServices('/nowhere/services.json', ENV)).rejects.toMatchObject({
      problems: [expect.stringContaining('/nowhere/services.json: ')],
    });
  });

  it('config/services.schema.json matches the schema in the code', async () => {
    const written = `${JSON.stringify(servicesJsonSchema(), null, 2)}\n`;
    await expect(written).toMatchFileSnapshot(join(import.meta.dirname, '../../../config/services.schema.json'));
  });
});
