import { rm } from 'node:fs/promises';
import { pagesOf, type Store } from '../../engine/index.ts';
import { relayIdIn } from '../../media/index.ts';
import { OPEN_CUTS } from '../../orders/index.ts';
import { OUTBOX, readTasks, stateIndex, statesWhere, type Task } from '../../tasks/index.ts';
import { MEDIA_KINDS } from '../../videos/index.ts';
import { type DataFile, type DataKind, type DataPlace, filesIn } from './data-files.ts';

/** Kinds of files that can be made or fetched again. */
const REBUILDABLE: readonly DataKind[] = ['fitted', 'cuts', 'posters', 'frames', 'references'];
/** Age below which a file may belong to an order or a delivery that is just being made. */
const FRESH_MS = 3_600_000;
const OPEN_STATES = statesWhere(({ isEnded }) => isEnded !== true);

/** Files to free, from where. */
export interface Eviction {
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
export async function evict({
  place,
  store,
  nowMs,
  bytes,
  freeCopies,
}: Eviction): Promise<ReadonlyMap<DataKind, number>> {
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
