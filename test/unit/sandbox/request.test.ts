import { describe, expect, it } from 'vitest';
import { sandboxCatalog } from '#src/sandbox/catalog.ts';
import { type ErrorResponse, Refused } from '#src/sandbox/refusal.ts';
import { readRequest } from '#src/sandbox/request.ts';
import { parseCatalog } from '#src/videos/catalog.ts';

const catalog = parseCatalog(sandboxCatalog);
const SWIFT = { model: 'swift-1', prompt: 'a fox', duration: 4, video_duration: 4 };
const EPIC = {
  model: 'epic-pro',
  prompt: 'a fox',
  duration: 1,
  video_duration: 10,
  image_urls: ['https://a.example/1.png'],
};
const REEL = { model: 'reel-2', prompt: 'a fox', duration: 7, video_duration: 7 };
const SKETCH = { model: 'sketch-480p', prompt: 'a fox', duration: 1, video_duration: 2 };

function accepted(body: unknown) {
  return readRequest(body, catalog);
}

function refused(body: unknown): ErrorResponse {
  try {
    readRequest(body, catalog);
  } catch (thrown) {
    if (thrown instanceof Refused) return thrown.response;
    throw thrown;
  }
  throw new Error('the request was accepted');
}

const urls = (count: number): string[] => Array.from({ length: count }, (_, index) => `https://a.example/${index}`);

describe('a valid request', () => {
  it('gets the defaults for omitted fields', () => {
    expect(accepted(SWIFT)).toMatchObject({ seconds: 4, aspectRatio: '16:9', resolution: '720p', prompt: 'a fox' });
    expect(accepted(SWIFT).media).toEqual({ image: [], audio: [], video: [] });
    expect(accepted(REEL)).toMatchObject({ aspectRatio: '9:16', resolution: '720p' });
  });

  it('gets the resolution in the name of the model', () => {
    expect(accepted(SKETCH).resolution).toBe('480p');
  });

  it.each([
    ['per second, every listed length', { ...SWIFT, duration: 8, video_duration: 8 }],
    ['per call, duration 1 for any length', { ...EPIC, video_duration: 15 }],
    ['a range without gaps', { ...REEL, duration: 9, video_duration: 9 }],
    ['a ratio and a resolution', { ...SWIFT, aspect_ratio: '1:1', resolution: '480p' }],
    ['as many files as the model takes', { ...EPIC, image_urls: urls(9), audio_urls: urls(1), video_urls: urls(3) }],
    ['plain http', { ...SWIFT, image_urls: ['http://a.example/x'] }],
    ['a prompt as long as allowed, counted in characters', { ...SKETCH, prompt: '🦊'.repeat(500) }],
  ])('%s', (_, body) => {
    expect(() => accepted(body)).not.toThrow();
  });
});

describe('an invalid request', () => {
  it.each<[string, unknown, RegExp]>([
    ['an array', [], /JSON object/],
    ['no body', undefined, /JSON object/],
    ['no model', { ...SWIFT, model: undefined }, /model: is missing/],
    ['no prompt', { ...SWIFT, prompt: undefined }, /prompt: is missing/],
    ['an empty prompt', { ...SWIFT, prompt: '' }, /prompt: must not be empty/],
    ['a prompt of another type', { ...SWIFT, prompt: 7 }, /prompt: /],
    ['a prompt that is too long', { ...SKETCH, prompt: 'x'.repeat(501) }, /501 characters are more than the 500/],
    ['no duration', { ...SWIFT, duration: undefined }, /duration: is missing/],
    ['no video_duration', { ...SWIFT, video_duration: undefined }, /video_duration: is missing/],
    ['a length as a string', { ...SWIFT, video_duration: '4' }, /video_duration: must be a whole number/],
    ['a fractional length', { ...SWIFT, duration: 4.5, video_duration: 4.5 }, /duration: must be a whole number/],
    ['length zero', { ...SWIFT, duration: 0, video_duration: 0 }, /video_duration: must be at least 1/],
    [
      'a length that is not listed',
      { ...SWIFT, duration: 5, video_duration: 5 },
      /5 is not offered by swift-1; it takes 4, 6, 8/,
    ],
    [
      'a length between the steps',
      { ...EPIC, video_duration: 7 },
      /7 is not offered by epic-pro; it takes 5 to 15 in steps of 5/,
    ],
    ['a length over the range', { ...REEL, duration: 11, video_duration: 11 }, /it takes 3 to 10/],
    ['per second, another duration', { ...SWIFT, duration: 1 }, /duration: must be 4, not 1/],
    ['per call, the seconds as duration', { ...EPIC, duration: 10 }, /duration: must be 1, not 10/],
    ['an unknown ratio', { ...SWIFT, aspect_ratio: '2:1' }, /aspect_ratio: must be one of 16:9/],
    ['a ratio the model lacks', { ...EPIC, aspect_ratio: '9:16' }, /9:16 is not offered by epic-pro; it takes 16:9/],
    ['an unknown resolution', { ...SWIFT, resolution: '4k' }, /resolution: must be one of 480p/],
    ['a resolution the model lacks', { ...SWIFT, resolution: '1080p' }, /1080p is not offered by swift-1/],
    ['a resolution where none is accepted', { ...SKETCH, resolution: '480p' }, /resolution: sketch-480p takes none/],
    ['null for an option', { ...SWIFT, resolution: null }, /resolution: /],
    [
      'a URL with another scheme',
      { ...SWIFT, image_urls: ['ftp://a.example/x'] },
      /image_urls\[0\]: must begin with http/,
    ],
    ['text that contains a URL', { ...SWIFT, image_urls: ['x https://a.example'] }, /image_urls\[0\]/],
    ['a URL outside of a list', { ...SWIFT, image_urls: 'https://a.example/x' }, /image_urls: /],
    ['too many images', { ...SWIFT, image_urls: urls(3) }, /image_urls: 3 given; swift-1 takes 0 to 2/],
    ['no image where one is required', { ...EPIC, image_urls: [] }, /image_urls: 0 given; epic-pro takes 1 to 9/],
    ['audio where none is accepted', { ...SWIFT, audio_urls: urls(1) }, /audio_urls: 1 given; swift-1 takes 0/],
    ['too many videos', { ...EPIC, video_urls: urls(4) }, /video_urls: 4 given; epic-pro takes 0 to 3/],
    ['an unknown field', { ...SWIFT, seconds: 4 }, /seconds: there is no such field/],
  ])('%s', (_, body, message) => {
    expect(refused(body)).toMatchObject({
      status: 400,
      code: 'invalid_request',
      message: expect.stringMatching(message),
    });
  });

  it('gets all errors at once', () => {
    const { message } = refused({ ...EPIC, duration: 3, video_duration: 4, resolution: '480p', image_urls: [] });
    expect(message.split('; ').map((problem) => problem.split(':')[0])).toEqual(
      expect.arrayContaining(['duration', 'video_duration', 'resolution', 'image_urls']),
    );
  });

  it('gets model_not_found for an unknown model', () => {
    expect(refused({ ...SWIFT, model: 'swift-9' })).toMatchObject({ status: 404, code: 'model_not_found' });
    expect(refused({ ...SWIFT, model: 'swift-9' }).message).toContain('epic-pro');
  });
});
