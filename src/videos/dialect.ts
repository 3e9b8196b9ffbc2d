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
  readonly status?: unknown;
  readonly task_status?: unknown;
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
export function readTask(answer: unknown): TaskReading | null {
  const fields = unwrap(answer);
  if (fields === null) return null;
  const { id, task_id, status, task_status, progress } = taskAnswerSchema.parse(fields);
  const named = id ?? task_id;
  const said = status ?? task_status;
  if (named === undefined && said === undefined && progress === undefined) return null;
  const meant = statusOf(said);
  return {
    id: named === undefined || named === '' ? null : String(named),
    status: meant,
    progress: percentOf(progress),
    failure: meant === 'failed' ? failureOf(answer, said) : null,
  };
}

/** Reads an answer as an error: the specification's shape, and every other place a reason was seen in. */
export function readError(answer: unknown): ErrorReading {
  const layers = layersOf(answer);
  const codes = layers.flatMap(codesIn).map(asCode);
  const sentences = layers.flatMap(wordsIn).filter((words) => !SAYS_NOTHING.has(words.toLowerCase()));
  // Where one place holds a bare code and another a sentence, people are helped by the sentence.
  const words = sentences.find((each) => each.includes(' ')) ?? sentences[0] ?? null;
  const success = layers.map(({ success: flag }) => flag).find((flag) => typeof flag === 'boolean');
  return { codes, words, success };
}

/** Whether a refusal or a failure is the service's moderation speaking. */
export function isModeration({ codes, words }: ErrorReading): boolean {
  if (codes.some((code) => MODERATION_CODE.test(code))) return true;
  return says(words, MODERATION_WORDS);
}

/** Whether words speak of something, by how they begin: an answer may be a megabyte of them. */
export function says(words: string | null, pattern: RegExp): boolean {
  return words !== null && pattern.test(words.slice(0, MOST_READ));
}

/** The object inside `answer`, or inside its envelope `{code, data: {…}}`. */
function unwrap(answer: unknown): Fields | null {
  if (!isFields(answer)) return null;
  const inner = answer.data;
  if (!isFields(inner)) return answer;
  const isTask = hasId(answer) && hasStatus(answer);
  return !isTask && (hasId(inner) || hasStatus(inner)) ? inner : answer;
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
  const reading = readError(answer);
  // "expired" and "cancelled" are reasons by themselves.
  const reason = said === undefined || ['failed', 'failure', 'error'].includes(asCode(said)) ? null : said;
  return { code: isModeration(reading) ? 'moderated' : 'generation_failed', words: reading.words ?? reason };
}

/** In characters: what takes long to search is shorter than this. */
const MOST_READ = 1_000;

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
  return fields.id !== undefined || fields.task_id !== undefined;
}

function hasStatus(fields: Fields): boolean {
  return fields.status !== undefined || fields.task_status !== undefined;
}
