import type { Keyv } from 'keyv';
import { z } from 'zod';
import { DailiesError } from '../errors.ts';
import type { Task, TaskId } from './task.ts';

/**
 * The fields required of a task's record. Others may be missing in records of earlier versions; later versions may have
 * more fields and states.
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
        }),
      ),
    })
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
  if (found === undefined || isTask(found, id)) return found;
  throw new DailiesError(`reading task ${id}: its record is damaged`, { code: 'record_damaged', retryable: false });
}

/** Reads the records of tasks, in the order of `ids`, without missing or damaged ones. */
export async function readTasks(records: Keyv, ids: readonly string[]): Promise<readonly Task[]> {
  if (ids.length === 0) return [];
  const found = await records.getMany<unknown>([...ids]);
  return found.filter((one, at): one is Task => isTask(one, ids[at]));
}

/** Returns whether a stored value is the record of the task with that id. */
export function isTask(value: unknown, id: string | undefined): value is Task {
  const read = shape.safeParse(value);
  return read.success && read.data.id === id;
}
