const none = { min: 0, max: 0 };

/** Returns an entry of a catalog file: a model with one length and nothing to choose. */
export function modelEntry(name: string, more: object = {}) {
  return {
    name,
    title: name,
    billing: 'per_second',
    price: '0.05',
    currency: 'USD',
    seconds: [5],
    aspectRatios: [],
    resolutions: [],
    media: { image: none, audio: none, video: none },
    ...more,
  };
}
