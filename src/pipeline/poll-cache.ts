import type { WorkQueue } from '../queue/queue.ts';
import { isFollowedQuietly } from '../tasks/state-machine.ts';
import { sinceMs, type Task, type TaskId } from '../tasks/task.ts';
import type { UpstreamId } from '../videos/service.ts';
import { scheduleNext } from './next-job.ts';
import type { TaskObserver, TaskRepository } from './repository.ts';

/** What a poll needs to know of a task: some hundred bytes where the record has a thousand. */
export interface Followed {
  readonly id: TaskId;
  readonly state: Task['state'];
  readonly upstreamId: UpstreamId;
  /** When the service took it. */
  readonly sinceMs: number;
}

/** The tasks that are being polled. */
export interface PollCache {
  /** What to poll for an id; `undefined` when it is not to be polled: its own lane is planned then. */
  find(id: TaskId): Promise<Followed | undefined>;
  /** Told of every change of a task. */
  readonly taskObserver: TaskObserver;
}

/** Collaborators of {@link createPollCache}. */
export interface PollCacheOptions {
  readonly repository: TaskRepository;
  readonly queue: WorkQueue;
  readonly nowMs: () => number;
  /** Whether nobody else writes the store: what was read stays true until this process changes it. */
  readonly exclusive: boolean;
}

/**
 * Where the store is this process's own, a record is read once, not at every poll. A poll for what is no longer so does
 * no harm: it only asks, and what the answer means is judged by the record.
 */
export function createPollCache({ repository, queue, nowMs, exclusive }: PollCacheOptions): PollCache {
  const known = new Map<TaskId, Followed>();
  return {
    async find(id) {
      const remembered = known.get(id);
      if (remembered !== undefined) return remembered;
      const task = await repository.get(id);
      if (task === undefined) return undefined;
      const { state, upstreamId } = task;
      if (upstreamId === undefined || !(state === 'polling' || isFollowedQuietly(task))) {
        scheduleNext(queue, task, nowMs());
        return undefined;
      }
      const followed = { id, state, upstreamId, sinceMs: sinceMs(task) };
      if (exclusive) known.set(id, followed);
      return followed;
    },
    taskObserver: {
      changed(task) {
        known.delete(task.id);
      },
    },
  };
}
