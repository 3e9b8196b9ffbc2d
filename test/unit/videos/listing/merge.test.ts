import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { FileModel } from '#src/videos/catalog.ts';
import type { ListedModel } from '#src/videos/dialects/dialect.ts';
import { MODEL_LIST } from '#src/videos/dialects/openrouter/models.ts';
import { mergeListing } from '#src/videos/listing/merge.ts';
import { OPENROUTER_MODELS } from '#test/fakes/services/openrouter-models.ts';

const NONE = { min: 0, max: 0 };

function listed(fields: Partial<ListedModel> = {}): ListedModel {
  return {
    name: 'reel-1',
    id: 'acme/reel-1',
    title: 'Reel 1',
    billing: 'per_second',
    price: '0.10',
    currency: 'USD',
    seconds: [4, 8],
    aspectRatios: ['16:9'],
    resolutions: ['720p'],
    media: { image: { min: 0, max: 1 }, audio: NONE, video: NONE },
    ...fields,
  };
}

const inFile = (fields: Partial<FileModel> = {}): FileModel => ({ ...listed(), service: 'acme', ...fields });

interface Given {
  readonly isOnly?: boolean;
  readonly adds?: boolean;
  readonly unread?: readonly string[];
}

function merge(models: readonly FileModel[], offers: readonly ListedModel[], given: Given = {}) {
  const { isOnly = false, adds = true, unread = [] } = given;
  const listing = { models: offers, unread, notes: [] };
  const merged = mergeListing({ models, listing, service: 'acme', isOnly, adds });
  return { models: merged.models, lines: merged.differences };
}

describe('a catalog and a list', () => {
  it('are the same, however prices, lengths and ratios are written', () => {
    const models = [inFile({ price: '0.1', seconds: [8, 4], aspectRatios: ['9:16', '16:9'] })];
    expect(merge(models, [listed({ aspectRatios: ['16:9', '9:16'] })])).toEqual({ models, lines: [] });
    const range = listed({ seconds: { min: 5, max: 8, step: 1 } });
    expect(merge([inFile({ seconds: [8, 5, 6, 7] })], [range]).lines).toEqual([]);
  });

  it('differ in models that come, go and change', () => {
    const gone = inFile({ name: 'reel-0', id: 'acme/reel-0' });
    const offers = [
      listed({ price: '0.12', seconds: { min: 2, max: 9, step: 1 } }),
      listed({ name: 'reel-2', id: 'acme/reel-2' }),
    ];
    const { models, lines } = merge([gone, inFile()], offers);
    expect(models.map(({ name, price, service }) => [name, price, service])).toEqual([
      ['reel-1', '0.12', 'acme'],
      ['reel-2', '0.10', 'acme'],
    ]);
    expect(lines).toEqual([
      '- reel-0 (acme/reel-0): the service does not list it any more',
      '~ reel-1: 0.10 USD a second → 0.12 USD a second; 4, 8 s → 2 to 9 s',
      '+ reel-2 (acme/reel-2): 0.10 USD a second; 4, 8 s; 16:9; 720p; 0 to 1 image',
    ]);
  });

  it('keep what a person added, and what the list does not say', () => {
    const own = {
      name: 'our-reel',
      title: 'Our reel',
      default: true,
      parameters: { seed: 7 },
      promptMaxLength: 500,
      media: { image: NONE, audio: { min: 0, max: 1 }, video: NONE },
    };
    const { models } = merge([inFile(own)], [listed({ price: '0.2' })]);
    expect(models).toEqual([inFile({ ...own, price: '0.2', media: { ...own.media, image: { min: 0, max: 1 } } })]);
    const reference = inFile({ imageRole: 'reference', media: { ...own.media, image: { min: 1, max: 4 } } });
    expect(merge([reference], [listed()]).lines).toEqual([]);
  });

  it('keep entries that share a price, each with its resolutions', () => {
    const offer = listed({ resolutions: ['720p', '1080p'] });
    const [one, other] = [inFile(), inFile({ name: 'reel-hd', resolutions: ['1080p'] })];
    expect(merge([one, other], [offer]).lines).toEqual([]);
    expect(merge([one], [offer]).lines).toEqual(['~ reel-1: 720p → 720p, 1080p']);
    // 1080p costs something else now.
    const wide = inFile({ resolutions: ['720p', '1080p'] });
    expect(merge([wide, inFile({ name: 'reel-sd' })], [listed()]).lines).toEqual(['~ reel-1: 720p, 1080p → 720p']);
  });

  it('find the entry by id, resolution, sound and image, not by its name', () => {
    const offers = [
      listed({ name: 'a', sound: true }),
      listed({ name: 'b', sound: false, price: '0.05' }),
      listed({ name: 'c', sound: true, resolutions: ['1080p'], price: '0.3' }),
      listed({ name: 'd', sound: true, price: '0.4', media: { image: { min: 1, max: 1 }, audio: NONE, video: NONE } }),
    ];
    const silent = inFile({ name: 'quiet', sound: false, price: '0.05' });
    const fromImage = inFile({
      name: 'still',
      sound: true,
      price: '0.4',
      media: { ...listed().media, image: { min: 1, max: 1 } },
    });
    const unsaid = inFile({ name: 'plain' });
    const hd = inFile({ name: 'hd', resolutions: ['1080p'], price: '0.3' });
    expect(merge([hd, silent, unsaid, fromImage], offers).lines).toEqual([]);
    expect(merge([inFile({ resolutions: ['480p'] })], offers, { adds: false }).lines).toEqual([
      '- reel-1 (acme/reel-1): the service does not list it any more',
    ]);
  });

  it('leave models of other services, and those of which the list says too little', () => {
    const other = inFile({ service: 'other', name: 'other', price: '9' });
    const unnamed = inFile({ name: 'unnamed', price: '9' });
    const { service: _service, ...nameless } = unnamed;
    const byToken = inFile({ name: 'by-token', id: 'acme/by-token' });
    const models = [other, nameless, byToken];
    const unread = ['acme/by-token'];
    expect(merge(models, [listed()], { adds: false, unread })).toEqual({ models, lines: [] });
    expect(merge(models, [listed()], { unread, isOnly: true }).lines).toEqual([
      '~ unnamed: 9 USD a second → 0.10 USD a second',
    ]);
  });

  it('give a new model a name that no other one has', () => {
    const other = inFile({ service: 'other', name: 'Reel-1' });
    const offers = [listed(), listed({ id: 'vendor/reel-1' }), listed({ name: 'reel-2', id: 'acme/reel-2' })];
    expect(merge([other], offers).models.map(({ name }) => name)).toEqual([
      'Reel-1',
      'acme-reel-1',
      'acme-reel-1-2',
      'reel-2',
    ]);
  });
});

it('config/catalogs/openrouter.json, which a person wrote from the same list, says what the list says', () => {
  const path = new URL('../../../../config/catalogs/openrouter.json', import.meta.url);
  const { models } = JSON.parse(readFileSync(path, 'utf8')) as { readonly models: readonly FileModel[] };
  const listing = MODEL_LIST.decode(OPENROUTER_MODELS);
  const sampled = models.filter(({ id }) => OPENROUTER_MODELS.data.some((model) => model.id === id));
  expect(sampled.length).toBeGreaterThan(8);
  expect(merge(sampled, listing?.models ?? [], { isOnly: true, adds: false }).lines).toEqual([]);
});
