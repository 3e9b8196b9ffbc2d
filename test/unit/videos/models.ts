import { parseCatalog } from '#src/videos/catalog.ts';
import type { VideoRequest } from '#src/videos/request.ts';

/** Model billed per second, with a list of lengths; {@link EPIC} is billed per call and requires images. */
export const SWIFT = {
  name: 'swift-1',
  title: 'Swift 1',
  billing: 'per_second',
  price: '0.05',
  currency: 'USD',
  seconds: [4, 6, 8],
  aspectRatios: ['16:9', '9:16', '1:1'],
  resolutions: ['480p', '720p'],
  media: { image: { min: 0, max: 2 }, audio: { min: 0, max: 0 }, video: { min: 0, max: 0 } },
  promptMaxLength: 2000,
  default: true,
};

export const EPIC = {
  name: 'epic-pro',
  title: 'Epic Pro',
  billing: 'per_call',
  price: '1.20',
  currency: 'USD',
  seconds: { min: 5, max: 15, step: 5 },
  aspectRatios: ['16:9'],
  resolutions: ['1080p'],
  media: { image: { min: 1, max: 9 }, audio: { min: 0, max: 1 }, video: { min: 0, max: 3 } },
};

/** Model without aspect ratios and resolutions. */
const PLAIN = { ...SWIFT, name: 'plain', title: 'Plain', aspectRatios: [], resolutions: [], default: false };

export const CATALOG = parseCatalog({ models: [SWIFT, EPIC, PLAIN] });

export const FOX: VideoRequest = {
  model: 'swift-1',
  prompt: 'a red fox',
  seconds: 6,
  aspectRatio: '16:9',
  resolution: '720p',
  media: { image: [], audio: [], video: [] },
};
