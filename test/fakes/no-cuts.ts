import type { Cuts } from '#src/studio/cuts/cuts.ts';

/** Cuts of a house in which nothing is joined. */
export const NO_CUTS: Pick<Cuts, 'removeWith' | 'forget' | 'get' | 'madeOf' | 'find'> = {
  removeWith: async () => undefined,
  forget: async () => undefined,
  get: async () => undefined,
  madeOf: async () => [],
  find: async () => undefined,
};
