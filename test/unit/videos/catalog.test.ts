import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseCatalog, readCatalog } from '#src/videos/catalog.ts';
import { InvalidFileError } from '#src/videos/json-file.ts';
import { isOffered, offerInWords, secondsOffered } from '#src/videos/model.ts';
import { EPIC, SWIFT } from './models.ts';

/** Returns a catalog of {@link SWIFT} with `changes`, and {@link EPIC}. */
function withFirst(changes: Readonly<Record<string, unknown>>): unknown {
  return { models: [{ ...SWIFT, ...changes }, EPIC] };
}

function problems(json: unknown): readonly string[] {
  try {
    parseCatalog(json);
  } catch (error) {
    if (error instanceof InvalidFileError) return error.problems;
    throw error;
  }
  return [];
}

describe('parseCatalog', () => {
  it('reads the documented example', () => {
    const { models, defaultModel } = parseCatalog({ models: [SWIFT, EPIC] });
    expect(models.map(({ name }) => name)).toEqual(['swift-1', 'epic-pro']);
    expect(defaultModel.name).toBe('swift-1');
    expect(models[0]).toMatchObject({ price: '0.05', billing: 'per_second', promptMaxLength: 2000 });
    expect(models[1]?.promptMaxLength).toBe(Number.POSITIVE_INFINITY);
    expect(models[0]).not.toHaveProperty('default');
  });

  it('takes parameters, and a field that is left out', () => {
    expect(problems(withFirst({ parameters: { ratio: 'adaptive', duration: null } }))).toEqual([]);
  });

  it.each(['0', '0.000001', '999999.999999', '1000000', '1000000.00'])('takes the price %s', (price) => {
    expect(problems(withFirst({ price }))).toEqual([]);
  });

  it('uses the model marked as default, else the first', () => {
    expect(parseCatalog({ models: [EPIC, SWIFT] }).defaultModel.name).toBe('swift-1');
    expect(parseCatalog({ models: [EPIC, { ...SWIFT, default: false }] }).defaultModel.name).toBe('epic-pro');
  });

  it.each<[string, unknown, string]>([
    ['no models', { models: [] }, 'models: '],
    ['a list instead of an object', [], 'catalog: '],
    ['an unknown key at the top', { models: [SWIFT], extra: 1 }, 'extra: unknown key'],
    ['an unknown key in a model', withFirst({ colour: 'red' }), 'models[0].colour: unknown key'],
    [
      'an unknown key in media',
      withFirst({ media: { ...SWIFT.media, text: {} } }),
      'models[0].media.text: unknown key',
    ],
    [
      'an unknown field of the service',
      withFirst({ fields: { prompt: 'text' } }),
      'models[0].fields.prompt: unknown key',
    ],
    [
      'a field of the service without a name',
      withFirst({ fields: { lastFrame: ' ' } }),
      'models[0].fields.lastFrame: ',
    ],
    ['a parameter in place of the model', withFirst({ parameters: { model: 'dear' } }), 'models[0].parameters.model: '],
    [
      'a parameter in place of the length',
      withFirst({ parameters: { duration: 15 } }),
      'models[0].parameters.duration: ',
    ],
    ['an unknown format of lengths', withFirst({ secondsFormat: '5s' }), 'models[0].secondsFormat: '],
    ['two models with the same name', { models: [SWIFT, { ...EPIC, name: 'swift-1' }] }, 'models[1].name: '],
    ['two defaults', { models: [SWIFT, { ...EPIC, default: true }] }, 'models[1].default: '],
    ['a price as a number', withFirst({ price: 0.05 }), 'models[0].price: '],
    ['a price with a comma', withFirst({ price: '0,05' }), 'models[0].price: '],
    ['a negative price', withFirst({ price: '-1' }), 'models[0].price: '],
    ['a price with seven decimals', withFirst({ price: '0.0000001' }), 'models[0].price: '],
    ['a price above a million', withFirst({ price: '1000000.000001' }), 'models[0].price: '],
    [
      'a clip for more than a billion',
      withFirst({ price: '1000000', seconds: { min: 1, max: 1001, step: 1 } }),
      'models[0].price: makes a clip of 1001 s dearer than 1000000000',
    ],
    ['an unknown billing', withFirst({ billing: 'per_frame' }), 'models[0].billing: '],
    ['no currency code', withFirst({ currency: 'dollars' }), 'models[0].currency: '],
    ['no lengths', withFirst({ seconds: [] }), 'models[0].seconds: '],
    ['a fraction of a second', withFirst({ seconds: [4, 0.5] }), 'models[0].seconds[1]: '],
    ['a length twice', withFirst({ seconds: [4, 4] }), 'models[0].seconds: '],
    ['lengths as text', withFirst({ seconds: '4-8' }), 'models[0].seconds: '],
    ['a range without step', withFirst({ seconds: { min: 1, max: 4 } }), 'models[0].seconds.step: '],
    ['a range with min above max', withFirst({ seconds: { min: 9, max: 4, step: 1 } }), 'models[0].seconds: '],
    ['an unknown key in a range', withFirst({ seconds: { min: 1, max: 4, step: 1, to: 3 } }), 'models[0].seconds.to: '],
    ['an aspect ratio outside the five', withFirst({ aspectRatios: ['21:9'] }), 'models[0].aspectRatios[0]: '],
    ['a resolution outside the three', withFirst({ resolutions: ['4k'] }), 'models[0].resolutions[0]: '],
    [
      'media with min above max',
      withFirst({ media: { ...SWIFT.media, image: { min: 2, max: 1 } } }),
      'models[0].media.image: ',
    ],
    ['a missing kind of media', withFirst({ media: { image: { min: 0, max: 1 } } }), 'models[0].media.audio: '],
    ['a maximum prompt length of 0', withFirst({ promptMaxLength: 0 }), 'models[0].promptMaxLength: '],
    ['an empty name', withFirst({ name: ' ' }), 'models[0].name: '],
  ])('refuses %s, with the path', (_, json, place) => {
    const found = problems(json);
    expect(found.some((problem) => problem.startsWith(place))).toBe(true);
  });

  it('returns all problems at once, with the given values', () => {
    const found = problems(withFirst({ price: '0,05', currency: 'usd', billing: 'free' }));
    expect(found).toHaveLength(3);
    expect(found.join('\n')).toContain('(given: "0,05")');
  });
});

