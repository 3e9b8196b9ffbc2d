import { describe, expect, it } from 'vitest';
import { parseCatalog } from '#src/videos/catalog.ts';
import { OPENROUTER } from '#src/videos/dialects/openrouter/index.ts';
import { OPENROUTER_MODELS } from '#test/fakes/services/openrouter-models.ts';

const decode = (answer: unknown) => OPENROUTER.models?.decode(answer) ?? null;

/** Returns the decoded list of one model, which has everything that an entry needs. */
function listOf(fields: object) {
  const listing = decode({
    data: [
      {
        id: 'acme/reel-1',
        supported_durations: [5],
        supported_resolutions: ['720p'],
        supported_aspect_ratios: ['16:9'],
        supported_frame_images: ['first_frame'],
        pricing_skus: { duration_seconds: '0.1' },
        ...fields,
      },
    ],
  });
  if (listing === null) throw new Error('the list was not decoded');
  return listing;
}

const pricesOf = (skus: Readonly<Record<string, string>>, fields: object = {}) =>
  listOf({ pricing_skus: skus, ...fields }).models.map(({ name, price, resolutions }) => [name, price, ...resolutions]);

describe('the list of OpenRouter’s video models', () => {
  const listing = decode(OPENROUTER_MODELS);

  it('is a catalog with an entry for each price', () => {
    const models = listing?.models ?? [];
    expect(models.map(({ name, price, resolutions, sound }) => [name, price, resolutions.join(), sound])).toEqual([
      ['veo-3.1-lite', '0.05', '720p', true],
      ['veo-3.1-lite-1080p', '0.08', '1080p', true],
      ['veo-3.1-lite-silent', '0.03', '720p', false],
      ['veo-3.1-lite-1080p-silent', '0.05', '1080p', false],
      ['veo-3.1', '0.40', '720p,1080p', true],
      ['veo-3.1-silent', '0.20', '720p,1080p', false],
      ['kling-v3.0-std', '0.126', '720p', true],
      ['kling-v3.0-std-silent', '0.084', '720p', false],
      ['wan-2.6', '0.08', '720p', true],
      ['wan-2.6-1080p', '0.12', '1080p', true],
      ['wan-2.6-image', '0.10', '720p', true],
      ['wan-2.6-1080p-image', '0.15', '1080p', true],
      ['flux-3-video', '0.17', '720p', true],
      ['flux-3-video-1080p', '0.29', '1080p', true],
      ['happyhorse-1.1', '0.0988', '720p', undefined],
      ['happyhorse-1.1-1080p', '0.1278', '1080p', undefined],
      ['grok-imagine-video-1.5-lite', '0.03', '720p', undefined],
      ['grok-imagine-video-1.5-lite-480p', '0.02', '480p', undefined],
      ['grok-imagine-video-1.5-lite-1080p', '0.14', '1080p', undefined],
    ]);
    expect(parseCatalog({ models }).models).toHaveLength(models.length);
  });

  it('has lengths, ratios and images', () => {
    const byName = new Map(listing?.models.map((model) => [model.name, model]));
    expect(byName.get('veo-3.1-lite-1080p')).toEqual({
      name: 'veo-3.1-lite-1080p',
      id: 'google/veo-3.1-lite',
      title: 'Veo 3.1 Lite, 1080p',
      billing: 'per_second',
      price: '0.08',
      currency: 'USD',
      seconds: [4, 6, 8],
      aspectRatios: ['16:9', '9:16'],
      resolutions: ['1080p'],
      media: { image: { min: 0, max: 2 }, audio: { min: 0, max: 0 }, video: { min: 0, max: 0 } },
      sound: true,
    });
    expect(byName.get('flux-3-video')).toMatchObject({
      seconds: { min: 5, max: 20, step: 1 },
      aspectRatios: ['16:9', '9:16', '4:3', '3:4', '1:1'],
    });
    expect(byName.get('wan-2.6')?.media.image).toEqual({ min: 0, max: 0 });
    expect(byName.get('wan-2.6-image')).toMatchObject({
      title: 'alibaba/wan-2.6, from an image',
      media: { image: { min: 1, max: 1 } },
    });
  });

  it('says what it leaves open', () => {
    expect(listing?.unread).toEqual(['bytedance/seedance-2.5', 'minimax/hailuo-3', 'runway/aleph-2']);
    expect(listing?.notes).toEqual([
      'Left out, since a catalog has no such value: 4K, 21:9, 9:21, 3:2, 2:3.',
      'Without images, which have a price of their own: x-ai/grok-imagine-video-1.5-lite.',
      'Left out, since they are priced by tokens: bytedance/seedance-2.5.',
      'Left out, since they have none of the resolutions 480p, 720p, 1080p: minimax/hailuo-3.',
      'Left out, since the list gives no lengths, as for editors and upscalers: runway/aleph-2.',
      expect.stringContaining('Not in the list: how many images'),
    ]);
  });

  it('has no price that it does not know', () => {
    const { models, unread, notes } = listOf({ pricing_skus: { duration_seconds: '0.1', per_blink: '2' } });
    expect([models, unread]).toEqual([[], ['acme/reel-1']]);
    expect(notes[0]).toBe('Left out, since it is unknown what the price is for (per_blink): acme/reel-1.');
    expect(listOf({ pricing_skus: { duration_seconds: 'ask us' } }).models).toEqual([]);
    expect(listOf({ pricing_skus: null }).notes[0]).toBe('Left out, since the list gives no price: acme/reel-1.');
    const partly = listOf({ pricing_skus: { duration_seconds_720p: '0.1' }, supported_resolutions: ['720p', '1080p'] });
    expect(partly.models.map(({ resolutions }) => resolutions)).toEqual([['720p']]);
    expect(partly.notes[0]).toBe('Without a resolution of which the list gives no price: acme/reel-1 (1080p).');
  });

  it('takes the price that says most about a clip, and the highest of those that say as much', () => {
    expect(pricesOf({ 'per-video-second': '0.5', 'per-video-second-720p': '0.25' })).toEqual([
      ['reel-1', '0.25', '720p'],
    ]);
    // Sound cannot be chosen: either may be billed.
    const bySound = { duration_seconds_with_audio: '0.2', duration_seconds_without_audio: '0.1' };
    expect(pricesOf(bySound, { generate_audio: null })).toEqual([['reel-1', '0.20', '720p']]);
    const unlike = { duration_seconds_720p: '0.3', duration_seconds_with_audio: '0.2' };
    expect(pricesOf(unlike, { generate_audio: true })).toEqual([['reel-1', '0.30', '720p']]);
    expect(pricesOf({ cents_per_second_output: '0.00051' })).toEqual([['reel-1', '0.000006', '720p']]);
  });

  it('has no resolution for a model that takes none', () => {
    const [model] = listOf({ supported_resolutions: null, supported_frame_images: null }).models;
    expect(model).toMatchObject({ name: 'reel-1', resolutions: [], media: { image: { min: 0, max: 0 } } });
  });

  it('has names that can be typed, and titles of one line', () => {
    const [model] = listOf({ id: 'acme/Reel:2+free', name: 'Acme: Reel\n2' }).models;
    expect(model).toMatchObject({ name: 'reel-2-free', title: 'Reel 2' });
    const { models, notes } = decode({ data: [{ id: 'a\u001b[31m' }, 7] }) ?? { models: null, notes: [] };
    expect(models).toEqual([]);
    expect(notes[0]).toBe('Left out, since they have no usable id: entry 1, entry 2.');
  });

  it.each([[undefined], [null], [[]], [{ data: {} }], [{ error: { message: 'No' } }]])('is not %j', (answer) => {
    expect(decode(answer)).toBeNull();
  });
});
