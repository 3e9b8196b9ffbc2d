import type { MediaKind } from './request.ts';

/** Media types that video services read, by file extension. SVG, HEIC and TIFF are not among them. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['bmp', 'image/bmp'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['m4a', 'audio/mp4'],
  ['aac', 'audio/aac'],
  ['ogg', 'audio/ogg'],
  ['opus', 'audio/ogg'],
  ['flac', 'audio/flac'],
  ['mp4', 'video/mp4'],
  ['m4v', 'video/mp4'],
  ['mov', 'video/quicktime'],
  ['webm', 'video/webm'],
  ['mkv', 'video/x-matroska'],
  ['avi', 'video/x-msvideo'],
]);

const IMAGE_TYPES: ReadonlySet<string> = new Set(
  [...TYPES.values(), 'image/jpg'].filter((type) => type.startsWith('image/')),
);
/** Said of a file by programs that do not know its type. */
const NO_TYPES: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

/** A reference file as a chat describes it. */
export interface DescribedFile {
  readonly name: string;
  /** Discord leaves it out for types that it does not know. */
  readonly contentType?: string | undefined;
}

/**
 * Tells what a reference file is, by its content type or else by its extension.
 * @returns null where it is of an unknown type, or one that video services cannot read.
 */
export function readableMedia({
  name,
  contentType = '',
}: DescribedFile): { kind: MediaKind; contentType: string } | null {
  const declared = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const type = NO_TYPES.has(declared) ? TYPES.get(/\.([^./]+)$/.exec(name.toLowerCase())?.[1] ?? '') : declared;
  if (type === undefined) return null;
  if (type.startsWith('image/')) return IMAGE_TYPES.has(type) ? { kind: 'image', contentType: type } : null;
  if (type.startsWith('audio/')) return { kind: 'audio', contentType: type };
  return type.startsWith('video/') ? { kind: 'video', contentType: type } : null;
}

/** Extensions of the files of a kind that video services can read, such as `png`. */
export function readableExtensions(kind: MediaKind): readonly string[] {
  return [...TYPES].filter(([, type]) => type.startsWith(`${kind}/`)).map(([extension]) => extension);
}
