import { taskAnswerSchema } from './schema.ts';
import type { UpstreamStatus, UpstreamTask } from './service.ts';

/**
 * What the services of this family say, in the words of the specification.
 * Nothing is decided by an end time: some fill it in while the task still runs.
 * @see docs/video-service.md "Dialects"
 */
const STATUSES: ReadonlyMap<string, UpstreamStatus> = new Map([
  ['queued', 'queued'],
  ['pending', 'queued'],
  ['submitted', 'queued'],
  ['created', 'queued'],
  ['waiting', 'queued'],
  ['not_start', 'queued'],
  ['in_progress', 'in_progress'],
  ['processing', 'in_progress'],
  ['running', 'in_progress'],
  ['generating', 'in_progress'],
  ['initializing', 'in_progress'],
  ['completed', 'completed'],
  ['complete', 'completed'],
  ['succeeded', 'completed'],
  ['succeed', 'completed'],
  ['success', 'completed'],
  ['finished', 'completed'],
  ['done', 'completed'],
  ['failed', 'failed'],
  ['failure', 'failed'],
  ['error', 'failed'],
  ['cancelled', 'failed'],
  ['canceled', 'failed'],
  ['expired', 'failed'],
]);

/** An answer read as a task; `id` is null where the answer has none. */
export type TaskReading = Omit<UpstreamTask, 'id'> & { readonly id: string | null };

/** An answer read as an error. */
export interface ErrorReading {
  /** Whatever stands where codes stand, as `lower_case_words`. */
  readonly codes: readonly string[];
  /** The most telling sentence. */
  readonly words: string | null;
  /** The specification's success flag, where it is there. */
  readonly success: boolean | undefined;
}

/** The places in an object of a service that are looked at. */
interface Fields {
  readonly id?: unknown;
  readonly task_id?: unknown;
  readonly taskId?: unknown;
  readonly status?: unknown;
  readonly task_status?: unknown;
  readonly state?: unknown;
  readonly object?: unknown;
  readonly task?: unknown;
  readonly data?: unknown;
  readonly success?: unknown;
  readonly code?: unknown;
  readonly type?: unknown;
  readonly error?: unknown;
  readonly message?: unknown;
  readonly msg?: unknown;
  readonly detail?: unknown;
  readonly reason?: unknown;
  readonly fail_reason?: unknown;
  readonly metadata?: unknown;
  readonly url?: unknown;
}

/** Reads an answer as a task, in any dialect. @returns null where nothing in it is a task's. */
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
    progress: percentOf(progress),
    failure: meant === 'failed' ? failureOf(answer, said) : null,
  };
}

/**
 * Reads the id in the answer to a create, also where the envelope holds nothing else (`{code: "success", data: "…"}`).
 * @returns null where the answer has none, or is an error with an id of its own (such as a request id).
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
 * Checks that an answer to a poll describes a task and is not merely an error that calls itself `failed`: it has our id, a
 * video object, progress or a time of creation.
 */
export function describesTask(answer: unknown, id: string): boolean {
  const fields = unwrap(answer);
  if (fields === null) return false;
  const hasOurId = [fields.id, fields.task_id, fields.taskId].some((named) => String(named) === id);
  return hasOurId || fields.object === 'video' || TASK_FIELDS.some((name) => isPresent(Reflect.get(fields, name)));
}

/** Reads an answer as an error: the specification's shape, and every other place a reason was seen in. */
export function decodeError(answer: unknown): ErrorReading {
  const layers = layersOf(answer);
  const codes = layers.flatMap(codesIn).map(asCode);
  const sentences = layers.flatMap(wordsIn).filter((words) => !SAYS_NOTHING.has(words.toLowerCase()));
  // Where one place holds a bare code and another a sentence, people are helped by the sentence.
  const words = sentences.find((each) => each.includes(' ')) ?? sentences[0] ?? null;
  const success = layers.map(({ success: flag }) => flag).find((flag) => typeof flag === 'boolean');
  return { codes, words, success };
}

