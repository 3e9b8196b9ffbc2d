import type { Answer } from '../failures.ts';
import type { Model } from '../model.ts';
import type { VideoRequest } from '../request.ts';
import type { Cost, UpstreamId, UpstreamTask } from '../service.ts';

/** Task decoded from a response; `id` is null where the response has none. */
export type TaskReading = Omit<UpstreamTask, 'id'> & { readonly id: string | null; readonly isUnreadable?: true };

/** Error decoded from a response. */
export interface ErrorReading {
  /** Values of all code fields, as `lower_case_words`. */
  readonly codes: readonly string[];
  /** Most informative message. */
  readonly words: string | null;
  /** The failed task that it describes is billed all the same. Absent: it does not say so. */
  readonly isBilled?: true;
  /** What that has cost. Absent: it does not say so. */
  readonly cost?: Cost;
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

/** Model as a service lists it: an entry of the catalog. Of its name, that it is unique is not required. */
export type ListedModel = Readonly<{ id: string }> &
  Pick<
    Model,
    'name' | 'title' | 'billing' | 'price' | 'currency' | 'seconds' | 'aspectRatios' | 'resolutions' | 'media' | 'sound'
  >;

/** Task as a service lists it, with what it says of the request; `model` is its id there. */
export interface ListedTask
  extends Partial<Pick<VideoRequest, 'model' | 'seconds' | 'aspectRatio' | 'resolution'> & Pick<Model, 'sound'>> {
  readonly id: string;
  readonly createdAtMs: number;
}

/** Decoded list of a service's models. */
export interface ModelListing {
  /** Several of one id where its price depends on resolution, sound or images. */
  readonly models: readonly ListedModel[];
  /** Ids of models of which no entry can be made. */
  readonly unread: readonly string[];
  /** What could not be known, one line each. */
  readonly notes: readonly string[];
}

/** How a service lists its models. The key is sent where there is one. */
export interface ModelList {
  /** Path below the base URL, encoded. */
  readonly path: string;
  /** @returns null for anything but a list. */
  decode(answer: unknown): ModelListing | null;
}

/** What is left to spend with a key; `left` is `null` where the key itself has no limit. */
export interface Credit {
  readonly left: Cost | null;
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
  /** Largest answer about a task, in bytes, where it may contain the clip. Default: 1 MiB. */
  readonly maxAnswerBytes?: number;
  /**
   * Largest image, in bytes, that a create takes as a `data:` URI; those that this machine has are given so. Absent: images
   * are given by their address alone.
   */
  readonly inlineImageBytes?: number;
  /** Largest sum of the images that a create takes so, in bytes; the others are given by their address. Default: four. */
  readonly inlineRequestBytes?: number;
  /** Its list of models with lengths and prices. Absent: it has none, or none is documented. */
  readonly models?: ModelList;
  /** How it says what is left to spend, to the key itself. Absent: it does not, or it is not documented. */
  readonly credit?: { readonly path: string; readonly decode: (answer: unknown) => Credit | null };
  /**
   * @param model the model of the request in the catalog; the images of the request may be `data:` URIs.
   * @throws DailiesError for a request that the service cannot take: it is refused without being sent.
   */
  createCall(request: VideoRequest, model: Model): CreateCall;
  /** Paths below the base URL, encoded: an id may contain any character. */
  readonly paths: {
    readonly task: (id: UpstreamId) => string;
    /**
     * What has to be read before a completed task counts as one. {@link decodeTask} reads it with any status that is not
     * about the request alone; where it finds no task in the JSON of a 400, 413, 415 or 422 for a minute, the task has
     * failed. Absent: its state says it all.
     */
    readonly result?: (id: UpstreamId) => string;
    /** The clip, or an answer that names it ({@link clipIn}). */
    readonly content: (id: UpstreamId) => string;
  };
  /** Its list of tasks. Absent: it has none, or none is documented. */
  readonly list?: {
    /** Returns the path of a page, from 1, below the base URL, encoded; `null` where the tasks of a model are not listed. */
    readonly path: (page: number, model: Model) => string | null;
    /** Returns the tasks of a page, none after the last one; `null` for anything but a list. */
    readonly decode: (answer: unknown) => readonly ListedTask[] | null;
  };
  /** A task that it cancelled is not known any more. Default: it is known as cancelled. */
  readonly forgetsCancelled?: true;
  /** Returns the request that takes a queued task off the queue. Absent: the service cannot, or it is not documented. */
  readonly cancelCall?: (id: UpstreamId) => { readonly method: 'PUT' | 'DELETE'; readonly path: string };
  /** Decodes a response as a task; `null` is an empty one that says `202 Accepted`. @returns null where it has no field of a task. */
  decodeTask(answer: unknown, headers?: Answer['headers']): TaskReading | null;
  /**
   * Returns the id in the response to a create; null where it has none, or is an error with an id of its own.
   * @param call the request that was answered: the id of some services is good only with a part of its path.
   */
  acceptedId(answer: unknown, call: Pick<CreateCall, 'path'>): string | null;
  /** Returns whether a poll response describes a task, rather than an error with the status `failed`. */
  describesTask(answer: unknown, id: string): boolean;
  decodeError(answer: unknown): ErrorReading;
  /** Returns whether an error response to a poll says that the task itself failed. Default: none does. */
  isFailedTask?(status: number, answer: unknown): boolean;
  /** Finds the clip in a JSON answer to {@link Dialect.paths}`.content`. Default: in any field that services are known to use. */
  clipIn?(answer: unknown): ClipDestination | undefined;
}
