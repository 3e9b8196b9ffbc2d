import { describe, expect, it } from 'vitest';
import { checkAgain, checkRequest, checkRetry } from '#src/videos/check.ts';
import type { Refusal, RequestDraft } from '#src/videos/request.ts';
import { CATALOG, FOX } from './models.ts';

function refusals(draft: RequestDraft): readonly Refusal[] {
  const checked = checkRequest(CATALOG, draft);
  return checked.ok ? [] : checked.refusals;
}

describe('checkRequest', () => {
  it('fills in the defaults', () => {
    expect(checkRequest(CATALOG, { prompt: '  a red fox\n' })).toMatchObject({
      ok: true,
      request: { model: 'swift-1', prompt: 'a red fox', seconds: 4, aspectRatio: '16:9', resolution: '720p' },
      model: { name: 'swift-1' },
    });
    expect(checkRequest(CATALOG, { prompt: 'a', model: 'epic-pro', image: ['https://a.example/1.png'] })).toMatchObject(
      {
        request: {
          seconds: 5,
          resolution: '1080p',
          media: { image: ['https://a.example/1.png'], audio: [], video: [] },
        },
      },
    );
  });

  it('omits options that the model does not take', () => {
    const checked = checkRequest(CATALOG, { prompt: 'a', model: 'plain' });
    expect(checked.ok && Object.keys(checked.request).toSorted()).toEqual(['media', 'model', 'prompt', 'seconds']);
  });

  it.each<[string, RequestDraft, object]>([
    ['seconds as text', { seconds: '6' }, { seconds: 6 }],
    ['seconds with their unit', { seconds: ' 8s ' }, { seconds: 8 }],
    ['another capitalisation', { model: 'Swift-1', resolution: '480P' }, { model: 'swift-1', resolution: '480p' }],
    ['blank options', { model: ' ', seconds: '', aspect: '', image: [' '] }, { model: 'swift-1', seconds: 4 }],
    ['trimmed addresses', { image: [' http://a.example/1.png '] }, { media: { image: ['http://a.example/1.png'] } }],
  ])('accepts %s', (_, draft, expected) => {
    expect(checkRequest(CATALOG, { prompt: 'a fox', ...draft })).toMatchObject({ ok: true, request: expected });
  });

  it('counts Unicode characters: an emoji is one', () => {
    expect(refusals({ prompt: '🦊'.repeat(2000) })).toEqual([]);
    expect(refusals({ prompt: '🦊'.repeat(2001) })).toEqual([
      { reason: 'too_long', option: 'prompt', model: 'Swift 1', given: 2001, max: 2000 },
    ]);
  });

  it('limits prompts even where the catalog has no limit', () => {
    const epic = { model: 'epic-pro', image: ['https://a.example/1.png'] };
    expect(refusals({ ...epic, prompt: 'x'.repeat(20_000) })).toEqual([]);
    expect(refusals({ ...epic, prompt: 'x'.repeat(20_001) })).toEqual([
      { reason: 'too_long', option: 'prompt', model: 'Epic Pro', given: 20_001, max: 20_000 },
    ]);
  });

  it.each<[string, RequestDraft, Refusal]>([
    ['a missing prompt', { prompt: ' \n' }, { reason: 'missing', option: 'prompt' }],
    ['a control character', { prompt: 'a f\0ox' }, { reason: 'control', option: 'prompt' }],
    [
      'an unknown model',
      { model: 'swift-2' },
      { reason: 'unknown_model', option: 'model', given: 'swift-2', allowed: ['swift-1', 'epic-pro', 'plain'] },
    ],
    ['seconds in words', { seconds: 'six' }, { reason: 'not_a_number', option: 'seconds', given: 'six' }],
    [
      'seconds that are not offered',
      { seconds: 30 },
      { reason: 'not_offered', option: 'seconds', model: 'Swift 1', given: '30', allowed: ['4', '6', '8'] },
    ],
    [
      'half seconds',
      { seconds: '4.5' },
      { reason: 'not_offered', option: 'seconds', model: 'Swift 1', given: '4.5', allowed: ['4', '6', '8'] },
    ],
    [
      'negative seconds',
      { seconds: -4 },
      { reason: 'not_offered', option: 'seconds', model: 'Swift 1', given: '-4', allowed: ['4', '6', '8'] },
    ],
    [
      'seconds off the step',
      { model: 'epic-pro', seconds: 7, image: ['https://a.example/1.png'] },
      { reason: 'not_offered', option: 'seconds', model: 'Epic Pro', given: '7', allowed: ['5 to 15 in steps of 5'] },
    ],
    [
      'an aspect ratio that is not offered',
      { aspect: '4:3' },
      { reason: 'not_offered', option: 'aspect', model: 'Swift 1', given: '4:3', allowed: ['16:9', '9:16', '1:1'] },
    ],
    [
      'a resolution that is not offered',
      { resolution: '1080p' },
      { reason: 'not_offered', option: 'resolution', model: 'Swift 1', given: '1080p', allowed: ['480p', '720p'] },
    ],
    [
      'a resolution for a model without resolutions',
      { model: 'plain', resolution: '720p' },
      { reason: 'not_offered', option: 'resolution', model: 'Plain', given: '720p', allowed: [] },
    ],
    [
      'a URL with another scheme',
      { image: ['ftp://a.example/1.png'] },
      { reason: 'not_an_address', option: 'image', given: 'ftp://a.example/1.png' },
    ],
    [
      'a URL with a space',
      { image: ['https://a.example/1 2.png'] },
      { reason: 'not_an_address', option: 'image', given: '2.png' },
    ],
    [
      'a URL that is too long',
      { image: [`https://a.example/${'x'.repeat(5_000)}`] },
      { reason: 'address_too_long', option: 'image', given: 5_018, max: 4_096 },
    ],
    ['a URL without a host', { image: ['https://'] }, { reason: 'not_an_address', option: 'image', given: 'https://' }],
    [
      'too many images',
      { image: ['https://a.example/1', 'https://a.example/2', 'https://a.example/3'] },
      { reason: 'media_count', option: 'image', model: 'Swift 1', given: 3, min: 0, max: 2 },
    ],
    [
      'too few images',
      { model: 'epic-pro' },
      { reason: 'media_count', option: 'image', model: 'Epic Pro', given: 0, min: 1, max: 9 },
    ],
    [
      'audio for a model without audio',
      { audio: ['https://a.example/1.mp3'] },
      { reason: 'media_count', option: 'audio', model: 'Swift 1', given: 1, min: 0, max: 0 },
    ],
  ])('refuses %s', (_, draft, refusal) => {
    expect(refusals({ prompt: 'a fox', ...draft })).toEqual([refusal]);
  });

  it('returns all problems at once, even without a model', () => {
    const draft = { seconds: 'x', aspect: 'y', resolution: 'z', video: ['nowhere'] };
    expect(refusals(draft).map(({ option }) => option)).toEqual([
      'prompt',
      'seconds',
      'aspect',
      'resolution',
      'video',
      'video',
    ]);
    expect(refusals({ ...draft, model: 'nobody' }).map(({ option }) => option)).toEqual([
      'model',
      'prompt',
      'seconds',
      'video',
    ]);
  });
});

