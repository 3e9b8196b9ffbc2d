/** Embeddings, overrides and isolates: they change the order of what stands around a text as well. */
const CONTROLS = /[\u202A-\u202E\u2066-\u2069]/gu;
/** Hebrew, Arabic and the other scripts written from right to left, and the marks that act like them. */
const RIGHT_TO_LEFT = /[\u0590-\u08FF\u200F\uFB1D-\uFDFF\uFE70-\uFEFF\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
const FIRST_STRONG_ISOLATE = '\u2068';
const POP_ISOLATE = '\u2069';

/**
 * Returns a text from outside so that it cannot change the order of the words around it: without controls of direction,
 * and isolated where it holds a script written from right to left. Any other text stays as it is and copies clean.
 * @see https://www.unicode.org/reports/tr9/#Explicit_Directional_Isolates
 */
export function isolated(text: string): string {
  const plain = withoutDirection(text);
  return RIGHT_TO_LEFT.test(plain) ? `${FIRST_STRONG_ISOLATE}${plain}${POP_ISOLATE}` : plain;
}

/** Returns a text without controls of direction. */
export function withoutDirection(text: string): string {
  return text.replace(CONTROLS, '');
}
