import type { TaskId } from '#src/tasks/index.ts';
import { changesId, parseReviewId } from './buttons.ts';

/** Parsed form id: the form and its task. */
export type FormPurpose =
  | { readonly form: 'create' }
  /** A storyboard; `task` as of `fix`, where it was refused. */
  | { readonly form: 'storyboard'; readonly task?: TaskId }
  /** The board of a storyboard, by the id of its set, as it was at a revision. */
  | { readonly form: 'board'; readonly task: TaskId; readonly revision: number }
  /** `task` of `fix`: the task that the draft becomes. */
  | { readonly form: 'edit' | 'lookup' | 'fix' | 'deny'; readonly task: TaskId }
  /** `after`: as in {@link ReviewPress}. */
  | { readonly form: 'changes'; readonly task: TaskId; readonly after: number };

export function formId(purpose: FormPurpose): string {
  if (purpose.form === 'changes') return changesId(purpose.task, purpose.after);
  if (purpose.form === 'board') return `board:${purpose.task}:${purpose.revision}`;
  return 'task' in purpose && purpose.task !== undefined ? `${purpose.form}:${purpose.task}` : purpose.form;
}

/** Parses a form id; `null` for one that no version of Dailies created. */
export function parseForm(id: string): FormPurpose | null {
  if (id === 'create' || id === 'storyboard') return { form: id };
  const review = parseReviewId(id);
  if (review?.action === 'changes') return { form: 'changes', task: review.task, after: review.after };
  const [, board, revision] = /^board:([^:]+):(\d{1,9})$/u.exec(id) ?? [];
  if (board !== undefined) return { form: 'board', task: board as TaskId, revision: Number(revision) };
  const [form, task = '', ...more] = id.split(':');
  const known = TASK_FORMS.find((one) => one === form);
  return task === '' || more.length > 0 || known === undefined ? null : { form: known, task: task as TaskId };
}

const TASK_FORMS = ['edit', 'lookup', 'fix', 'deny', 'storyboard'] as const;

/**
 * Returns true for a form that orders a clip, whose outcome everyone in the channel sees. That of a storyboard leads to a
 * question.
 */
export function isOrderForm(id: string): boolean {
  const form = parseForm(id)?.form;
  return form !== 'lookup' && form !== 'deny' && form !== 'storyboard' && form !== 'board' && form !== 'changes';
}
