import { existsSync, statfsSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Clock, within } from '../clock.ts';
import type { Config } from '../config/index.ts';
import { type Job, pagesOf, type Store, sqlitePath } from '../engine/index.ts';
import { DailiesError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { relayIdIn } from '../media/index.ts';
import { OPEN_CUTS } from '../orders/index.ts';
import type { TaskObserver } from '../pipeline/index.ts';
import { SingleFlight } from '../single-flight.ts';
import { OUTBOX, readTasks, stateIndex, statesWhere, type Task } from '../tasks/index.ts';
import { MEDIA_KINDS } from '../videos/index.ts';

/** Age at which a measurement is repeated. */
const MEASURE_EVERY_MS = 600_000;
/** The same above {@link NEARLY_FULL} of the limit. */
const MEASURE_NEARLY_FULL_MS = 60_000;
const NEARLY_FULL = 0.8;
/** Age at which it is repeated before an order is refused. */
const BEFORE_REFUSAL_MS = 5_000;
/** Longest time for which an order waits for a measurement: Slack and Discord wait for 3 seconds. */
const ORDER_TIMEOUT_MS = 1_000;
/** Longest time for which the start waits for the first measurement: one of a million files takes longer. */
const START_TIMEOUT_MS = 3_000;
/** Share of the limit down to which files are evicted, so that not every order has to. */
const EVICTED_TO = 0.95;
interface Measurement {
  /** Time, in ms since the epoch. */
  readonly atMs: number;
  readonly bytes: DataBytes;
}

/** Options of {@link DataSpace}. */
interface DataSpaceOptions {
  readonly config: Pick<Config, 'dataDir' | 'storeUrl' | 'maxDataBytes'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  /** As in `OpenStorage`. */
  readonly freeCopies: Eviction['freeCopies'];
}

/**
 * The space that the data folder takes. Each process measures it; what it adds in between is counted. At the limit,
 * files that can be rebuilt are evicted, then orders are refused.
 */
export class DataSpace {
  /** Limit of the data folder in bytes; `null`: none. */
  readonly maxBytes: number | null;
  readonly #options: DataSpaceOptions;
  readonly #place: DataPlace;
  readonly #measuring = new SingleFlight<'folder', void>();
  #measured: Measurement | null = null;
  /** Bytes of the clips that this process stored since the last measurement. */
  #added = 0;
  #isFull = false;

  constructor(options: DataSpaceOptions) {
    const { dataDir, storeUrl } = options.config;
    const database = sqlitePath(storeUrl);
    this.#options = options;
    this.#place = { dataDir: resolve(dataDir), database: database === null ? null : resolve(database) };
    this.maxBytes = dataLimit(options.config);
  }

  /** Measures the folder whenever the last measurement is old enough. */
  readonly job: Job = {
    name: 'data_folder',
    everyMs: 60_000,
    leaseMs: null,
    run: () => this.#look(),
  };

  /** Counts the clips that this process stores and removes. */
  readonly observer: TaskObserver = {
    changed: (task, _event, before) => {
      const [was, is] = [before?.clip, task.clip];
      if ((was === undefined) !== (is === undefined)) this.#added += (is?.bytes ?? 0) - (was?.bytes ?? 0);
    },
  };

  /** Returns the bytes by kind as last measured, with what this process added since; `null` before the first time. */
  usage(): DataBytes | null {
    if (this.#measured === null) return null;
    const { bytes } = this.#measured;
    return { ...bytes, clips: Math.max(0, bytes.clips + this.#added) };
  }

  /** Begins the first measurement, and waits for it, but for seconds at most. */
  start(): Promise<void> {
    return within(this.#options.clock, START_TIMEOUT_MS, this.#look(), undefined);
  }

  /** Waits for a measurement in flight. */
  stop(): Promise<void> {
    return this.#measuring.settled();
  }

  /**
   * Asserts that the data folder is below its limit, evicting what can be rebuilt. What cannot be measured is not full.
   * @throws `data_full`
   */
  async assertRoom(): Promise<void> {
    if (this.maxBytes === null || this.#hasRoom(this.maxBytes)) return;
    await within(this.#options.clock, ORDER_TIMEOUT_MS, this.#refresh(BEFORE_REFUSAL_MS), undefined);
    if (this.#measured === null || this.#hasRoom(this.maxBytes)) return;
    throw new DailiesError(`the data folder is at its limit of ${this.maxBytes} bytes`, {
      code: 'data_full',
      retryable: true,
    });
  }

  #hasRoom(maxBytes: number): boolean {
    const usage = this.usage();
    return usage !== null && totalOf(usage) < maxBytes;
  }

  #look(): Promise<void> {
    const usage = this.usage();
    const isNearlyFull = this.maxBytes !== null && usage !== null && totalOf(usage) > NEARLY_FULL * this.maxBytes;
    return this.#refresh(isNearlyFull ? MEASURE_NEARLY_FULL_MS : MEASURE_EVERY_MS);
  }

  /** Measures the folder unless the last measurement is young enough. Never rejects. */
  #refresh(maxAgeMs: number): Promise<void> {
    const { clock, logger } = this.#options;
    return this.#measuring.run('folder', async () => {
      // One from the future is from before this clock was corrected.
      if (this.#measured !== null && Math.abs(clock.now() - this.#measured.atMs) < maxAgeMs) return;
      try {
        await this.#measureNow();
      } catch (thrown) {
        logger.warn({ event: 'data_not_measured', err: thrown }, 'failed to measure the data folder, retrying');
      }
    });
  }

  async #measureNow(): Promise<void> {
    const { store, clock, logger, freeCopies } = this.#options;
    const added = this.#added;
    const atMs = clock.now();
    let bytes = await measure(this.#place);
    const total = totalOf(bytes);
    const { maxBytes } = this;
    if (maxBytes !== null && total >= maxBytes) {
      const toFree = total - Math.floor(EVICTED_TO * maxBytes);
      const freed = await evict({ place: this.#place, store, nowMs: atMs, bytes: toFree, freeCopies });
      bytes = Object.fromEntries(DATA_KINDS.map((kind) => [kind, bytes[kind] - (freed.get(kind) ?? 0)])) as DataBytes;
      if (freed.size > 0)
        logger.info({ event: 'data_evicted', freed: Object.fromEntries(freed) }, 'deleted files that can be rebuilt');
    }
    // What was added while the folder was read may be missing in the measurement.
    this.#added -= added;
    this.#measured = { atMs, bytes };
    this.#report(maxBytes !== null && totalOf(bytes) >= maxBytes);
  }

  /** Logs the beginning and the end of the time at the limit. */
  #report(isFull: boolean): void {
    const { logger } = this.#options;
    const { maxBytes } = this;
    if (isFull && !this.#isFull)
      logger.error({ event: 'data_full', maxBytes }, 'the data folder is at MAX_DATA_BYTES: no orders are taken');
    if (!isFull && this.#isFull) logger.info({ event: 'data_has_room', maxBytes }, 'the data folder has room again');
    this.#isFull = isFull;
  }
}

/** Share of the disk that the data folder may fill where `MAX_DATA_BYTES` is not set. */
const SHARE_OF_DISK = 0.8;

/**
 * Returns the limit of the data folder in bytes: what `MAX_DATA_BYTES` says, by default 80 % of the size of its disk.
 * `null`: no limit, by `MAX_DATA_BYTES=0` or since the file system tells no size, as some network file systems do.
 */
export function dataLimit({ dataDir, maxDataBytes }: Pick<Config, 'dataDir' | 'maxDataBytes'>): number | null {
  const bytes = maxDataBytes ?? Math.floor(SHARE_OF_DISK * diskBytes(resolve(dataDir)));
  return bytes === 0 ? null : bytes;
}

/** Returns the size of the disk in bytes; 0: unknown. A folder that is not there yet is created on the disk around it. */
function diskBytes(folder: string): number {
  if (!existsSync(folder) && dirname(folder) !== folder) return diskBytes(dirname(folder));
  try {
    const { blocks, bsize } = statfsSync(folder);
    return blocks * bsize;
  } catch {
    return 0;
  }
}

/** Kinds of files that can be made or fetched again. */
const REBUILDABLE: readonly DataKind[] = ['fitted', 'cuts', 'posters', 'frames', 'references'];
/** Age below which a file may belong to an order or a delivery that is just being made. */
const FRESH_MS = 3_600_000;
const OPEN_STATES = statesWhere(({ isEnded }) => isEnded !== true);

/** Files to free, from where. */
interface Eviction {
  readonly place: DataPlace;
  readonly store: Store;
  readonly nowMs: number;
  /** Bytes to free, at least. */
  readonly bytes: number;
  /** Deletes local copies of clips that are in a bucket. @returns the bytes of them. */
  readonly freeCopies: (bytes: number) => Promise<number>;
}

/**
 * Deletes files that can be rebuilt: first local copies of clips that are in a bucket, which are there again in a
 * moment; then, oldest first, copies of clips within an upload limit, cuts, pictures, and reference files. What belongs to a
 * task or cut that is open or not delivered stays, as does what is less than an hour old.
 * @returns the bytes that were freed, by kind.
 */
async function evict({ place, store, nowMs, bytes, freeCopies }: Eviction): Promise<ReadonlyMap<DataKind, number>> {
  const freed = new Map<DataKind, number>();
  const copies = await freeCopies(bytes);
  if (copies > 0) freed.set('clips', copies);
  if (copies >= bytes) return freed;
  const files = await Array.fromAsync(filesIn(place, REBUILDABLE));
  const needed = await neededBy(store);
  const oldestFirst = files
    .filter((file) => nowMs - file.atMs > FRESH_MS && !needed.has(ownerOf(file)))
    .toSorted((one, other) => one.atMs - other.atMs);
  let left = bytes - copies;
  for (const file of oldestFirst) {
    if (left <= 0) break;
    await rm(file.path, { force: true });
    left -= file.bytes;
    freed.set(file.kind, (freed.get(file.kind) ?? 0) + file.bytes);
  }
  return freed;
}

/** Returns the task or cut of a file made from a clip, or the id of a reference file. */
function ownerOf({ name }: DataFile): string {
  return name.slice(0, name.indexOf('.') < 0 ? undefined : name.indexOf('.'));
}

/** Returns the ids of the tasks and cuts that are open or not delivered, and of the reference files that they name. */
async function neededBy(store: Store): Promise<ReadonlySet<string>> {
  const needed = new Set<string>();
  for (const index of [...OPEN_STATES.map(stateIndex), OUTBOX]) {
    for await (const page of pagesOf(store, index)) {
      const tasks = await readTasks(
        store,
        page.map(({ member }) => member),
      );
      for (const task of tasks) for (const id of [task.id, ...referencesOf(task)]) needed.add(id);
    }
  }
  for await (const page of pagesOf(store, OPEN_CUTS)) for (const { member } of page) needed.add(member);
  return needed;
}

function referencesOf({ request: { media } }: Task): readonly string[] {
  return MEDIA_KINDS.flatMap((kind) => media[kind].flatMap((url) => relayIdIn(url) ?? []));
}

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
type DataKind = (typeof DATA_KINDS)[number];

export type DataBytes = Readonly<Record<DataKind, number>>;

interface DataPlace {
  /** Absolute path. */
  readonly dataDir: string;
  /** Absolute path of the SQLite database; `null` with Redis. */
  readonly database: string | null;
}

interface DataFile {
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
async function* filesIn(
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
async function measure(place: DataPlace): Promise<DataBytes> {
  const bytes = Object.fromEntries(DATA_KINDS.map((kind) => [kind, 0])) as Record<DataKind, number>;
  const counted = new Set<string>();
  for await (const file of filesIn(place)) {
    if (file.shared !== null && counted.has(file.shared)) continue;
    if (file.shared !== null) counted.add(file.shared);
    bytes[file.kind] += file.bytes;
  }
  return bytes;
}

function totalOf(bytes: DataBytes): number {
  return DATA_KINDS.reduce((total, kind) => total + bytes[kind], 0);
}
