const NONE = { min: 0, max: 0 } as const;

/**
 * Models of the embedded service in the format of a catalog file; also the default catalog of the bot. Parsed by
 * `parseCatalog` of `videos/catalog.ts`. Covers every shape an entry can have.
 */
export const sandboxCatalog = {
  models: [
    {
      name: 'swift-1',
      title: 'Swift 1',
      billing: 'per_second',
      price: '0.05',
      currency: 'USD',
      seconds: [4, 6, 8],
      aspectRatios: ['16:9', '9:16', '1:1'],
      resolutions: ['480p', '720p'],
      media: { image: { min: 0, max: 2 }, audio: NONE, video: NONE },
      promptMaxLength: 2000,
      default: true,
    },
    {
      name: 'epic-pro',
      title: 'Epic Pro',
      billing: 'per_call',
      price: '1.20',
      currency: 'USD',
      seconds: { min: 5, max: 15, step: 5 },
      aspectRatios: ['16:9'],
      resolutions: ['720p', '1080p'],
      media: { image: { min: 1, max: 9 }, audio: { min: 0, max: 1 }, video: { min: 0, max: 3 } },
      promptMaxLength: 4096,
    },
    {
      name: 'reel-2',
      title: 'Reel 2',
      billing: 'per_second',
      price: '0.12',
      currency: 'USD',
      seconds: { min: 3, max: 10, step: 1 },
      aspectRatios: ['9:16', '3:4'],
      resolutions: ['480p', '720p', '1080p'],
      media: { image: { min: 0, max: 3 }, audio: { min: 0, max: 1 }, video: NONE },
      promptMaxLength: 2500,
    },
    {
      // Takes no resolution: its name implies it.
      name: 'sketch-480p',
      title: 'Sketch',
      billing: 'per_call',
      price: '0.02',
      currency: 'USD',
      seconds: [1, 2, 3],
      aspectRatios: ['16:9', '9:16', '4:3', '3:4', '1:1'],
      resolutions: [],
      media: { image: { min: 0, max: 1 }, audio: NONE, video: NONE },
      promptMaxLength: 500,
    },
  ],
} as const;