describe('the problems of an invalid catalog', () => {
  const without = (name: string) => ({
    models: [Object.fromEntries(Object.entries(SWIFT).filter(([key]) => key !== name))],
  });

  it.each<[unknown, string]>([
    [[], 'catalog: must be an object in { } (given: a list)'],
    [{}, 'models: is missing; it takes a list in [ ]'],
    [{ models: {} }, 'models: must be a list in [ ] (given: an object)'],
    [{ models: [null] }, 'models[0]: must be an object in { } (given: null)'],
    [without('name'), 'models[0].name: is missing; it takes text in quotes'],
    [without('billing'), 'models[0].billing: is missing; it takes "per_call" or "per_second"'],
    [without('media'), 'models[0].media: is missing; it takes an object in { }'],
    [withFirst({ billing: 'free' }), 'models[0].billing: must be "per_call" or "per_second" (given: "free")'],
    [withFirst({ title: 4 }), 'models[0].title: must be text in quotes (given: 4)'],
    [withFirst({ default: 'yes' }), 'models[0].default: must be true or false (given: "yes")'],
    [withFirst({ promptMaxLength: 0 }), 'models[0].promptMaxLength: must be at least 1 (given: 0)'],
    [withFirst({ promptMaxLength: 1.5 }), 'models[0].promptMaxLength: must be a whole number (given: 1.5)'],
    [
      withFirst({ media: { ...SWIFT.media, audio: { min: -1, max: 0 } } }),
      'models[0].media.audio.min: must be at least 0 (given: -1)',
    ],
    [
      withFirst({ aspectRatios: ['21:9'] }),
      'models[0].aspectRatios[0]: must be "16:9" or "9:16" or "4:3" or "3:4" or "1:1" (given: "21:9")',
    ],
    [
      withFirst({ name: 'two\nlines' }),
      'models[0].name: must be one line without control characters (given: "two\\nlines")',
    ],
    [
      withFirst({ title: 'x'.repeat(3_000) }),
      `models[0].title: must have at most 100 characters (given: "${'x'.repeat(79)}…)`,
    ],
    [
      withFirst({ price: '9'.repeat(400) }),
      `models[0].price: must be a decimal string such as "0.05", of at most 1000000 and with at most six decimals (given: "${'9'.repeat(79)}…)`,
    ],
  ])('have the path, the given and the allowed values: %#', (json, problem) => {
    expect(problems(json)).toEqual([problem]);
  });
});

describe('readCatalog', () => {
  it('reads a file, and names one that is missing or not JSON', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dailies-catalog-'));
    try {
      const path = join(folder, 'models.json');
      await expect(readCatalog(path)).rejects.toThrow(path);
      await writeFile(path, '{"models": [');
      await expect(readCatalog(path)).rejects.toThrow('is no valid JSON');
      await writeFile(path, `\uFEFF${JSON.stringify({ models: [SWIFT] })}`);
      expect((await readCatalog(path)).defaultModel.title).toBe('Swift 1');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('the lengths of a model', () => {
  const { models } = parseCatalog({ models: [SWIFT, EPIC] });
  it.each([
    { at: 0, offered: [4, 6, 8], words: ['4', '6', '8'], refused: 5 },
    { at: 1, offered: [5, 10, 15], words: ['5 to 15 in steps of 5'], refused: 20 },
  ])('$words', ({ at, offered, words, refused }) => {
    const model = models[at];
    if (model === undefined) throw new Error('no such model');
    expect(secondsOffered(model)).toEqual(offered);
    expect(offerInWords(model.seconds)).toEqual(words);
    expect(offered.every((seconds) => isOffered(model.seconds, seconds))).toBe(true);
    expect(isOffered(model.seconds, refused)).toBe(false);
  });
});

it('lists only available lengths', () => {
  const lengths = (min: number, max: number, step: number) => {
    const [model] = parseCatalog({ models: [{ ...SWIFT, seconds: { min, max, step } }] }).models;
    return model === undefined ? [] : offerInWords(model.seconds);
  };
  expect(lengths(4, 16, 5)).toEqual(['4 to 14 in steps of 5']);
  expect(lengths(4, 8, 5)).toEqual(['4']);
  expect(lengths(4, 16, 1)).toEqual(['4 to 16']);
});