/** Whether a refusal or a failure is the service's moderation speaking, and not its moderation being out of order. */
export function isModeration({ codes, words }: ErrorReading): boolean {
  if (codes.some((code) => OUTAGE_CODE.test(code)) || says(words, BROKEN_DOWN_WORDS)) return false;
  return codes.some((code) => MODERATION_CODE.test(code)) || says(words, MODERATION_WORDS);
}

/** Whether the service says, by code or in words, that it broke down half-way, which proves nothing. */
export function isOutage({ codes, words }: ErrorReading): boolean {
  return codes.some((code) => OUTAGE_CODE.test(code)) || says(words, OUTAGE_WORDS);
}

/** Whether words speak of something, by how they begin: an answer may be a megabyte of them. */
export function says(words: string | null, pattern: RegExp): boolean {
  return words !== null && pattern.test(words.slice(0, MOST_READ));
}

/** The object inside `answer`, or inside its envelope: `{code, data: {…}}`, `{data: [{…}]}`, `{data: {task: {…}}}`. */
function unwrap(answer: unknown): Fields | null {
  if (!isFields(answer)) return null;
  if (hasId(answer) && hasStatus(answer)) return answer;
  const data = Array.isArray(answer.data) && answer.data.length === 1 ? (answer.data[0] as unknown) : answer.data;
  const candidates = [data, isFields(data) ? data.task : undefined, answer.task];
  return candidates.filter(isFields).find((inner) => hasId(inner) || hasStatus(inner)) ?? answer;
}

function statusOf(said: string | undefined): UpstreamStatus {
  if (said === undefined) return 'unknown';
  return STATUSES.get(said) ?? STATUSES.get(asCode(said)) ?? 'unknown';
}

/** An integer, `"50%"` or nothing; clamped, because some overshoot. */
function percentOf(progress: string | number | undefined): number | null {
  const percent = typeof progress === 'string' ? Number.parseFloat(progress) : progress;
  if (percent === undefined || !Number.isFinite(percent)) return null;
  return Math.min(100, Math.max(0, Math.trunc(percent)));
}

function failureOf(answer: unknown, said: string | undefined): UpstreamTask['failure'] {
  const reading = decodeError(answer);
  // "expired" and "cancelled" are reasons by themselves.
  const reason = said === undefined || ['failed', 'failure', 'error'].includes(asCode(said)) ? null : said;
  return { code: isModeration(reading) ? 'moderated' : 'generation_failed', words: reading.words ?? reason };
}

/** In characters: what takes long to search is shorter than this. */
const MOST_READ = 1_000;

/** Fields that only the description of a task has. */
const TASK_FIELDS = ['progress', 'created_at', 'created', 'create_time', 'submit_time'];

const OUTAGE_CODE = /time_?out|timed_out|internal|server_error|gateway|upstream|unavailable|overload/;
const OUTAGE_WORDS = /time[ _-]?out|timed[ _-]out|internal|server[ _]error|gateway|upstream|unavailable|overload/i;

const BROKEN_DOWN_WORDS = /time[ _-]?out|timed[ _-]out|unavailable/i;

const MODERATION_CODE = /moderat(ion|ed)|content_(policy|filter|violation)|sensitive|safety|nsfw/;
const MODERATION_WORDS =
  /content.polic|usage.polic|sensitive (word|content)|moderat(ion|ed)|safety (system|filter|polic)|violates? .*(polic|guideline)/i;

/** In life, words stand three layers down at the most. */
const DEEPEST_WORDS = 8;

/** What envelopes put where a reason would stand. */
const SAYS_NOTHING = new Set(['success', 'ok', 'none', 'null', 'unknown']);

/** The object that is the answer, and the one in its envelope, inner first. */
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
  // new-api keeps the reason of a failure where the address of the clip would be.
  if (isFields(metadata) && !isAddress(metadata.url)) places.push(metadata.url);
  return places.map((place) => wordsOf(place)).filter((words) => words !== '');
}

/** @param depth how many layers further words are looked for: an answer may have as many as it has bytes. */
function wordsOf(value: unknown, depth = DEEPEST_WORDS): string {
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

/** Whether an `error` member holds anything: some services send it empty beside a task. */
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
