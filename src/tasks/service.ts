import type { VideoRequest } from '../videos/request.ts';
import type { UpstreamId } from '../videos/service.ts';
import type { Origin, Person, Price, Task, TaskId } from './task.ts';

/** What is asked for, by whom, for how much. */
export interface Order {
  readonly request: VideoRequest;
  readonly origin: Origin;
  readonly price: Price;
  readonly retryOf?: TaskId;
  /**
   * What makes this order one of a kind: the platform and its interaction's id, or `retry:<task>` for a button. The
   * same key always leads to the same task.
   */
  readonly key: string;
}

/** Whose tasks. Without `user` and `channel`: the whole team's. */
export interface HistoryScope {
  readonly platform: string;
  readonly team: string;
  readonly user?: string;
}

/** What a person decided, and whether the task was still in a state in which it counts. */
export interface Decision {
  readonly done: boolean;
  /** The task as it is now. */
  readonly task: Task;
}

/** Creates each task once, follows it to its end, and keeps what is known of it. */
export interface TaskService {
  /** Claims the order's key and has it sent. @returns the task, and whether this call made it. */
  submit(order: Order): Promise<{ readonly task: Task; readonly isNew: boolean }>;
  get(id: TaskId): Promise<Task | undefined>;
  /** A team's task by id, or by the beginning of its id (at least 4 characters) among its latest 1,000; undefined when none or several fit. */
  find(scope: HistoryScope, id: string): Promise<Task | undefined>;
  /** Newest first. */
  history(scope: HistoryScope, page: { readonly offset: number; readonly limit: number }): Promise<readonly Task[]>;
  /** The tasks of a team, or of one person, that are not ended, newest first, at most `limit`. */
  open(scope: HistoryScope, limit: number): Promise<readonly Task[]>;
  /** Nothing is sent any more if it was not yet; else it is followed quietly. */
  cancel(id: TaskId, by: Person): Promise<Decision>;
  /** Sends an uncertain task again, if it was sent `afterSends` times so far (a second press changes nothing). */
  resubmit(id: TaskId, by: Person, afterSends: number): Promise<Decision>;
  /** Leaves an uncertain task as it is. */
  leave(id: TaskId, by: Person): Promise<Decision>;
  /** Gives an uncertain task the id somebody found in the service's console; it is followed from there. */
  identify(id: TaskId, by: Person, upstreamId: UpstreamId): Promise<Decision>;
  /** Wants the clip of a cancelled task after all. */
  want(id: TaskId, by: Person): Promise<Decision>;
  /** Tries once more to fetch a clip that could not be had. */
  refetch(id: TaskId, by: Person): Promise<Decision>;
}
