import { describe, expect, it } from 'vitest';
import { checkRequest } from '#src/videos/check.ts';
import { modelFingerprint, requestAt, requestElsewhere } from '#src/videos/elsewhere.ts';
import type { Catalog, Model } from '#src/videos/model.ts';
import type { RequestDraft } from '#src/videos/request.ts';
import { CATALOG, FOX } from './models.ts';

const { defaultModel } = CATALOG;

function model(name: string, service: string, changes: Partial<Model> = {}): Model {
  return { ...defaultModel, name, title: name, service, seconds: [4, 6, 8], ...changes };
}

function catalogOf(...models: readonly [Model, ...Model[]]): Catalog {
  return { models, defaultModel: models[0] };
}

/** Returns the name of the model that takes an order of the first model's elsewhere. */
function elsewhere(catalog: Catalog, draft: RequestDraft): string | undefined {
  const checked = checkRequest(catalog, draft);
  if (!checked.ok) throw new TypeError('the order is wrong');
  return requestElsewhere(catalog, checked.request)?.model.name;
}

describe('the same order at another service', () => {
  const own = model('own', 'first');

  it('is one at the next model that takes all of its options', () => {
    const short = model('short', 'second', { seconds: [4] });
    const wide = model('wide', 'second', { aspectRatios: ['16:9'] });
    const catalog = catalogOf(own, model('twin', 'first'), short, wide, model('last', 'third'));
    expect(elsewhere(catalog, { prompt: 'a fox', seconds: '4' })).toBe('short');
    expect(elsewhere(catalog, { prompt: 'a fox', seconds: '6', aspect: '16:9' })).toBe('wide');
    expect(elsewhere(catalog, { prompt: 'a fox', seconds: '6', aspect: '1:1' })).toBe('last');
  });

  it('is none where no other service takes it', () => {
    const catalog = catalogOf(own, model('twin', 'first'), model('short', 'second', { seconds: [4] }));
    expect(elsewhere(catalog, { prompt: 'a fox', seconds: '8' })).toBeUndefined();
    // From before its service had a name.
    expect(requestElsewhere(catalogOf(own, model('twin', 'first')), { ...FOX, model: 'own' })).toBeNull();
  });

  it('keeps the words and the options, for the model and its service', () => {
    const catalog = catalogOf(own, model('last', 'third'));
    const checked = checkRequest(catalog, { prompt: 'a fox', seconds: '6' });
    if (!checked.ok) throw new TypeError('the order is wrong');
    const { request } = checked;
    const found = requestAt(catalog, request, 'last');
    expect(found).toMatchObject({ ok: true, request: { ...request, model: 'last', service: 'third' } });
  });
});

it('names a model by its whole name', () => {
  expect(modelFingerprint({ name: 'own' })).toMatch(/^[0-9a-f]{8}$/u);
  expect(modelFingerprint({ name: 'own' })).not.toBe(modelFingerprint({ name: 'own-2' }));
});
