import { z } from 'zod';
import { ASPECT_RATIOS, RESOLUTIONS } from './request.ts';

const addresses = z.array(z.string().regex(/^https?:\/\//)).min(1);

/**
 * The body of a create, exactly as the specification has it; nothing else leaves.
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

/** Text, where it is text; whatever else a service sends in its place counts as absent. */
const text = z.string().optional().catch(undefined);

/** A status: text, or an object that names it. */
const status = z.preprocess((value) => {
  if (typeof value !== 'object' || value === null) return value;
  const named = new Map(Object.entries(value));
  return named.get('state') ?? named.get('status') ?? named.get('name');
}, text);

const id = z.union([z.string(), z.number()]).optional().catch(undefined);

/**
 * A task as it is answered, with every name the field uses for its parts and nothing required: a surprising value in
 * one field must not lose the others.
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
