import { idOf } from '../../model.ts';
import type { UpstreamTask } from '../../service.ts';
import type { Dialect, TaskReading } from '../dialect.ts';
import { isModeration } from '../tolerant.ts';
import { decodeError } from './errors.ts';
import { INTERACTIONS } from './interactions.ts';
import { OPERATION, OPERATIONS } from './operations.ts';
import type { Answer, Reading } from './reading.ts';

/** The APIs of models that the Interactions API does not serve, by their ids. */
const READINGS: readonly (readonly [RegExp, Reading])[] = [[/^veo-/, OPERATIONS]];

/**
 * The dialect of the Gemini API, with two readings: Veo models are long-running operations, all others are background
 * work of the Interactions API. A stored id is the name of an operation, or else the id of an interaction.
 *
 * Sources: ai.google.dev "Gemini Omni" (a copy of September 2026) and "Generate videos with Veo" (as quoted on 19
 * September 2026), `@ai-sdk/google` 4.0.121, TanStack/ai issue 886 (background work tried live, 1 July 2026) and
 * Bike4Mind/bike4mind `GeminiOmniVideoProvider.ts` (October 2026: errors, statuses, duration). Not supported: Google
 * Cloud (other origins, OAuth, buckets), edits and extensions.
 */
export const GOOGLE: Dialect = {
  // Of the 20 MB of a request, for two frames in base64.
  inlineImageBytes: 6 * 1024 ** 2,
  inlineRequestBytes: 12 * 1024 ** 2,
  base: 'https://generativelanguage.googleapis.com',
  authorize: (key) => ({ 'x-goog-api-key': key }),
  paths: { task: taskPath, content: taskPath },
  // The answer about a finished interaction contains the clip, as base64: the same limit as that of a download.
  maxAnswerBytes: 32 * 1024 * 1024,
  createCall(request, model) {
    const [, reading = INTERACTIONS] = READINGS.find(([ids]) => ids.test(idOf(model))) ?? [];
    return reading.createCall(request, model);
  },
  decodeTask,
  acceptedId: (answer) => read(answer)?.id ?? null,
  describesTask: (answer) => read(answer) !== null,
  decodeError,
  clipIn: (answer) => read(answer)?.clip,
};

function taskPath(id: string): string {
  return (OPERATION.test(id) ? OPERATIONS : INTERACTIONS).taskPath(id);
}

function read(answer: unknown): Answer | null {
  return OPERATIONS.read(answer) ?? INTERACTIONS.read(answer);
}

function decodeTask(answer: unknown): TaskReading | null {
  const found = read(answer);
  if (found === null) return null;
  const { id, status, clip } = found;
  const hasNoClip = status === 'completed' && clip === undefined;
  // The shape of the answer may be another one, and the clip be there, which is paid for.
  if (hasNoClip && !hasReason(found, answer)) return { id, status, progress: null, failure: null, isUnreadable: true };
  const isFailed = status === 'failed' || hasNoClip;
  return {
    id,
    status: isFailed ? 'failed' : status,
    progress: null,
    failure: isFailed ? failureOf(found, answer) : null,
  };
}

/** Returns whether a completed task says why it has no clip. */
function hasReason({ words, isFiltered }: Answer, answer: unknown): boolean {
  const error = decodeError(answer);
  return words !== undefined || isFiltered !== undefined || error.words !== null || error.codes.length > 0;
}

function failureOf({ words, isFiltered = false }: Answer, answer: unknown): UpstreamTask['failure'] {
  const error = decodeError(answer);
  const reading = { ...error, words: error.words ?? words ?? null };
  const isModerated = isFiltered || error.codes.includes('safety') || isModeration(reading);
  return {
    code: isModerated ? 'moderated' : 'generation_failed',
    words: reading.words ?? 'Google ended the task without a clip and without a reason.',
  };
}
