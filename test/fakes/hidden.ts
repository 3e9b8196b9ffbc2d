/** A text that must not be found anywhere: its name, for whoever reads the failure, and the text. */
export interface Hidden {
  readonly name: string;
  readonly text: string;
}

/**
 * Where hidden texts are found in what was printed: as they are, URL-encoded, escaped for JSON, in hex, and in base64,
 * also in the middle of something longer that was encoded as a whole. @returns a line each; empty: nowhere.
 */
export function leaks(printed: string, hidden: readonly Hidden[]): readonly string[] {
  return hidden.flatMap(({ name, text }) =>
    [...formsOf(text)].flatMap(([form, shape]) => {
      const at = printed.indexOf(shape);
      return at < 0 ? [] : [`${name} (${form}): …${printed.slice(Math.max(0, at - 200), at + shape.length + 60)}…`];
    }),
  );
}

function formsOf(text: string): ReadonlyMap<string, string> {
  const forms = new Map([
    ['as it is', text],
    ['URL-encoded', encodeURIComponent(text)],
    ['in JSON', JSON.stringify(text).slice(1, -1)],
    ['in hex', Buffer.from(text).toString('hex')],
  ]);
  for (const shift of [0, 1, 2]) {
    // Of what stands before and after it only the characters at the edges change.
    const encoded = Buffer.from(`${'.'.repeat(shift)}${text}`)
      .toString('base64')
      .replace(/=+$/, '');
    const core = encoded.slice(shift === 0 ? 0 : shift + 1, -1);
    forms.set(`in base64, ${shift} in`, core);
    forms.set(`in base64url, ${shift} in`, core.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return forms;
}
