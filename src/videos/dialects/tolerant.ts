import { z } from 'zod';
import type { UpstreamStatus, UpstreamTask } from '../service.ts';
import type { ErrorReading, TaskReading } from './dialect.ts';

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
const taskAnswerSchema = z.object({
  id,
  task_id: id,
  taskId: id,
  status,
  task_status: status,
  state: status,
  progress: z.union([z.string(), z.number()]).optional().catch(undefined),
});

/**
 * Maps the statuses of this family of services to those of the specification.
 * End times are ignored: some services set them while the task still runs.
 * @see docs/video-service.md "Dialects"
 */
const STATUSES: Readonly<Record<Exclude<UpstreamStatus, 'unknown'>, readonly string[]>> = {
  queued: ['queued', 'pending', 'submitted', 'created', 'waiting', 'not_start'],
  in_progress: ['in_progress', 'processing', 'running', 'generating', 'initializing'],
  completed: ['completed', 'complete', 'succeeded', 'succeed', 'success', 'finished', 'done'],
  failed: ['failed', 'failure', 'error', 'cancelled', 'canceled', 'expired'],
};
const STATUS_NAMED: ReadonlyMap<string, UpstreamStatus> = new Map(
  (['queued', 'in_progress', 'completed', 'failed'] as const).flatMap((status) =>
    STATUSES[status].map((name) => [name, status] as const),
  ),
);

/** Fields of an answer, its envelope and its error, as far as they are read. */
type Fields = Readonly<
  Partial<
    Record<
      | ('id' | 'task_id' | 'taskId' | 'status' | 'task_status' | 'state' | 'object' | 'task' | 'data' | 'success')
      | ('code' | 'type' | 'error' | 'message' | 'msg' | 'detail' | 'reason' | 'fail_reason' | 'metadata' | 'url'),
      unknown
    >
  >
>;

/** Decodes a response as a task, in any dialect. @returns null where it has no field of a task. */
export function decodeTask(answer: unknown): TaskReading | null {
  const fields = unwrap(answer);
  if (fields === null) return null;
  const { id, task_id, taskId, status, task_status, state, progress } = taskAnswerSchema.parse(fields);
  const named = id ?? task_id ?? taskId;
  const said = status ?? task_status ?? state;
  if (named === undefined && said === undefined && progress === undefined) return null;
  const meant = statusOf(said);
  return {
    id: named === undefined || named === '' ? null : String(named),
    status: meant,
    ...(said === undefined &&
      [fields.status, fields.task_status, fields.state].some(isPresent) && { isUnreadable: true }),
    progress: percentOf(progress),
    failure: meant === 'failed' ? failureOf(answer, said) : null,
  };
}

/**
 * Returns the id in the response to a create, also where the envelope contains nothing else
 * (`{code: "success", data: "…"}`).
 * @returns null where the response has none, or is an error with its own id (such as a request id).
 */
export function acceptedId(answer: unknown): string | null {
  const fields = unwrap(answer);
  if (fields === null) return null;
  const { code, data } = fields;
  if (typeof data === 'string' && isSuccessCode(code)) return /^\S+$/.test(data) ? data : null;
  const isTask = hasStatus(fields) || fields.object !== undefined;
  const hasErrorCode = isPresent(code) && !isSuccessCode(code);
  const isError = hasError(fields) || hasErrorCode || isOutage(decodeError(answer));
  return isTask || !isError ? (decodeTask(answer)?.id ?? null) : null;
}

/**
 * Returns whether a poll response describes a task, rather than an error with the status `failed`: it has the requested
 * id, a video object, progress or a creation time.
 */
export function describesTask(answer: unknown, id: string): boolean {
  const fields = unwrap(answer);
  if (fields === null) return false;
  const hasOurId = [fields.id, fields.task_id, fields.taskId].some((named) => String(named) === id);
  return hasOurId || fields.object === 'video' || TASK_FIELDS.some((name) => isPresent(Reflect.get(fields, name)));
}

/** Decodes a response as an error: the specification's shape, and all other fields observed to hold a reason. */
export function decodeError(answer: unknown): ErrorReading {
  const layers = layersOf(answer);
  const codes = layers.flatMap(codesIn).map(asCode);
  const sentences = layers.flatMap(wordsIn).filter((words) => !PLACEHOLDERS.has(words.toLowerCase()));
  // Prefers a sentence to a bare code, because it helps users more.
  const words = sentences.find((each) => each.includes(' ')) ?? sentences[0] ?? null;
  const success = layers.map(({ success: flag }) => flag).find((flag) => typeof flag === 'boolean');
  return { codes, words, success };
}

/** Returns whether a refusal or failure is a moderation decision, rather than an outage of the moderation. */
export function isModeration({ codes, words }: ErrorReading): boolean {
  if (codes.some((code) => OUTAGE_CODE.test(code)) || says(words, MODERATION_OUTAGE_WORDS)) return false;
  return codes.some((code) => MODERATION_CODE.test(code)) || says(words, MODERATION_WORDS);
}

/** Returns whether an error names an outage of the service, by code or message; that leaves the outcome unknown. */
export function isOutage({ codes, words }: ErrorReading): boolean {
  return codes.some((code) => OUTAGE_CODE.test(code)) || says(words, OUTAGE_WORDS);
}

