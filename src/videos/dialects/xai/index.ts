import { Big } from 'big.js';
import { z } from 'zod';
import { idOf } from '../../model.ts';
import type { UpstreamStatus, UpstreamTask } from '../../service.ts';
import type { Dialect, ErrorReading, TaskReading } from '../dialect.ts';
import { imagesByRole, notTaken } from '../images.ts';
import { decodeError as decodeSharedError, isModeration, percentOf } from '../tolerant.ts';

const PATH = '/v1/videos';

/**
 * The dialect of xAI's Grok Imagine: a request, an id, and a status with the URL of the clip at another origin.
 *
 * Sources: docs.x.ai "Video Generation" (`developers/model-capabilities/video/generation`, copies of autumn 2026) for
 * fields, statuses and error codes; `@ai-sdk/xai` 5.0.12 for `last_frame`, `reference_images`, `reference_audios`,
 * empty 202 responses and `usage`; vercel/ai pull request 13390 (13 March 2026) for the 400 of a moderated clip and its
 * price. Not supported: keyframes, edits, extensions and `storage_options`, except as `parameters`.
 */
export const XAI: Dialect = {
  // Not documented.
  inlineImageBytes: 6 * 1024 ** 2,
  base: 'https://api.x.ai',
  paths: { task: taskPath, content: taskPath },
  // Duration and resolution have defaults that cost money, so they are sent wherever the model takes them.
  createCall(request, model) {
    const { prompt, seconds, aspectRatio, resolution, media } = request;
    const { first, last, references } = imagesByRole(request, model);
    if (media.video.length > 0) throw notTaken(`${model.title} takes no videos.`);
    const body = {
      model: idOf(model),
      prompt,
      duration: seconds,
      ...(aspectRatio === undefined ? {} : { aspect_ratio: aspectRatio }),
      ...(resolution === undefined ? {} : { resolution }),
      ...(model.sound === undefined ? {} : { generate_audio: model.sound }),
      ...(first === undefined ? {} : { image: { url: first } }),
      ...(last === undefined ? {} : { last_frame: { url: last } }),
      ...(references.length === 0 ? {} : { reference_images: references.map((url) => ({ url })) }),
      ...(media.audio.length === 0 ? {} : { reference_audios: media.audio.map((url) => ({ url })) }),
      ...model.parameters,
    };
    return { path: `${PATH}/generations`, body };
  },
  decodeTask,
  acceptedId: (answer) => read(answer)?.request_id ?? null,
  describesTask: (answer) => statusOf(read(answer)) !== 'unknown',
  decodeError,
  // Authentication and model errors are 400s, too; they say nothing about the task.
  isFailedTask: (status, answer) => status === 400 && decodeError(answer).codes.includes(MODERATED),
  clipIn(answer) {
    const address = clipOf(read(answer));
    return address === undefined ? undefined : { address };
  },
};

function taskPath(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}

const STATUSES: ReadonlyMap<string, UpstreamStatus> = new Map([
  ['pending', 'in_progress'],
  ['done', 'completed'],
  ['failed', 'failed'],
  ['expired', 'failed'],
]);

const text = z.string().min(1).optional().catch(undefined);

const answerSchema = z.object({
  request_id: text,
  status: text,
  progress: z.number().optional().catch(undefined),
  video: z
    .object({
      url: text,
      respect_moderation: z.boolean().optional().catch(undefined),
      file_output: z.object({ public_url: text }).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  usage: z
    .object({ cost_in_usd_ticks: z.number().optional().catch(undefined) })
    .optional()
    .catch(undefined),
});
type XaiAnswer = z.infer<typeof answerSchema>;

function read(answer: unknown): XaiAnswer | null {
  return answerSchema.safeParse(answer).data ?? null;
}

function decodeTask(answer: unknown): TaskReading | null {
  // A running task may be an empty 202.
  if (answer === null) return { id: null, status: 'unknown', progress: null, failure: null };
  const found = read(answer);
  if (found === null || (found.request_id ?? found.status ?? found.video) === undefined) return null;
  const failure = failureOf(found, answer);
  return {
    id: found.request_id ?? null,
    status: failure === null ? statusOf(found) : 'failed',
    progress: percentOf(found.progress),
    failure,
    ...costOf(found),
    // Where the clip is cannot be read: it may be there all the same, and is paid for.
    ...(failure === null && statusOf(found) === 'completed' && clipOf(found) === undefined && { isUnreadable: true }),
  };
}

function costOf({ usage }: XaiAnswer): Pick<TaskReading, 'cost'> {
  const ticks = usage?.cost_in_usd_ticks;
  if (ticks === undefined) return {};
  return { cost: { amount: new Big(ticks).div(TICKS_PER_DOLLAR).toFixed(), currency: 'USD' } };
}

/** Returns the status; the first version of the API had none in the response with the clip. */
function statusOf(found: XaiAnswer | null): UpstreamStatus {
  const status = found?.status ?? (found?.video?.url === undefined ? '' : 'done');
  return STATUSES.get(status) ?? 'unknown';
}

function clipOf(found: XaiAnswer | null): string | undefined {
  return found?.video?.url ?? found?.video?.file_output?.public_url;
}

function failureOf(found: XaiAnswer, answer: unknown): UpstreamTask['failure'] {
  const status = statusOf(found);
  if (status === 'completed' && found.video?.respect_moderation === false)
    return { code: 'moderated', words: `The moderation of xAI blocked the clip. ${billOf(found)}`, isBilled: true };
  if (status !== 'failed') return null;
  const reading = decodeError(answer);
  const reason = found.status === 'expired' ? 'The request expired.' : null;
  return { code: isModeration(reading) ? 'moderated' : 'generation_failed', words: reading.words ?? reason };
}

/** Units of `cost_in_usd_ticks` in a dollar. */
const TICKS_PER_DOLLAR = 10_000_000_000;

/** Returns a sentence about the bill of a blocked clip. */
function billOf({ usage }: XaiAnswer): string {
  const ticks = usage?.cost_in_usd_ticks ?? 0;
  return ticks > 0 ? `xAI bills it all the same: ${ticks / TICKS_PER_DOLLAR} USD.` : 'xAI bills it all the same.';
}

const MODERATED = 'content_moderation';

/** Codes of the refusals that xAI tells apart in words only, under codes such as “Client specified an invalid argument”. */
const CODES_OF_WORDS: readonly (readonly [RegExp, string])[] = [
  [/^Incorrect API key\b/, 'invalid_api_key'],
  [/\bused all available credits\b|\bspending limit\b/, 'insufficient_credits'],
  [/\bcontent moderation\b/, MODERATED],
];

/** Decodes the three shapes in use: `{error: {code, message}}`, `{code, error}` and `{error}`, the latter two texts. */
function decodeError(answer: unknown): ErrorReading {
  const reading = decodeSharedError(answer);
  const { words } = reading;
  if (words === null) return reading;
  const named = CODES_OF_WORDS.filter(([pattern]) => pattern.test(words.slice(0, 1_000))).map(([, code]) => code);
  const found = read(answer);
  const isBilled = (found?.usage?.cost_in_usd_ticks ?? 0) > 0 && named.includes(MODERATED);
  const told = isBilled && found !== null ? `${words} ${billOf(found)}` : words;
  const billed = isBilled && found !== null ? { isBilled: true as const, ...costOf(found) } : {};
  return { ...reading, codes: [...named, ...reading.codes], words: told, ...billed };
}
