import { z } from 'zod';

/** String; a value of any other type counts as absent. */
const text = z.string().optional().catch(undefined);

/** Status: a string, or an object that contains it. */
const status = z.preprocess((value) => {
  if (typeof value !== 'object' || value === null) return value;
  const named = new Map(Object.entries(value));
  return named.get('state') ?? named.get('status') ?? named.get('name');
}, text);

const id = z.union([z.string(), z.number()]).optional().catch(undefined);

/**
 * Task in a response, with all field names in use among services and none required: an unexpected value in one field
 * must not discard the others.
 * @see docs/video-service.md "Dialects"
 */
export const taskAnswerSchema = z.object({
  id,
  task_id: id,
  taskId: id,
  status,
  task_status: status,
  state: status,
  progress: z.union([z.string(), z.number()]).optional().catch(undefined),
});
