import { z } from 'zod';
import { ASPECT_RATIOS, RESOLUTIONS } from './request.ts';

const addresses = z.array(z.string().regex(/^https?:\/\//)).min(1);

/**
 * Request body of a create, exactly as specified: no other fields are sent.
 * Optional fields are absent, never null or empty.
 * @see docs/video-service.md "Creation request"
 */
export const createBodySchema = z.strictObject({
  model: z.string().min(1),
  prompt: z.string().min(1),
  /** Billing duration: 1 for models billed per call, else equal to `video_duration`. */
  duration: z.int().min(1),
  /** Length of the clip in seconds. */
  video_duration: z.int().min(1),
  aspect_ratio: z.enum(ASPECT_RATIOS).optional(),
  resolution: z.enum(RESOLUTIONS).optional(),
  image_urls: addresses.optional(),
  audio_urls: addresses.optional(),
  video_urls: addresses.optional(),
});

export type CreateBody = z.infer<typeof createBodySchema>;

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
