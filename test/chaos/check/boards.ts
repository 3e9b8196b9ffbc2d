import { memberIdOf } from '#src/pipeline/task-ids.ts';
import { isContentRemoved } from '#src/tasks/removal.ts';
import { isEnded } from '#src/tasks/state-machine.ts';
import { sinceMs, type Task } from '#src/tasks/task.ts';
import type { MoneyCommit } from '../commits.ts';
import type { History, Violation } from '../history.ts';

/** Most shots of a storyboard that are made at a time. */
const AT_A_TIME = 2;
/** Default of `TASK_DEADLINE_MS`: an overdue shot occupies no place, and a clock may jump by an hour. */
const DEADLINE_MS = 1_800_000;

/**
 * Checks the storyboards: a confirmed one exists or was refused; two shots are made at a time; a task is made again only
 * once a retry before has ended.
 */
export function checkBoards({
  store,
  commits,
  pressed,
  messages,
}: Pick<History, 'store' | 'commits' | 'pressed' | 'messages'>): readonly Violation[] {
  const shown = new Set(messages.map(({ id }) => id));
  const lost = pressed.filter(
    ({ action, status, message, task }) =>
      action === 'order' && status === 202 && !store.tasks.has(task) && (message === null || !shown.has(message)),
  );
  return [
    ...lost.map(({ task }) => ({ name: 'lost task', what: `${task} was confirmed, with no task and no answer` })),
    ...replay(commits),
  ];
}

/**
 * Replays the commits: compares each task with the others at the time of its claim and its submission. Writes count in
 * their order, since one {@link MoneyCommit} may be several commits that write no sum.
 */
function replay(commits: readonly MoneyCommit[]): readonly Violation[] {
  const tasks = new Map<string, Task>();
  let latestMs = 0;
  return commits.flatMap((commit, at) => {
    const written = commit.flatMap((write) => (write.of === 'task' && write.value !== null ? [write.value] : []));
    latestMs = Math.max(latestMs, ...written.map(lastMsOf));
    const found = written.flatMap((task) => {
      const wrong = [...tooEarly(task, tasks, latestMs), ...besideRetry(task, tasks)];
      tasks.set(task.id, task);
      return wrong;
    });
    return found.map(({ name, what }) => ({ name, what: `commit ${at}: ${what}` }));
  });
}

/** Returns the latest time in a task's record. */
function lastMsOf({ createdAtMs, accepted, endedAtMs = 0 }: Task): number {
  return Math.max(createdAtMs, accepted?.atMs ?? 0, endedAtMs);
}

/** A shot is first sent while fewer than two of those before it are unfinished. */
function tooEarly({ id, set, state }: Task, tasks: ReadonlyMap<string, Task>, latestMs: number): readonly Violation[] {
  if (set?.kind !== 'storyboard' || state !== 'sending' || tasks.get(id)?.state !== 'claimed') return [];
  const before = Array.from({ length: set.at - 1 }, (_, index) => tasks.get(memberIdOf(set.id, index + 1)));
  const unfinished = before.filter((task) => task !== undefined && isUnfinished(task, latestMs)).length;
  return unfinished < AT_A_TIME
    ? []
    : [{ name: 'shot before its turn', what: `shot ${set.at} of ${set.id}: ${unfinished} before it are unfinished` }];
}

function isUnfinished(task: Task, nowMs: number): boolean {
  const { state, cancelledBy } = task;
  // Its age is counted from its acceptance, which a clock that was behind dates back.
  if (nowMs - sinceMs(task) > DEADLINE_MS) return false;
  return cancelledBy === undefined && (state === 'claimed' || state === 'sending' || state === 'polling');
}

/** A retry is new while another one of the same task has not ended. */
function besideRetry({ id, retryOf, set }: Task, tasks: ReadonlyMap<string, Task>): readonly Violation[] {
  if (retryOf === undefined || set !== undefined || tasks.has(id)) return [];
  const others = [...tasks.values()].filter(
    (task) => task.retryOf === retryOf && task.set === undefined && !isEnded(task) && !isContentRemoved(task),
  );
  return others.map((other) => ({ name: 'retry beside a retry', what: `${id} of ${retryOf}, beside ${other.id}` }));
}
