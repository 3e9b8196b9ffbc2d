import {
  type APIInteractionDataResolved,
  type APILabelComponent,
  type APIModalInteractionResponseCallbackData,
  type APIStringSelectComponent,
  type APITextInputComponent,
  ComponentType,
  TextInputStyle,
} from 'discord.js';
import type { Form, FormField, GivenOptions } from '#commands/bot-port.ts';
import { beginning } from '#commands/sentences/format.ts';
import { cutNote } from '#commands/sentences/forms/forms.ts';
import type { GivenAttachment } from './options.ts';

/** @see https://discord.com/developers/docs/components/reference#text-input */
const MAX_VALUE_LENGTH = 4000;
/** @see https://discord.com/developers/docs/interactions/receiving-and-responding#interaction-response-object-modal */
const MAX_COMPONENTS = 5;
/** Of a file upload. */
const MAX_FILES = 10;
/** @see https://discord.com/developers/docs/components/reference#string-select */
const MAX_OPTIONS = 25;
/** Of an option's label, value and description, each. */
const MAX_OPTION_LENGTH = 100;
const MAX_PLACEHOLDER_LENGTH = 150;

/**
 * Renders a form as a modal: a select where there is something to choose from, a text box elsewhere. Discord's own
 * button sends it: {@link Form.submit} has no place there.
 * @see https://discord.com/developers/docs/components/reference#label
 */
export function renderForm({ id, title, fields, upload }: Form): APIModalInteractionResponseCallbackData {
  // What no model takes is not asked for.
  const shown = fields.filter(({ choices }) => choices?.all.length !== 0);
  if (upload === undefined) return { custom_id: id, title, components: shown.map(renderField) };
  // Files take the place of the last settings, which keep their defaults or are changed in the next form.
  const components = [...shown.slice(0, MAX_COMPONENTS - 1).map(renderField), renderUpload(upload)];
  return { custom_id: id, title, components };
}

/** @see https://discord.com/developers/docs/components/reference#file-upload */
function renderUpload({ kind, label, note, max }: NonNullable<Form['upload']>): APILabelComponent {
  const most = Math.min(max, MAX_FILES);
  return {
    type: ComponentType.Label,
    label,
    description: note,
    // Another model may need none.
    component: { type: ComponentType.FileUpload, custom_id: kind, required: false, min_values: 0, max_values: most },
  };
}

function renderField(field: FormField): APILabelComponent {
  const { label, value, note, choices } = field;
  const select = choices === undefined ? null : renderSelect(field, choices);
  const isCut = value.length > MAX_VALUE_LENGTH;
  // What would be bought without its end comes first.
  const description = isCut ? cutNote(MAX_VALUE_LENGTH) : note;
  return {
    type: ComponentType.Label,
    label: select === null ? label : (choices?.title ?? label),
    ...(description === undefined ? {} : { description }),
    component: select ?? renderTextInput(field),
  };
}

function renderTextInput({ name, value, required, long }: FormField): APITextInputComponent {
  return {
    type: ComponentType.TextInput,
    custom_id: name,
    style: long ? TextInputStyle.Paragraph : TextInputStyle.Short,
    required,
    max_length: MAX_VALUE_LENGTH,
    ...(value === '' ? {} : { value: beginning(value, MAX_VALUE_LENGTH) }),
  };
}

/** @returns `null` where a select cannot hold it: too many choices, none, or one that is too long. */
function renderSelect(
  { name, value, required }: FormField,
  { placeholder, all }: NonNullable<FormField['choices']>,
): APIStringSelectComponent | null {
  const isFitting =
    all.length > 0 && all.length <= MAX_OPTIONS && all.every((one) => one.value.length <= MAX_OPTION_LENGTH);
  if (!isFitting || (value !== '' && all.every((one) => one.value !== value))) return null;
  return {
    type: ComponentType.StringSelect,
    custom_id: name,
    placeholder: beginning(placeholder, MAX_PLACEHOLDER_LENGTH),
    required,
    min_values: required ? 1 : 0,
    max_values: 1,
    options: all.map((one) => ({
      value: one.value,
      label: beginning(one.label, MAX_OPTION_LENGTH),
      ...(one.description === undefined ? {} : { description: beginning(one.description, MAX_OPTION_LENGTH) }),
      ...(one.value === value ? { default: true } : {}),
    })),
  };
}

/** A component of a sent modal, as far as it is looked at; in a Label, or in a row as older clients send it. */
interface Sent {
  readonly type?: number;
  readonly custom_id?: string;
  readonly value?: unknown;
  readonly values?: readonly string[];
  readonly component?: Sent;
  readonly components?: readonly Sent[];
}

/** Labels and rows hold components, which hold none. */
const DEEPEST = 4;

/** What was filled into a modal: values by field, and the files that were uploaded. */
export interface FilledIn {
  readonly values: Readonly<Record<string, string>>;
  readonly attachments: readonly GivenAttachment[];
}

/** Reads a sent modal. @param resolved the files that were uploaded with it. */
export function readFilledIn(
  components: readonly object[] | null | undefined,
  resolved?: Pick<APIInteractionDataResolved, 'attachments'> | null,
): FilledIn {
  const values: Record<string, string> = {};
  const attachments: GivenAttachment[] = [];
  const files = resolved?.attachments ?? {};
  const read = (sent: Sent | null, depth: number): void => {
    if (typeof sent !== 'object' || sent === null || depth > DEEPEST) return;
    const { type, custom_id: field, component = null, components: inner = [] } = sent;
    if (type === ComponentType.FileUpload && typeof field === 'string') {
      for (const id of Array.isArray(sent.values) ? sent.values : []) {
        const attachment = Object.hasOwn(files, id) ? files[id] : undefined;
        if (attachment !== undefined) attachments.push({ option: field, attachment });
      }
      return;
    }
    // A select that was left empty was there all the same.
    const value = sent.values?.[0] ?? (type === ComponentType.StringSelect ? '' : sent.value);
    if (typeof field === 'string' && typeof value === 'string') values[field] = value;
    for (const one of [component, ...(Array.isArray(inner) ? inner : [])]) read(one, depth + 1);
  };
  for (const component of (components ?? []) as readonly Sent[]) read(component, 0);
  return { values, attachments };
}

/** Returns what was filled in as options; what was left empty was not given. */
export function orderOf(values: Readonly<Record<string, string>>, image: string): GivenOptions {
  const filledIn = Object.entries(values).filter(([, value]) => value.trim() !== '');
  return { ...Object.fromEntries(filledIn.map(([name, value]) => [name, [value]])), image: [image] };
}
