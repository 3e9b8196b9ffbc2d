import { hash } from 'node:crypto';

/** Random generator that is reproducible by its seed. Not for secrets. */
export interface Random {
  /** Returns a number from 0 to below 1. */
  next(): number;
  /** Returns an integer from `least` to `most`. */
  between(least: number, most: number): number;
  /** Returns true with a probability of `share`, from 0 to 1. */
  chance(share: number): boolean;
  /** Returns an item of `list`, each with the same probability. */
  pick<Item>(list: readonly [Item, ...Item[]]): Item;
  /** Returns a key with a probability in proportion to its weight. */
  weighed<Item extends string>(weights: Readonly<Record<Item, number>>): Item;
  /** Returns an independent generator for one purpose: drawing from it does not affect this one. */
  fork(purpose: string): Random;
}

/** Creates the generator of a seed. */
export function createRandom(seed: string): Random {
  let state = Number.parseInt(hash('sha256', seed, 'hex').slice(0, 8), 16);
  // Mulberry32: a counter with a mixing function.
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    chance: (share) => next() < share,
    pick: (list) => list[between(0, list.length - 1)] ?? list[0],
    weighed(weights) {
      const entries = Object.entries(weights) as [keyof typeof weights, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      const found = entries.find(([, weight]) => {
        left -= weight;
        return left < 0;
      });
      if (found === undefined) throw new TypeError('weighing: there is nothing to choose from');
      return found[0];
    },
    fork: (purpose) => createRandom(`${seed}/${purpose}`),
  };
}
