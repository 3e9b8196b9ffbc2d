/** Embeddings, overrides and isolates, which also change the order of the surrounding text. */
const CONTROLS = /[\u202A-\u202E\u2066-\u2069]/gu;
/** Hebrew, Arabic and the other right-to-left scripts, and the marks that act like them. */
const RIGHT_TO_LEFT = /[\u0590-\u08FF\u200F\uFB1D-\uFDFF\uFE70-\uFEFF\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
const FIRST_STRONG_ISOLATE = '\u2068';
const POP_ISOLATE = '\u2069';

/**
 * Sanitises external text so that it cannot reorder the surrounding text: removes directional controls and isolates
 * text that contains a right-to-left script. Leaves any other text unchanged, so that it copies clean.
 * @see https://www.unicode.org/reports/tr9/#Explicit_Directional_Isolates
 */
export function isolated(text: string): string {
  const plain = withoutDirection(text);
  return RIGHT_TO_LEFT.test(plain) ? `${FIRST_STRONG_ISOLATE}${plain}${POP_ISOLATE}` : plain;
}

/** Returns a text without directional controls. */
export function withoutDirection(text: string): string {
  return text.replace(CONTROLS, '');
}
