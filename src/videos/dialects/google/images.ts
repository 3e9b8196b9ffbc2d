/** Image in a request. */
interface InlineImage {
  readonly base64: string;
  /** Such as `image/png`. */
  readonly mimeType: string;
}

/** Reads the image of a base64 `data:` URI; null for a URL. */
export function inlineImage(given: string): InlineImage | null {
  const [prefix = '', mimeType] = /^data:([^;,]+);base64,/i.exec(given) ?? [];
  return mimeType === undefined ? null : { base64: given.slice(prefix.length), mimeType };
}
