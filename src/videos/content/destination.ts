import { SIGNATURE_BYTES, videoTypeOf } from './container.ts';

/** Location of a clip by a JSON response: a URL (absolute or relative), or the response itself. */
type ClipDestination = { readonly address: string } | { readonly bytes: Buffer };

/** Names of fields for a clip's URL among services, in order of preference; letter case and underscores are ignored. */
const ADDRESS_NAMES = ['videourl', 'url', 'downloadurl', 'contenturl', 'resulturl', 'outputurl', 'fileurl', 'uri'];
/** Names of fields that may hold a URL, a list of URLs or an object with one. */
const RESULT_NAMES = ['urls', 'videourls', 'output', 'outputs', 'result', 'results', 'video', 'videos'];
/** Names of fields that are not the clip: its images, and the inputs of the task. */
const OTHER_NAMES = /^(image|cover|thumb|poster|preview|input|request|webhook|callback)/;

/** Maximum nesting depth that is searched. */
const DEPTH = 3;
/** Longest relative URL, in characters. */
const MAX_RELATIVE_LENGTH = 4_096;
/** Length of {@link SIGNATURE_BYTES} in base64, in whole groups of four characters. */
const SIGNATURE_CHARACTERS = Math.ceil(SIGNATURE_BYTES / 3) * 4;

/**
 * Finds a clip in a JSON response to `/content`: a URL, a `data:` URI or base64, as the response itself or in a field
 * with one of the names used among services, outermost first.
 */
export function destinationIn(json: unknown, depth = DEPTH): ClipDestination | undefined {
  if (typeof json === 'string') return parseDestination(json, true);
  if (typeof json !== 'object' || json === null || depth < 0) return undefined;
  if (Array.isArray(json)) {
    // In a nested list, a plain string may be anything.
    const text = depth === DEPTH ? textAt(json, true) : undefined;
    return text ?? firstOf(json, (value) => (isText(value) ? undefined : destinationIn(value, depth - 1)));
  }
  const fields = Object.entries(json).map(([name, value]) => ({ name: plain(name), value: value as unknown }));
  const under = (name: string) => fields.find((field) => field.name === name)?.value;
  return (
    firstOf(ADDRESS_NAMES, (name) => textAt(under(name), true)) ??
    firstOf(RESULT_NAMES, (name) => textAt(under(name), false)) ??
    firstOf(fields, ({ name, value }) => (OTHER_NAMES.test(name) ? undefined : withinOf(value, depth)))
  );
}

/** Reads a string, or the first usable string of a list. */
function textAt(value: unknown, mayBeRelative: boolean): ClipDestination | undefined {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  return firstOf(texts.filter(isText), (text) => parseDestination(text, mayBeRelative));
}

/** Reads a field with any other name: an object, or base64 whose first bytes are a clip's. */
function withinOf(value: unknown, depth: number): ClipDestination | undefined {
  if (!isText(value)) return destinationIn(value, depth - 1);
  const destination = parseDestination(value, false);
  return destination !== undefined && 'bytes' in destination ? destination : undefined;
}

function parseDestination(text: string, mayBeRelative: boolean): ClipDestination | undefined {
  const given = text.trim();
  if (/^(https?:)?\/\/\S+$/i.test(given)) return { address: given };
  const bytes = decoded(given);
  if (bytes !== null) return { bytes };
  return mayBeRelative && isRelative(given) ? { address: given } : undefined;
}

/** Decodes a clip in base64, with or without the prefix of a `data:` URI. */
function decoded(text: string): Buffer | null {
  const encoded = text.slice(/^data:[^,]{0,200};base64,/i.exec(text)?.[0].length ?? 0);
  const start = encoded.slice(0, SIGNATURE_CHARACTERS);
  if (start.length < SIGNATURE_CHARACTERS || !/^[\w+/-]+$/.test(start)) return null;
  return videoTypeOf(Buffer.from(start, 'base64')) === null ? null : Buffer.from(encoded, 'base64');
}

/**
 * Returns whether a text is a path: it contains a slash or ends like a video file. The field may also hold an error.
 */
function isRelative(text: string): boolean {
  if (text.length > MAX_RELATIVE_LENGTH || /\s/.test(text) || /^[a-z][a-z\d+.-]*:/i.test(text)) return false;
  return text.includes('/') || /\.(mp4|m4v|mov|webm|mkv|avi|ogv)(\?|$)/i.test(text);
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll('_', '');
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function firstOf<Item, Found>(items: Iterable<Item>, find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