describe('checkRetry', () => {
  const named = { ...CATALOG, models: CATALOG.models.map((model) => ({ ...model, service: 'own' })) };

  it('gives a request from before its service had a name to the service that has its model', () => {
    expect(checkRetry(CATALOG, FOX)).toMatchObject({ ok: true, request: FOX });
    expect(checkRetry(named, FOX)).toMatchObject({ ok: true, request: { ...FOX, service: 'own' } });
    expect(checkAgain(named, FOX)).toMatchObject({ ok: false });
  });

  it('gives no request of a service to another one', () => {
    expect(checkRetry(named, { ...FOX, service: 'gone' })).toMatchObject({ ok: false });
    expect(checkRetry(CATALOG, { ...FOX, service: 'gone' })).toMatchObject({ ok: false });
  });
});

describe('checkAgain', () => {
  it('returns the same request, without defaults for options added since', () => {
    const { resolution: _, ...older } = FOX;
    const checked = checkAgain(CATALOG, older);
    expect(checked.ok && checked.request).toBe(older);
  });

  it('refuses values that the catalog no longer has', () => {
    expect(checkAgain(CATALOG, { ...FOX, seconds: 10 })).toMatchObject({ ok: false });
    expect(checkAgain(CATALOG, { ...FOX, model: 'gone' })).toMatchObject({ ok: false });
  });
});
