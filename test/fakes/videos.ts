import { DailiesError, type ErrorCode, type ErrorDetails } from '#src/errors.ts';
import type { VideoRequest } from '#src/videos/request.ts';
import type {
  Clip,
  CreateOutcome,
  UpstreamId,
  UpstreamTask,
  VideoService,
  VideoServices,
} from '#src/videos/service.ts';

/** Creates an error of the video service, retryable by default. */
export function errorOf(code: ErrorCode, details: Partial<ErrorDetails> = {}): DailiesError {
  return new DailiesError(`asking the fake service: ${code}`, { code, retryable: true, ...details });
}

type Answer<Value> = (signal?: AbortSignal) => Value | Promise<Value>;

/** A video service with scripted results that records its calls. */
export class ScriptedVideos implements VideoService, VideoServices {
  /** Every POST sent, with its idempotency key. */
  readonly posts: { readonly key: string; readonly request: VideoRequest }[] = [];
  readonly polls: UpstreamId[] = [];
  readonly downloads: { readonly id: UpstreamId; readonly path: string }[] = [];
  readonly #creates: Answer<CreateOutcome>[] = [];
  readonly #retrieves: Answer<Omit<UpstreamTask, 'id'>>[] = [];
  readonly #downloads: Answer<Clip>[] = [];

  /** Scripts the results of the next creates, one after the other; afterwards each is accepted as `up-1`, `up-2` … */
  willCreate(...answers: readonly Answer<CreateOutcome>[]): void {
    this.#creates.push(...answers);
  }

  /** Delays every POST until it resolves. */
  onItsWay: Promise<void> = Promise.resolve();

  /** Scripts the results of the next polls; the last one repeats. Initially every task is queued. */
  willRetrieve(...answers: readonly Answer<Omit<UpstreamTask, 'id'>>[]): void {
    this.#retrieves.splice(0, Number.POSITIVE_INFINITY, ...answers);
  }

  /** Scripts the results of the next downloads; the last one repeats. Initially each succeeds. */
  willDownload(...answers: readonly Answer<Clip>[]): void {
    this.#downloads.splice(0, Number.POSITIVE_INFINITY, ...answers);
  }

  /** Scripts the results of all downloads by id. */
  willDownloadBy(answer: (id: UpstreamId, signal?: AbortSignal) => Clip | Promise<Clip>): void {
    this.#downloadBy = answer;
  }

  #downloadBy: ((id: UpstreamId, signal?: AbortSignal) => Clip | Promise<Clip>) | null = null;

  async create(
    request: VideoRequest,
    { key, mayStillSend }: { readonly key: string; readonly mayStillSend: () => boolean },
  ): Promise<CreateOutcome> {
    await this.onItsWay;
    if (!mayStillSend()) return { kind: 'unsent', error: errorOf('timed_out') };
    this.posts.push({ key, request });
    const answer = this.#creates.shift();
    return answer === undefined ? accepted(`up-${this.posts.length}`) : answer();
  }

  async retrieve(id: UpstreamId, signal?: AbortSignal): Promise<UpstreamTask> {
    this.polls.push(id);
    const answer = this.#retrieves.length > 1 ? this.#retrieves.shift() : this.#retrieves[0];
    return { id, ...(answer === undefined ? status('queued', 0) : await answer(signal)) };
  }

  async download(id: UpstreamId, path: string, signal?: AbortSignal): Promise<Clip> {
    this.downloads.push({ id, path });
    if (this.#downloadBy !== null) return this.#downloadBy(id, signal);
    const answer = this.#downloads.length > 1 ? this.#downloads.shift() : this.#downloads[0];
    return answer === undefined ? { path, bytes: 1_000, contentType: 'video/mp4' } : answer(signal);
  }

  /** Scripts the lists of tasks that agree with a request; initially the service has none. */
  listed: (request: VideoRequest, fromMs: number, untilMs: number) => readonly string[] | null = () => null;
  /** It lists its tasks, whatever the list of a request has. */
  hasList = false;

  canList(): boolean {
    return this.hasList;
  }

  /** Its lists say all that is wanted of a task. */
  saysAll = true;
  /** The looks for which it was asked. */
  readonly looks: object[] = [];

  async list(request: VideoRequest, { fromMs, untilMs, look }: Parameters<VideoService['list']>[1]) {
    this.looks.push(look);
    const ids = this.listed(request, fromMs, untilMs);
    return ids === null ? null : ids.map((id) => ({ id: id as UpstreamId, isSame: this.saysAll }));
  }

  /** Ids that the service was asked to cancel. */
  readonly cancels: UpstreamId[] = [];
  /** Its answer to that. */
  onCancel: 'refused' | 'agreed' | 'forgets' = 'refused';

  async cancel(id: UpstreamId, mayStillSend: () => boolean) {
    if (!mayStillSend()) throw errorOf('unavailable');
    this.cancels.push(id);
    return this.onCancel;
  }

  /** Every service is this one. */
  of(): this {
    return this;
  }

  async close(): Promise<void> {}
}

/** Returns an accepted create. */
export function accepted(id: string): CreateOutcome {
  return { kind: 'accepted', task: { id: id as UpstreamId, ...status('queued', 0) } };
}

/** Returns the result of a poll. */
export function status(
  name: UpstreamTask['status'],
  progress: number | null = null,
  failure: UpstreamTask['failure'] = null,
): Omit<UpstreamTask, 'id'> {
  return { status: name, progress, failure };
}

/** Rejects once the signal aborts. */
export function untilAborted(signal?: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(errorOf('timed_out')), { once: true });
  });
}
