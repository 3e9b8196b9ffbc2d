/**
 * Decodes a text file: UTF-16 by its byte order mark, else UTF-8. The chat page uses it, too.
 * @param {Uint8Array} bytes
 * @returns {string | null} `null` if it is not in these encodings, or no text
 */
export function decodedText(bytes) {
  const mark = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
  const encoding = mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : 'utf-8';
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

/** Refuses a file that is not text. @param {string} name */
export const notText = (name) => `${name} isn’t text in UTF-8. Save it as UTF-8, and try again.`;
