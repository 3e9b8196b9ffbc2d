import type { Keyv } from 'keyv';
import { z } from 'zod';
import { DailiesError } from '../errors.ts';
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

/**
 * Reads the record of a task.
 * @throws `record_damaged` where it is not a valid task; the errors of Keyv.
 */
export async function readTask(records: Keyv, id: TaskId): Promise<Task | undefined> {
  const found = await records.get<unknown>(id);
  if (found === undefined) return undefined;
  if (isTask(found, id)) return wholeTask(found);
  throw new DailiesError(`reading task ${id}: its record is damaged`, { code: 'record_damaged', retryable: false });
}

/** Reads the records of tasks, in the order of `ids`, without missing or damaged ones. */
export async function readTasks(records: Keyv, ids: readonly string[]): Promise<readonly Task[]> {
  if (ids.length === 0) return [];
  const found = await records.getMany<unknown>([...ids]);
  return found.filter((one, at): one is Task => isTask(one, ids[at])).map(wholeTask);
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

/** Adds what {@link storedTask} leaves out. */
function wholeTask(task: Task): Task {
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
