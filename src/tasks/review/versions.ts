import type { IndexBound, IndexWrite, Store } from '../../engine/index.ts';
import type { Task, TaskId } from '../task.ts';

/** Place of a retry among the versions of a clip: v1 is the root, the first task; its retries, and theirs, follow. */
export interface Version {
  /** The task that every version repeats, directly or not. */
  readonly root: TaskId;
  /** From 2, in the order of the claims; it never changes, also where other versions are removed. */
  readonly number: number;
}

/** Names the index of the versions below a root; scores are their numbers. Entries are never removed. */
function versionsIndex(root: TaskId): string {
  return `versions:${root}`;
}

/** Returns the number of a task's version. */
export function versionOf({ version }: Pick<Task, 'version'>): number {
  return version?.number ?? 1;
}

/** Returns the root of a task's versions, which may be the task itself. */
export function rootOf({ id, version }: Pick<Task, 'id' | 'version'>): TaskId {
  return version?.root ?? id;
}

interface Numbered {
  readonly tasks: readonly Task[];
  /** Rejects the commit where another version was claimed meanwhile: then the numbers are taken. */
  readonly bounds: readonly IndexBound[];
}

/** Numbers the tasks of one order below a root; nothing but the tasks where they are no retries (`null`). */
export async function numbered(
  store: Pick<Store, 'count'>,
  tasks: readonly Task[],
  root: TaskId | null,
): Promise<Numbered> {
  if (root === null) return { tasks, bounds: [] };
  const index = versionsIndex(root);
  const count = await store.count(index);
  return {
    tasks: tasks.map((task, at) => ({ ...task, version: { root, number: count + 2 + at } })),
    bounds: [{ index, below: count + 1 }],
  };
}

/** Returns the entry of a new task in the index of its root. */
export function versionWrites({ id, version }: Pick<Task, 'id' | 'version'>): readonly IndexWrite[] {
  return version === undefined ? [] : [{ index: versionsIndex(version.root), member: id, score: version.number }];
}

/** Newest versions that are looked at. */
const MAX_NEWER = 50;

/** Returns the ids of the versions after a task's, newest first. */
export async function newerVersions(store: Pick<Store, 'scan'>, task: Task): Promise<readonly TaskId[]> {
  const entries = await store.scan(versionsIndex(rootOf(task)), { limit: MAX_NEWER });
  return entries.filter(({ score }) => score > versionOf(task)).map(({ member }) => member as TaskId);
}
