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

/** Request that creates a task. */
export interface CreateCall {
  /** Path below the base URL, encoded. */
  readonly path: string;
  /** Sent as JSON, or a form as `multipart/form-data`. */
  readonly body: object | FormData;
  /** Default: none besides those of {@link Dialect.authorize}. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Where a clip is: an absolute or relative URL, or the response itself. */
export type ClipDestination = { readonly address: string } | { readonly bytes: Buffer };

/**
 * Everything in which services differ: a service is created, looked at and fetched from in the same three steps. Only the
 * origin of the base URL ever gets its key.
 */
export interface Dialect {
  /** Base URL of the only service that speaks it. Absent: each service names its own. */
  readonly base?: string;
  /** Returns the headers that authenticate a request. Default: a bearer token. */
  readonly authorize?: (key: string) => Readonly<Record<string, string>>;
  /** @param model the model of the request in the catalog. */
  createCall(request: VideoRequest, model: Model): CreateCall;
  /** Paths below the base URL, encoded: an id may contain any character. */
  readonly paths: {
    readonly task: (id: UpstreamId) => string;
    /** What has to be read before a completed task counts as one. Absent: its state says it all. */
    readonly result?: (id: UpstreamId) => string;
    /** The clip, or an answer that names it ({@link clipIn}). */
    readonly content: (id: UpstreamId) => string;
  };
  /** Decodes a response as a task. @returns null where it has no field of a task. */
  decodeTask(answer: unknown): TaskReading | null;
  /** Returns the id in the response to a create; null where it has none, or is an error with an id of its own. */
  acceptedId(answer: unknown): string | null;
  /** Returns whether a poll response describes a task, rather than an error with the status `failed`. */
  describesTask(answer: unknown, id: string): boolean;
  decodeError(answer: unknown): ErrorReading;
  /** Finds the clip in a JSON answer to {@link Dialect.paths}`.content`. Default: in any field that services are known to use. */
  clipIn?(answer: unknown): ClipDestination | undefined;
}
