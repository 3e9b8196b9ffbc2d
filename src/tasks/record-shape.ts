import { z } from 'zod';
import { collection, type IndexEntry, type Store } from '../engine/index.ts';
import { DailiesError } from '../errors.ts';
import { isoOf } from '../period.ts';
import { WRITTEN } from './forgotten.ts';
import { isContentRemoved } from './removal.ts';
import type { Task, TaskId } from './task.ts';

const setPlace = z.object({ id: z.string(), kind: z.string(), at: z.number(), of: z.number() });

/**
 * The fields required of a task's record. Later versions may have more fields and states.
 */
const shape = z.object({
  id: z.string(),
  revision: z.number(),
  state: z.string(),
  request: z.object({ model: z.string(), prompt: z.string() }),
  origin: z.object({
    platform: z.string(),
    team: z.string(),
    channel: z.string(),
    user: z.object({ id: z.string(), name: z.string() }),
    address: z.object({}),
  }),
  price: z.object({ amount: z.string().regex(/^\d+(\.\d+)?$/), currency: z.string() }),
  money: z
    .object({
      sends: z.array(
        z.object({
          period: z.string().regex(/^\d{4}-\d\d$/),
          amount: z.string().regex(/^\d+(\.\d{1,6})?$/),
          currency: z.string(),
          counted: z.enum(['held', 'settled', 'doubted']).optional(),
          granted: z.record(z.string(), z.string().regex(/^\d+(\.\d{1,6})?$/)).optional(),
        }),
      ),
    })
    .optional(),
  set: setPlace.optional(),
  takeOf: setPlace.optional(),
  version: z.object({ root: z.string(), number: z.number() }).optional(),
  review: z
    .array(
      z.object({
        kind: z.string(),
        by: z.object({ id: z.string(), name: z.string() }),
        atMs: z.number(),
        note: z.object({ text: z.string(), atSeconds: z.number().optional() }).optional(),
      }),
    )
    .optional(),
  createdAtMs: z.number(),
  sends: z.number(),
  unsentTries: z.number(),
  clip: z.object({ path: z.string(), bytes: z.number(), contentType: z.string() }).optional(),
});

/** One record for each interaction that ordered something. Read it by {@link readTask}, which checks its shape. */
export const taskRecords = collection<TaskId, Task>({
  name: 'tasks',
  holds:
    'one record for each order: prompt, settings, addresses of reference media, id and name of the requester, channel, the platform’s id of the interaction and, on Discord, its token (of use for 15 minutes); who cancelled, approved or denied it, and the reason typed with a denial; who signed its clip off or requested changes, and their notes; amounts, state, times, id at the service, path of the clip',
  kept: 'kept; of a removed task, amounts, state, ids, times and requester',
  personal: {
    byOwner: true,
    export: (task, { platform, team, person }, id) => {
      if (!isTask(task, id) || task.origin.platform !== platform || task.origin.team !== team) return [];
      return Object.values(WRITTEN)
        .flatMap(({ decisions }) => decisions(task))
        .filter(({ by }) => by.id === person.id)
        .map(({ by: _by, atMs, ...line }) => ({ ...line, clip: id, at: isoOf(atMs) }));
    },
  },
});

/**
 * Reads the record of a task.
 * @throws `record_damaged` where it is not a valid task; the errors of Keyv.
 */
export async function readTask(store: Pick<Store, 'keyv'>, id: TaskId): Promise<Task | undefined> {
  const found: unknown = await taskRecords.get(store, id);
  if (found === undefined) return undefined;
  if (isTask(found, id)) return wholeTask(found);
  throw new DailiesError(`reading task ${id}: its record is damaged`, { code: 'record_damaged', retryable: false });
}

/** Reads the records of tasks, in the order of `ids`, without missing or damaged ones. */
export async function readTasks(store: Pick<Store, 'keyv'>, ids: readonly string[]): Promise<readonly Task[]> {
  const found: readonly unknown[] = await taskRecords.getMany(store, ids as readonly TaskId[]);
  return found.filter((one, at): one is Task => isTask(one, ids[at])).map(wholeTask);
}

/** Reads the tasks that entries of an index name, as {@link readTasks} does. */
export function readEntries(
  store: Pick<Store, 'keyv'>,
  entries: readonly Pick<IndexEntry, 'member'>[],
): Promise<readonly Task[]> {
  return readTasks(
    store,
    entries.map(({ member }) => member),
  );
}

const NO_MEDIA: Task['request']['media'] = { image: [], audio: [], video: [] };

/**
 * Returns the record of a task as it is stored: one without content leaves out what is empty then, since such records
 * are kept forever. {@link readTask} adds it again.
 */
export function storedTask(task: Task): object {
  const { removal } = task;
  if (removal === undefined || removal.hasContent) return task;
  const { reason, atMs } = removal;
  const { media: _media, ...request } = task.request;
  const { interaction: _interaction, ...origin } = task.origin;
  return { ...task, request, origin, removal: { reason, atMs } };
}

/** Adds what {@link storedTask} leaves out, and what older records name differently. */
function wholeTask({ acceptedAtMs: atMs, ...record }: Task & { readonly acceptedAtMs?: number }): Task {
  const task: Task = atMs === undefined ? record : { accepted: { atMs }, ...record };
  const { removal } = task;
  if (removal === undefined || !isContentRemoved(task)) return task;
  return {
    ...task,
    request: { ...task.request, media: NO_MEDIA },
    origin: { ...task.origin, interaction: '' },
    removal: { ...removal, hasContent: false },
  };
}

/** Returns whether a stored value is the record of the task with that id. */
export function isTask(value: unknown, id: string | undefined): value is Task {
  const read = shape.safeParse(value);
  return read.success && read.data.id === id;
}
