import type { DailiesError } from '../errors.ts';
import type { QueueName, WorkQueue } from '../queue/queue.ts';
import { isEnded, isFetching } from '../tasks/state-machine.ts';
import type { Task, TaskState } from '../tasks/task.ts';

/** Where a task's outcome is brought into its chat. */
export function deliverLane({ origin }: Pick<Task, 'origin'>): QueueName {
  return `deliver:${origin.platform}`;
}

/** Where those who are to be told of a task are told. */
export function notifyLane({ origin }: Pick<Task, 'origin'>): QueueName {
  return `notify:${origin.platform}`;
}

/** The states that are left by a step of ours, and the lane whose step that is. */
export const STEPPED_STATES = [
  ['claimed', 'send'],
  ['sending', 'send'],
  ['polling', 'poll'],
  ['cancelled', 'poll'],
  ['completed', 'fetch'],
] as const satisfies readonly (readonly [TaskState, QueueName])[];

/**
 * Has a task go on from where its record says it is, if it goes on by itself. Besides whoever moved it, the one who
 * finds it elsewhere than expected asks for this: a write whose answer was lost has left it without a plan.
 */
export function scheduleNext(queue: WorkQueue, task: Task, atMs: number): void {
  const lane = laneOf(task);
  if (lane !== null) queue.schedule(lane, task.id, atMs);
  if (!task.presented) queue.schedule(deliverLane(task), task.id, atMs);
}

/** The service asked to be left alone for a while: that is meant for every replica, not for one task alone. */
export function pauseIfAsked(queue: WorkQueue, lane: QueueName, { code, retryAfterMs = 0 }: DailiesError): void {
  if (code === 'rate_limited' && retryAfterMs > 0) queue.holdBack(lane, retryAfterMs);
}

function laneOf(task: Task): QueueName | null {
  if (isFetching(task)) return 'fetch';
  if (isEnded(task)) return null;
  return STEPPED_STATES.find(([state]) => state === task.state)?.[1] ?? null;
}
