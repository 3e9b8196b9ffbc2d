import type { TaskId } from '#src/tasks/index.ts';
import type { Form, FormField, Reply } from '../bot-port.ts';
import { decodeId, encodeId, type Field, number, optional, PANEL_FIELDS, type PanelPress, text } from './buttons.ts';

/** A form, with what it is about. */
export type FormPurpose =
  | { readonly form: 'create' }
  /** A storyboard; `task` as of `fix`, where it was refused, else `null`. */
  | { readonly form: 'storyboard'; readonly task: TaskId | null }
  /** A shot before another one on the board of a storyboard, by the id of its set. */
  | { readonly form: 'insert'; readonly task: TaskId; readonly before: number }
  /** `task` of `fix`: the task that the draft becomes. */
  | { readonly form: 'edit' | 'lookup' | 'fix' | 'deny'; readonly task: TaskId }
  /** `after`: as in {@link import('./buttons.ts').ReviewPress}, whose button has the same id. */
  | { readonly form: 'changes'; readonly task: TaskId; readonly after: number }
  | ({ readonly form: 'panel' } & Omit<PanelPress, 'action'>);

const task = text('task');

/** What the ids of forms hold after their name. */
const FIELDS: Readonly<Record<FormPurpose['form'], readonly Field[]>> = {
  create: [],
  storyboard: [optional(task)],
  insert: [task, number('before', 2)],
  edit: [task],
  lookup: [task],
  fix: [task],
  deny: [task],
  changes: [task, number('after', 4)],
  panel: PANEL_FIELDS,
};

/** Builds a field: of one line, empty and optional where nothing else is said. */
export function field(name: string, label: string, more: Partial<FormField> = {}): FormField {
  return { name, label, value: '', required: false, long: false, ...more };
}

export function formReply(
  purpose: FormPurpose,
  { title, submit }: Pick<Form, 'title' | 'submit'>,
  fields: readonly FormField[],
): Reply {
  return { kind: 'form', form: { id: formId(purpose), title, submit, fields } };
}

export function formId(purpose: FormPurpose): string {
  return encodeId(purpose.form, FIELDS[purpose.form], { ...purpose });
}

/** Parses a form id; `null` for one that is none of ours. */
export function parseForm(id: string): FormPurpose | null {
  const [form = '', ...parts] = id.split(':');
  if (!Object.hasOwn(FIELDS, form)) return null;
  const values = decodeId(parts, FIELDS[form as FormPurpose['form']]);
  return values && ({ form, ...values } as unknown as FormPurpose);
}

/**
 * Returns true for a form that orders a clip, whose outcome everyone in the channel sees. That of a storyboard leads to a
 * question.
 */
export function isOrderForm(id: string): boolean {
  const form = parseForm(id)?.form ?? 'create';
  return form === 'create' || form === 'edit' || form === 'fix' || form === 'insert';
}
