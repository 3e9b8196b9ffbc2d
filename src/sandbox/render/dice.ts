/** Pseudorandom number generator: returns the next number in [0, 1), in a sequence determined by the seed. */
type Dice = () => number;

/** Hashes a text to 32 bits; similar texts hash far apart. @see http://www.isthe.com/chongo/tech/comp/fnv/ (FNV-1a) */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** Creates a seeded generator, so that the same task always gives the same clip. */
export function dice(seed: number): Dice {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
