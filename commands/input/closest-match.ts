/**
 * Returns the candidate that `given` was probably meant to be: the only one that has it as a prefix or is a prefix of
 * it; otherwise the one with the smallest edit distance, if that is small. `null` if there is none.
 */
export function nearest(given: string, candidates: readonly string[]): string | null {
  const typed = given.toLowerCase();
  const begun = candidates.filter((candidate) => typed.length > 1 && begins(candidate, typed));
  if (begun.length === 1) return begun[0] ?? null;
  const ranked = candidates
    .map((candidate) => ({ candidate, changes: distance(typed, candidate) }))
    .sort((one, other) => one.changes - other.changes);
  const [best] = ranked;
  return best !== undefined && best.changes <= Math.max(1, Math.floor(best.candidate.length / 3))
    ? best.candidate
    : null;
}

function begins(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
}

/**
 * Edit distance of two words by optimal string alignment: letters changed, added, left out or swapped. Infinite if the
 * lengths differ by more than 4.
 * @see https://en.wikipedia.org/wiki/Damerau%E2%80%93Levenshtein_distance
 */
export function distance(one: string, other: string): number {
  // A word of a very different length is not a typo, and the table below grows with both lengths.
  if (Math.abs(one.length - other.length) > 4) return Number.POSITIVE_INFINITY;
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwap = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current.push(
        Math.min(
          at(last, column) + 1,
          at(current, column - 1) + 1,
          at(last, column - 1) + (isSame ? 0 : 1),
          isSwap ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [beforeLast, last] = [last, current];
  }
  return at(last, other.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
