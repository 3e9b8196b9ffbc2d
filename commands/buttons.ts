import type { ButtonAction } from '#src/chat/view.ts';
import type { Person, TaskId } from '#src/tasks/task.ts';

/** Platforms take no longer ids of buttons and forms. @see https://discord.com/developers/docs/components/reference */
const MAX_ID_LENGTH = 100;

/** A page of `/video list`, as its button carries it. */
export interface ListPage {
  /** How many clips (of those that fit) stand on the pages before. */
  readonly offset: number;
  /** Whose clips, by the platform's id; `null` for everybody's. */
  readonly user: string | null;
  /** What their prompts have to hold; `null` for anything. */
  readonly search: string | null;
}

/** What a button's id says. */
export type Press =
  | { readonly action: Exclude<ButtonAction, 'again'>; readonly task: TaskId }
  /** `afterSends`: how often the task had been sent when the button was offered. */
  | { readonly action: 'again'; readonly task: TaskId; readonly afterSends: number }
  | { readonly action: 'page'; readonly page: ListPage };

const ACTIONS: readonly string[] = [
  'retry',
  'edit',
  'cancel',
  'details',
  'lookup',
  'again',
  'leave',
  'show',
  'refetch',
] satisfies readonly ButtonAction[];

/** The id of a task's button: `retry:7f3a…`, and `again:7f3a…:1` with the number of sends it is offered after. */
export function taskButtonId(action: ButtonAction, task: TaskId, sends: number): string {
  return action === 'again' ? `again:${task}:${sends}` : `${action}:${task}`;
}

/** The id of a page's button, `null` where it would be too long for a platform. */
export function pageButtonId({ offset, user, search }: ListPage): string | null {
  const whose = user ?? '';
  // The length in front lets a platform's id hold any character.
  const id = `page:list:${offset}:${whose.length}:${whose}${search ?? ''}`;
  return id.length > MAX_ID_LENGTH ? null : id;
}

/** Reads a button's id; `null` for one that no version of Dailies made. */
export function parseButton(id: string): Press | null {
  if (id.startsWith('page:')) return parsePage(id);
  const [action = '', task = '', sends, ...more] = id.split(':');
  if (task === '' || more.length > 0 || !isAction(action)) return null;
  if (action !== 'again') return sends === undefined ? { action, task: task as TaskId } : null;
  if (sends === undefined || !/^\d{1,6}$/.test(sends)) return null;
  return { action, task: task as TaskId, afterSends: Number(sends) };
}

function parsePage(id: string): Press | null {
  const [, offset, length, rest] = /^page:list:(\d{1,7}):(\d{1,3}):(.*)$/su.exec(id) ?? [];
  if (offset === undefined || length === undefined || rest === undefined) return null;
  const user = rest.slice(0, Number(length));
  if (user.length < Number(length)) return null;
  const search = rest.slice(Number(length));
  const page = { offset: Number(offset), user: user === '' ? null : user, search: search === '' ? null : search };
  return { action: 'page', page };
}

function isAction(text: string): text is ButtonAction {
  return ACTIONS.includes(text);
}

/** What a form's id says: which form, and of which task. */
export type FormPurpose = { readonly form: 'create' } | { readonly form: 'edit' | 'lookup'; readonly task: TaskId };

/** The id of a form. */
export function formId(purpose: FormPurpose): string {
  return purpose.form === 'create' ? 'create' : `${purpose.form}:${purpose.task}`;
}

/** Reads a form's id; `null` for one that no version of Dailies made. */
export function parseForm(id: string): FormPurpose | null {
  if (id === 'create') return { form: 'create' };
  const [form, task = '', ...more] = id.split(':');
  if (task === '' || more.length > 0 || (form !== 'edit' && form !== 'lookup')) return null;
  return { form, task: task as TaskId };
}

/** What a reaction on a task's message asks for; `null` for any other emoji. Takes the emoji itself or its short name. */
export function reactionAction(emoji: string): 'retry' | 'cancel' | null {
  // Phones add a variation selector; Slack gives names, some clients with colons.
  const name = emoji.replace(/[\uFE0E\uFE0F]/gu, '').replace(/^:|:$/gu, '');
  if (RETRY_EMOJI.has(name)) return 'retry';
  return CANCEL_EMOJI.has(name) ? 'cancel' : null;
}

const RETRY_EMOJI: ReadonlySet<string> = new Set(['🔁', '🔄', 'repeat', 'arrows_counterclockwise']);
const CANCEL_EMOJI: ReadonlySet<string> = new Set(['❌', 'x']);

/** The part of an id that is shown; it finds the task again (`TaskService.find`). */
export function shortId(id: TaskId): string {
  return id.slice(0, 8);
}

/** Somebody who may decide on a task: who asked for it, or who manages the channel it was asked for in. */
export function mayDecide(
  caller: { readonly user: Person; readonly channel: string; readonly mayManage: boolean },
  origin: { readonly user: Person; readonly channel: string },
): boolean {
  return caller.user.id === origin.user.id || (caller.mayManage && caller.channel === origin.channel);
}
