import type { IndexBound, IndexWrite, Store } from '../../store/store.ts';
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

/** Returns the number of a task's version; `null` for a retry that an earlier release claimed without one. */
export function versionOf({ version, retryOf }: Pick<Task, 'version' | 'retryOf'>): number | null {
  if (version !== undefined) return version.number;
  return retryOf === undefined ? 1 : null;
}

/** Root of a task, and the retries without a number between them. */
export interface Lineage {
  readonly root: TaskId;
  /** Retries of an earlier release from below the root down to the task, oldest first. */
  readonly unnumbered: readonly TaskId[];
}

/** Longest chain of retries without a number that is followed. */
const MAX_CHAIN = 100;

/** Finds the root of a task, by its number or else by the chain of retries. */
export async function lineageOf(get: (id: TaskId) => Promise<Task | undefined>, id: TaskId): Promise<Lineage> {
  const unnumbered: TaskId[] = [];
  let at = id;
  for (;;) {
    const task = await get(at);
    if (task?.version !== undefined) return { root: task.version.root, unnumbered };
    if (task?.retryOf === undefined || unnumbered.length === MAX_CHAIN) return { root: at, unnumbered };
    unnumbered.unshift(at);
    at = task.retryOf;
  }
}

/** Tasks with their numbers, and what the commit of their claim needs besides. */
export interface Numbered {
  readonly tasks: readonly Task[];
  /** Rejects the commit where another version was claimed meanwhile: then the numbers are taken. */
  readonly bounds: readonly IndexBound[];
  /** Enters earlier versions that have no number. */
  readonly index: readonly IndexWrite[];
}

/** Numbers the tasks of one order; nothing but the tasks where they are no retries (`null`). */
export async function numbered(
  store: Pick<Store, 'count'>,
  tasks: readonly Task[],
  lineage: Lineage | null,
): Promise<Numbered> {
  if (lineage === null) return { tasks, bounds: [], index: [] };
  const { root, unnumbered } = lineage;
  const index = versionsIndex(root);
  const count = await store.count(index);
  // With an entry, the first numbered retry has entered the earlier ones.
  const earlier = count === 0 ? unnumbered : [];
  const first = count + earlier.length + 2;
  return {
    tasks: tasks.map((task, at) => ({ ...task, version: { root, number: first + at } })),
    bounds: [{ index, below: count + 1 }],
    index: earlier.map((member, at) => ({ index, member, score: at + 2 })),
  };
}

/** Returns the entry of a new task in the index of its root. */
export function versionWrites({ id, version }: Pick<Task, 'id' | 'version'>): readonly IndexWrite[] {
  return version === undefined ? [] : [{ index: versionsIndex(version.root), member: id, score: version.number }];
}

/** Newest versions that are looked at. */
const MAX_NEWER = 50;

/** Returns the ids of the versions after a task's, newest first. */
export async function newerVersions(
  store: Pick<Store, 'scan'>,
  get: (id: TaskId) => Promise<Task | undefined>,
  task: Task,
): Promise<readonly TaskId[]> {
  const { root } = task.version ?? (await lineageOf(get, task.id));
  const entries = await store.scan(versionsIndex(root), { limit: MAX_NEWER });
  const own = task.version?.number ?? entries.find(({ member }) => member === task.id)?.score ?? 1;
  return entries.filter(({ score }) => score > own).map(({ member }) => member as TaskId);
}
