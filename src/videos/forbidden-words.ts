/** Matches letters of scripts that are written without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/**
 * Returns those of the words that occur in a text as whole words, as they are listed. Case, accents, width and invisible
 * characters make no difference; a phrase matches across any white space. In scripts without spaces between words, each
 * occurrence counts.
 */
export function forbiddenIn(text: string, words: readonly string[]): readonly string[] {
  if (words.length === 0) return [];
  const folded = fold(text);
  return words.filter((word) => occursIn(folded, fold(word)));
}

/** Returns whether two words count as the same; a word without a character is the same as ''. */
export function isSameWord(one: string, other: string): boolean {
  return fold(one) === fold(other);
}

/**
 * Folds a text for comparison. Accents are the marks that no script has of its own: the vowel signs of Hindi stay.
 * @see https://www.unicode.org/reports/tr44/#Script
 */
function fold(text: string): string {
  const plain = text.normalize('NFKD').replace(/[\p{Script=Inherited}\p{Cf}]/gu, '');
  return plain.toUpperCase().replace(/\s+/gu, ' ').trim();
}

const PART_OF_WORD = /[\p{L}\p{M}\p{N}]/u;

function occursIn(text: string, word: string): boolean {
  if (word === '') return false;
  for (let from = text.indexOf(word); from !== -1; from = text.indexOf(word, from + 1)) {
    // A character has at most two code units; the whole text before it is not copied for each occurrence.
    const before = Array.from(text.slice(Math.max(0, from - 2), from)).at(-1) ?? '';
    const [after = ''] = text.slice(from + word.length);
    const [first = ''] = word;
    const last = Array.from(word).at(-1) ?? '';
    if (isBoundary(before, first) && isBoundary(last, after)) return true;
  }
  return false;
}

/** Returns whether a word may begin or end between two characters. */
function isBoundary(before: string, after: string): boolean {
  return !(PART_OF_WORD.test(before) && PART_OF_WORD.test(after)) || UNSPACED.test(before) || UNSPACED.test(after);
}
