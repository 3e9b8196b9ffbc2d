import type { TaskId } from '#src/tasks/index.ts';

/**
 * Press of a button of a review; `after`: the number of decisions that the reviewer saw. The id begins with letters alone, as
 * the Slack adapter expects.
 */
export type ReviewPress =
  /** `newest`: number of the newest version that the question named; `null`: it was not asked. */
  | { readonly action: 'sign_off'; readonly task: TaskId; readonly after: number; readonly newest: number | null }
  | { readonly action: 'changes'; readonly task: TaskId; readonly after: number };

/** Returns the id of a button that signs a clip off: `signoff:7f3a…:0`; of the question about a newer version, `…:0:3`. */
export function signOffButtonId(task: TaskId, after: number, newest: number | null = null): string {
  return `signoff:${task}:${after}${newest === null ? '' : `:${newest}`}`;
}

/** Returns the id of a button, and of its form, that requests changes of a clip: `changes:7f3a…:0`. */
export function changesId(task: TaskId, after: number): string {
  return `changes:${task}:${after}`;
}

/** Parses the id of a review's button, or of the form for changes; `null` for any other. */
export function parseReviewId(id: string): ReviewPress | null {
  const [, action, task, after, newest] = /^(signoff|changes):([^:]+):(\d{1,4})(?::(\d{1,6}))?$/u.exec(id) ?? [];
  if (task === undefined || after === undefined) return null;
  const of = { task: task as TaskId, after: Number(after) };
  if (action === 'signoff') return { action: 'sign_off', ...of, newest: newest === undefined ? null : Number(newest) };
  return newest === undefined ? { action: 'changes', ...of } : null;
}
