import { hash } from 'node:crypto';

/** Chance that is the same for the same seed. Not for secrets. */
export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number;
  /** True in so many of all cases, from 0 to 1. */
  chance(share: number): boolean;
  /** One of `list`, each as likely. */
  pick<Item>(list: readonly [Item, ...Item[]]): Item;
  /** One of the keys, as likely as its weight says. */
  weighed<Item extends string>(weights: Readonly<Record<Item, number>>): Item;
  /** Another one, for a purpose of its own: what is drawn here changes nothing there. */
  fork(purpose: string): Random;
}

/** The chance of a seed. */
export function createRandom(seed: string): Random {
  let state = Number.parseInt(hash('sha256', seed, 'hex').slice(0, 8), 16);
  // Mulberry32: a counter, well stirred.
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
