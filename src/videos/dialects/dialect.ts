import type { Model } from '../model.ts';
import type { VideoRequest } from '../request.ts';
import type { UpstreamId, UpstreamTask } from '../service.ts';

/** Task decoded from a response; `id` is null where the response has none. */
export type TaskReading = Omit<UpstreamTask, 'id'> & { readonly id: string | null; readonly isUnreadable?: true };

/** Error decoded from a response. */
export interface ErrorReading {
  /** Values of all code fields, as `lower_case_words`. */
  readonly codes: readonly string[];
  /** Most informative message. */
  readonly words: string | null;
  /** Success flag of the specification, where it is present. */
  readonly success: boolean | undefined;
}

/** Everything in which services that speak this API may differ. The tolerant readers in `tolerant.ts` are shared. */
export interface Dialect {
  /** Paths below the base URL, encoded: an id may contain any character. */
  readonly paths: {
    readonly create: string;
    readonly task: (id: UpstreamId) => string;
    readonly content: (id: UpstreamId) => string;
  };
  /** Returns the body of a create, sent as JSON. */
  encodeCreate(request: VideoRequest, model: Model): object;
  /** Decodes a response as a task. @returns null where it has no field of a task. */
  decodeTask(answer: unknown): TaskReading | null;
  /** Returns the id in the response to a create; null where it has none, or is an error with an id of its own. */
  acceptedId(answer: unknown): string | null;
  /** Returns whether a poll response describes a task, rather than an error with the status `failed`. */
  describesTask(answer: unknown, id: string): boolean;
  decodeError(answer: unknown): ErrorReading;
}
