import type { HttpReply } from '../../fakes/services/http.ts';
import type { RecordedRequest } from '../../fakes/video-service.ts';

/** Task of the service, in terms that every dialect has words for. */
export interface WireTask {
  /** As the bot keeps it. */
  readonly id: string;
  /** Body of its request. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly model: string;
  readonly createdAtMs: number;
  status: 'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled' | 'unknown';
  /** Percentage. */
  progress: number;
  failure: { readonly code: string; readonly message: string } | null;
  /** What it costs in USD once it has ended, as a decimal string; `null`: the service does not say. */
  readonly cost: string | null;
  /** Where its clip is, at the storage. */
  readonly clipUrl: string;
}

/** What a request asks for. */
export type WireCall =
  | { readonly kind: 'create' }
  /** `page` counts from 1. */
  | { readonly kind: 'list'; readonly page: number; readonly size: number }
  | { readonly kind: 'task' | 'result' | 'content' | 'cancel'; readonly id: string };

/** Errors that the service answers with. */
export type WireError =
  /** The key is not valid. */
  | 'unauthorised'
  /** Too many requests: later. */
  | 'busy'
  /** Something of the service broke in a create. */
  | 'broken'
  /** The prompt is against its rules. */
  | 'refused'
  /** The service is away, in a poll. */
  | 'unavailable'
  /** There is no such task. */
  | 'missing'
  /** There is no clip yet. */
  | 'early';

/** What became of a request to cancel a task. */
export type Withdrawn = 'cancelled' | 'running' | 'ended';

/** Wire format of a service in a dialect, strict where the real service is. */
export interface Wire {
  /** Path of the base URL. */
  readonly basePath: string;
  /** Returns the key of a request; an empty one where it has none in the right place. */
  keyOf(request: RecordedRequest): string;
  /** @returns null for a request that the service does not know. */
  callOf(request: RecordedRequest): WireCall | null;
  /** Returns the service's refusal of a create that its contract does not allow; null where it takes it. */
  problemOf(request: RecordedRequest): HttpReply | null;
  modelOf(request: RecordedRequest): string;
  promptOf(request: RecordedRequest): string;
  /** Returns the id of the task with that number, from 1. */
  idOf(number: number, request: RecordedRequest): string;
  created(task: WireTask): HttpReply;
  state(task: WireTask): HttpReply;
  /** Answers with the result of a task. Absent: its state says it all. */
  result?(task: WireTask): HttpReply;
  /** It says what a task has cost. */
  readonly reportsCost: boolean;
  list?(tasks: readonly WireTask[], total: number): HttpReply;
  /** Absent: the service cannot cancel. */
  readonly withdrawal?: {
    withdrawn(became: Withdrawn): HttpReply;
    /** A task that was cancelled is not known any more. */
    readonly forgets: boolean;
    /** The same call deletes a task that has ended. */
    readonly deletesEnded: boolean;
  };
  refuse(why: WireError): HttpReply;
}

/** Header with which a service asks for a pause. */
export const LATER = { 'retry-after': '1' };

/** Returns the bearer token of a request. */
export function bearerOf({ headers }: RecordedRequest): string {
  return /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
}

/** Returns a field of a JSON body as a text. */
export function fieldOf({ body }: RecordedRequest, name: string): string {
  return String((JSON.parse(body) as Readonly<Record<string, unknown>>)[name]);
}

/** Returns what a path of a task asks for. */
export function pathOf({ path }: RecordedRequest): string {
  return new URL(path, 'http://service').pathname;
}
