import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export const DATA_KINDS = [
  'clips',
  /** Copies of clips within an upload limit. */
  'fitted',
  /** Clips joined into one. */
  'cuts',
  /** Pictures of clips. */
  'posters',
  /** Last frames of clips, with which the next shots of storyboards start. */
  'frames',
  /** Reference files that were passed on to the video service. */
  'references',
  /** Images of the teams' libraries. */
  'library',
  'playground',
  /** Clips and orders of the embedded video service. */
  'sandbox',
  'temporary',
  /** The SQLite database. */
  'store',
] as const;

/** One of {@link DATA_KINDS}. */
export type DataKind = (typeof DATA_KINDS)[number];

export type DataBytes = Readonly<Record<DataKind, number>>;

export interface DataPlace {
  /** Absolute path. */
  readonly dataDir: string;
  /** Absolute path of the SQLite database; `null` with Redis. */
  readonly database: string | null;
}

export interface DataFile {
  readonly path: string;
  readonly name: string;
  readonly kind: DataKind;
  readonly bytes: number;
  /** Time of its last change, in ms since the epoch. */
  readonly atMs: number;
  /** Identifies the content of a file that has several names (hard links); `null` for any other. */
  readonly shared: string | null;
}

/** Folders, in the order in which files with several names are counted: those of the clips first. */
const FOLDERS: readonly (readonly [path: string, kindOf: (name: string) => DataKind])[] = [
  ['clips', kindOfClip],
  ['relay', () => 'references'],
  ['library', () => 'library'],
  ['playground', () => 'playground'],
  ['sandbox', () => 'sandbox'],
  ['sandbox/clips', () => 'sandbox'],
  ['tmp', () => 'temporary'],
];

/** Files read at once. */
const AT_ONCE = 64;

function kindOfClip(name: string): DataKind {
  if (name.includes('.poster.')) return 'posters';
  if (name.includes('.last-frame.')) return 'frames';
  if (name.includes('.fitted-')) return 'fitted';
  return name.startsWith('cut-') ? 'cuts' : 'clips';
}

/** Reads the files of the data folder, of all kinds or of some. One that is deleted meanwhile is left out. */
export async function* filesIn(
  { dataDir, database }: DataPlace,
  kinds: readonly DataKind[] = DATA_KINDS,
): AsyncGenerator<DataFile> {
  for (const [folder, kindOf] of FOLDERS) yield* filesOf(join(dataDir, folder), kindOf, kinds);
  if (database === null || !kinds.includes('store')) return;
  const isPart = (name: string): boolean => name.startsWith(basename(database));
  yield* filesOf(dirname(database), () => 'store', kinds, isPart);
}

async function* filesOf(
  folder: string,
  kindOf: (name: string) => DataKind,
  kinds: readonly DataKind[],
  isOurs: (name: string) => boolean = () => true,
): AsyncGenerator<DataFile> {
  const names = (await namesIn(folder)).filter((name) => isOurs(name) && kinds.includes(kindOf(name)));
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE).map((name) => fileAt(folder, name, kindOf(name)));
    for (const file of await Promise.all(some)) if (file !== null) yield file;
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw thrown;
  }
}

async function fileAt(folder: string, name: string, kind: DataKind): Promise<DataFile | null> {
  const path = join(folder, name);
  const found = await stat(path).catch(() => null);
  if (found?.isFile() !== true) return null;
  const { size: bytes, mtimeMs: atMs, dev, ino, nlink } = found;
  return { path, name, kind, bytes, atMs, shared: nlink > 1 ? `${dev}:${ino}` : null };
}

/** Adds up the files of the data folder. A file with several names counts once. */
export async function measure(place: DataPlace): Promise<DataBytes> {
  const bytes = Object.fromEntries(DATA_KINDS.map((kind) => [kind, 0])) as Record<DataKind, number>;
  const counted = new Set<string>();
  for await (const file of filesIn(place)) {
    if (file.shared !== null && counted.has(file.shared)) continue;
    if (file.shared !== null) counted.add(file.shared);
    bytes[file.kind] += file.bytes;
  }
  return bytes;
}

export function totalOf(bytes: DataBytes): number {
  return DATA_KINDS.reduce((total, kind) => total + bytes[kind], 0);
}
