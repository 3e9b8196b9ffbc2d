import { SIGNATURE_BYTES, videoTypeOf } from './container.ts';

/** Where a JSON answer says that a clip is: at an address (absolute or relative), or in the answer itself. */
export type ClipDestination = { readonly address: string } | { readonly bytes: Buffer };

/** Names under which the field gives a clip's address, in order of preference; letter case and underscores do not count. */
const ADDRESS_NAMES = ['videourl', 'url', 'downloadurl', 'contenturl', 'resulturl', 'outputurl', 'fileurl', 'uri'];
/** Names of what may be an address, a list of addresses or an object with one. */
const RESULT_NAMES = ['urls', 'videourls', 'output', 'outputs', 'result', 'results', 'video', 'videos'];
/** What stands beside a clip and is none: pictures of it, and what the task was made from. */
const OTHER_NAMES = /^(image|cover|thumb|poster|preview|input|request|webhook|callback)/;

/** How many layers are searched. */
const DEPTH = 3;
/** Longest relative address. */
const MOST_CHARACTERS = 4_096;
/** Base64 of {@link SIGNATURE_BYTES}, cut where a group of four ends. */
const SIGNATURE_CHARACTERS = Math.ceil(SIGNATURE_BYTES / 3) * 4;

/**
 * Finds a clip in a JSON answer to `/content`: an address, a `data:` URI or base64, as the answer itself or under the names
 * the field uses, nearest to the top first.
 */
export function destinationIn(json: unknown, depth = DEPTH): ClipDestination | undefined {
  if (typeof json === 'string') return placeOf(json, true);
  if (typeof json !== 'object' || json === null || depth < 0) return undefined;
  if (Array.isArray(json)) {
    // Elsewhere a bare text in a list may be anything.
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

/** A text, or the first text of a list. */
function textAt(value: unknown, mayBeRelative: boolean): ClipDestination | undefined {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  return firstOf(texts.filter(isText), (text) => placeOf(text, mayBeRelative));
}

/** What is looked at under any other name: objects, and base64 that is a clip by its first bytes. */
function withinOf(value: unknown, depth: number): ClipDestination | undefined {
  if (!isText(value)) return destinationIn(value, depth - 1);
  const place = placeOf(value, false);
  return place !== undefined && 'bytes' in place ? place : undefined;
}

function placeOf(text: string, mayBeRelative: boolean): ClipDestination | undefined {
  const given = text.trim();
  if (/^(https?:)?\/\/\S+$/i.test(given)) return { address: given };
  const bytes = decoded(given);
  if (bytes !== null) return { bytes };
  return mayBeRelative && isRelative(given) ? { address: given } : undefined;
}

/** The clip in base64, with or without the beginning of a `data:` URI. */
function decoded(text: string): Buffer | null {
  const encoded = text.slice(/^data:[^,]{0,200};base64,/i.exec(text)?.[0].length ?? 0);
  const start = encoded.slice(0, SIGNATURE_CHARACTERS);
  if (start.length < SIGNATURE_CHARACTERS || !/^[\w+/-]+$/.test(start)) return null;
  return videoTypeOf(Buffer.from(start, 'base64')) === null ? null : Buffer.from(encoded, 'base64');
}

/** A path: begins with a slash, or has one, or ends as a video file does. Failure texts stand in the same place. */
function isRelative(text: string): boolean {
  if (text.length > MOST_CHARACTERS || /\s/.test(text) || /^[a-z][a-z\d+.-]*:/i.test(text)) return false;
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
