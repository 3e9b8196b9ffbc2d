import type { MediaKind } from './request.ts';

/** Media types supported by video services, by file extension. SVG, HEIC and TIFF are not supported. */
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
/** Generic content types of files whose type is unknown. */
const NO_TYPES: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'binary/octet-stream']);

/** Reference file as described by a chat. */
interface DescribedFile {
  readonly name: string;
  /** Media type; Discord omits it for types that it does not recognise. */
  readonly contentType?: string | undefined;
}

/**
 * Detects the kind of a reference file, by its content type or else by its extension.
 * @returns null for an unknown type, or one that video services do not support.
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

/** Returns the file extensions of a kind that video services support, such as `png`. */
export function readableExtensions(kind: MediaKind): readonly string[] {
  return [...TYPES].filter(([, type]) => type.startsWith(`${kind}/`)).map(([extension]) => extension);
}
