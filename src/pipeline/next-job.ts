import type { QueueName, WorkQueue } from '../engine/index.ts';
import type { DailiesError } from '../errors.ts';
import { isEnded, isFetching, rowOf, type Task } from '../tasks/index.ts';
import type { VideoRequest } from '../videos/index.ts';

/** Returns the queue that delivers a task's outcome to its chat. */
export function deliverQueue({ origin }: Pick<Task, 'origin'>): QueueName {
  return `deliver:${origin.platform}`;
}

/** Returns the queue that sends a task's notifications. */
export function notifyQueue({ origin }: Pick<Task, 'origin'>): QueueName {
  return `notify:${origin.platform}`;
}

/** Returns a queue of the service that makes a request; that of the only one has the kind's own name. */
export function serviceQueue(kind: 'send' | 'poll' | 'fetch', { service }: Pick<VideoRequest, 'service'>): QueueName {
  return service === undefined ? kind : `${kind}:${service}`;
}

/**
 * Schedules the next job of a task by the state in its record, if it needs one. Called after a change of state, and
 * also where a task is found in an unexpected state: a write whose response was lost has left it without a job.
 */
export function scheduleNext(queue: WorkQueue, task: Task, atMs: number): void {
  const name = queueNameOf(task);
  if (name !== null) queue.schedule(name, task.id, atMs);
  if (!task.presented) queue.schedule(deliverQueue(task), task.id, atMs);
}

/** Pauses a queue on every replica for the service's `Retry-After`: a rate limit is not about one task alone. */
export function pauseIfAsked(queue: WorkQueue, name: QueueName, { code, retryAfterMs = 0 }: DailiesError): void {
  if (code === 'rate_limited' && retryAfterMs > 0) queue.pause(name, retryAfterMs);
}

function queueNameOf(task: Task): QueueName | null {
  const kind = isFetching(task) ? 'fetch' : isEnded(task) ? undefined : rowOf(task.state).queues[0];
  if (kind === undefined) return null;
  return kind === 'frame' ? kind : serviceQueue(kind, task.request);
}