/** Returns whether the start of a message matches a pattern: a response may be a megabyte of text. */
export function says(words: string | null, pattern: RegExp): boolean {
  return words !== null && pattern.test(words.slice(0, MAX_SEARCHED_LENGTH));
}

/** Returns the object in `answer`, or in its envelope: `{code, data: {…}}`, `{data: [{…}]}`, `{data: {task: {…}}}`. */
function unwrap(answer: unknown): Fields | null {
  if (!isFields(answer)) return null;
  if (hasId(answer) && hasStatus(answer)) return answer;
  const data = Array.isArray(answer.data) && answer.data.length === 1 ? (answer.data[0] as unknown) : answer.data;
  const candidates = [data, isFields(data) ? data.task : undefined, answer.task];
  return candidates.filter(isFields).find((inner) => hasId(inner) || hasStatus(inner)) ?? answer;
}

function statusOf(said: string | undefined): UpstreamStatus {
  if (said === undefined) return 'unknown';
  return STATUS_NAMED.get(asCode(said)) ?? 'unknown';
}

/** Parses a number or a text such as `"50%"` to an integer; clamped, because some services exceed 100. */
export function percentOf(progress: string | number | undefined): number | null {
  const percent = typeof progress === 'string' ? Number.parseFloat(progress) : progress;
  if (percent === undefined || !Number.isFinite(percent)) return null;
  return Math.min(100, Math.max(0, Math.trunc(percent)));
}

function failureOf(answer: unknown, said: string | undefined): UpstreamTask['failure'] {
  const reading = decodeError(answer);
  // The statuses "expired" and "cancelled" are reasons themselves.
  const reason = said === undefined || ['failed', 'failure', 'error'].includes(asCode(said)) ? null : said;
  return { code: isModeration(reading) ? 'moderated' : 'generation_failed', words: reading.words ?? reason };
}

/** Longest text to search, in characters; bounds the time of a match. */
const MAX_SEARCHED_LENGTH = 1_000;

/** Fields that occur only in a task. */
const TASK_FIELDS = ['progress', 'created_at', 'created', 'create_time', 'submit_time'];

const OUTAGE_CODE = /time_?out|timed_out|internal|server_error|gateway|upstream|unavailable|overload/;
const OUTAGE_WORDS = /time[ _-]?out|timed[ _-]out|internal|server[ _]error|gateway|upstream|unavailable|overload/i;

const MODERATION_OUTAGE_WORDS = /time[ _-]?out|timed[ _-]out|unavailable/i;

const MODERATION_CODE = /moderat(ion|ed)|content_(policy|filter|violation)|sensitive|safety|nsfw/;
const MODERATION_WORDS =
  /content.polic|usage.polic|sensitive (word|content)|moderat(ion|ed)|safety (system|filter|polic)|violates? .*(polic|guideline)/i;

/** Deepest nesting searched for a message; real responses nest at most three levels. */
const MAX_MESSAGE_DEPTH = 8;

/** Placeholders that envelopes use in place of a reason. */
const PLACEHOLDERS = new Set(['success', 'ok', 'none', 'null', 'unknown']);

/** Returns the response object and the one in its envelope, inner first. */
function layersOf(answer: unknown): readonly Fields[] {
  if (!isFields(answer)) return [];
  return isFields(answer.data) ? [answer.data, answer] : [answer];
}

function codesIn(fields: Fields): readonly string[] {
  const { error } = fields;
  const inError = isFields(error) ? [error.code, error.type] : [isBare(error) ? error : undefined];
  return [fields.code, ...inError].filter((code): code is string => typeof code === 'string' && code !== '');
}

function wordsIn(fields: Fields): readonly string[] {
  const places = [fields.error, fields.fail_reason, fields.message, fields.detail, fields.msg];
  const metadata = fields.metadata;
  // new-api returns the reason of a failure in the field of the clip's URL.
  if (isFields(metadata) && !isAddress(metadata.url)) places.push(metadata.url);
  return places.map((place) => wordsOf(place)).filter((words) => words !== '');
}

/** @param depth remaining levels to search: the nesting of a response is limited only by its size. */
function wordsOf(value: unknown, depth = MAX_MESSAGE_DEPTH): string {
  if (typeof value === 'string') return value.trim();
  if (depth === 0) return '';
  if (Array.isArray(value)) return wordsOf(value[0], depth - 1);
  if (!isFields(value)) return '';
  return wordsOf(value.message ?? value.msg ?? value.detail ?? value.reason ?? value.code, depth - 1);
}

function asCode(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isBare(value: unknown): value is string {
  return typeof value === 'string' && !value.includes(' ');
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\//i.test(value);
}

function hasId(fields: Fields): boolean {
  return fields.id !== undefined || fields.task_id !== undefined || fields.taskId !== undefined;
}

function hasStatus(fields: Fields): boolean {
  return fields.status !== undefined || fields.task_status !== undefined || fields.state !== undefined;
}

/** Returns whether the `error` field is non-empty: some services send an empty one beside a task. */
function hasError({ error }: Fields): boolean {
  if (isFields(error)) return Object.values(error).some((value) => Boolean(value));
  return Array.isArray(error) ? error.length > 0 : Boolean(error);
}

function isSuccessCode(code: unknown): boolean {
  return ['0', '200', '201', 'success', 'ok', 'created', 'accepted'].includes(asCode(String(code)));
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}
