import {
  type APIComponentInLabel,
  type APIInteractionDataResolved,
  type APILabelComponent,
  type APIModalInteractionResponseCallbackData,
  type APISelectMenuComponent,
  type APIStringSelectComponent,
  type APITextInputComponent,
  ComponentType,
  TextInputStyle,
} from 'discord.js';
import type { Caller, Form, FormField } from '#commands/bot-port.ts';
import { beginning } from '#commands/sentences/format.ts';
import { cutNote } from '#commands/sentences/forms.ts';
import { picksIn } from '#commands/ui/picks.ts';
import { CHANNELS_TO_POST_IN } from '../registration/commands.ts';
import { channelValue, type GivenAttachment, mentionValue } from './options.ts';

/** @see https://discord.com/developers/docs/components/reference#text-input */
const MAX_VALUE_LENGTH = 4000;
/** @see https://discord.com/developers/docs/interactions/receiving-and-responding#interaction-response-object-modal */
const MAX_COMPONENTS = 5;
/** Maximum number of files of a file upload. */
const MAX_FILES = 10;
/** @see https://discord.com/developers/docs/components/reference#string-select */
const MAX_OPTIONS = 25;
/** Maximum length of each of an option's label, value and description. */
const MAX_OPTION_LENGTH = 100;
const MAX_PLACEHOLDER_LENGTH = 150;

/**
 * Renders a form as a modal: a select for a field with choices, a text input for any other. {@link Form.submit} is
 * unused, since a modal is submitted by Discord's own button; the choices carry their prices, since it cannot change.
 * @see https://discord.com/developers/docs/components/reference#label
 */
export function renderForm({ id, title, fields, upload, prices }: Form): APIModalInteractionResponseCallbackData {
  const custom = { custom_id: prices === undefined ? id : `${id}#${prices}`, title };
  // Leaves out fields that no model supports, and where there is no room also those without a choice.
  const supported = fields.filter(({ choices }) => choices?.all.length !== 0);
  const chosen = supported.filter(({ choices, note }) => choices?.all.length !== 1 || note !== undefined);
  const shown = supported.length > MAX_COMPONENTS ? chosen : supported;
  // Settings beyond the limit keep their values or defaults, as do those that an upload replaces.
  if (upload === undefined) return { ...custom, components: shown.slice(0, MAX_COMPONENTS).map(renderField) };
  const components = [...shown.slice(0, MAX_COMPONENTS - 1).map(renderField), renderUpload(upload)];
  return { ...custom, components };
}

/** Parses the custom id of a modal: the form's id and the fingerprint of the prices that it showed, if any. */
export function readFormId(customId: string): { readonly form: string } & Pick<Caller, 'shown'> {
  const [, form, prices] = /^(.*)#([0-9a-f]{8})$/su.exec(customId) ?? [];
  return form === undefined || prices === undefined ? { form: customId } : { form, shown: { prices } };
}

/** @see https://discord.com/developers/docs/components/reference#file-upload */
function renderUpload({ kind, label, note, max }: NonNullable<Form['upload']>): APILabelComponent {
  const most = Math.min(max, MAX_FILES);
  return {
    type: ComponentType.Label,
    label,
    description: note,
    // Optional: another model may need no files.
    component: { type: ComponentType.FileUpload, custom_id: kind, required: false, min_values: 0, max_values: most },
  };
}

function renderField(field: FormField): APILabelComponent {
  const { label, value, note, choices } = field;
  const select = renderControl(field) ?? (choices === undefined ? null : renderSelect(field, choices));
  const isCut = value.length > MAX_VALUE_LENGTH;
  // A cut-off value, which would be ordered incomplete, takes precedence over the note.
  const description = isCut ? cutNote(MAX_VALUE_LENGTH) : note;
  return {
    type: ComponentType.Label,
    label: select === null ? label : (choices?.title ?? label),
    ...(description === undefined ? {} : { description }),
    component: select ?? renderTextInput(field),
  };
}

const SELECTS = {
  person: ComponentType.UserSelect,
  approver: ComponentType.MentionableSelect,
  channel: ComponentType.ChannelSelect,
} as const;
const DEFAULT_TYPES = { person: 'user', role: 'role', group: 'role', channel: 'channel' } as const;

/**
 * Renders a control of Discord's own, with its values chosen; `null` for a field without one.
 * @see https://discord.com/developers/docs/components/reference#user-select and the sections after it
 */
function renderControl({ name, value, required, control, most = 1 }: FormField): APIComponentInLabel | null {
  if (control === undefined) return null;
  if (control === 'switch') return { type: ComponentType.Checkbox, custom_id: name, default: value === 'on' };
  const choosing = { custom_id: name, required, min_values: required ? 1 : 0, max_values: most };
  const picks = picksIn(value).slice(0, most);
  const defaults = picks.map(({ id, kind }) => ({ id, type: DEFAULT_TYPES[kind] }));
  const preset = defaults.length === 0 ? {} : { default_values: defaults };
  const channels = control === 'channel' ? { channel_types: [...CHANNELS_TO_POST_IN] } : {};
  return { type: SELECTS[control], ...choosing, ...preset, ...channels } as APISelectMenuComponent;
}

function renderTextInput({
  name,
  value,
  required,
  long,
  maxLength = MAX_VALUE_LENGTH,
  most = 1,
}: FormField): APITextInputComponent {
  const text = most === 1 ? value : value.replaceAll('\n', ', ');
  return {
    type: ComponentType.TextInput,
    custom_id: name,
    style: long ? TextInputStyle.Paragraph : TextInputStyle.Short,
    required,
    max_length: maxLength,
    ...(text === '' ? {} : { value: beginning(text, maxLength) }),
  };
}

/**
 * Renders a select.
 * @returns `null` if it does not fit: too many choices, none, too long, or a value not among them.
 */
function renderSelect(
  { name, value, required, most = 1 }: FormField,
  { placeholder, all }: NonNullable<FormField['choices']>,
): APIStringSelectComponent | null {
  const isFitting =
    all.length > 0 && all.length <= MAX_OPTIONS && all.every((one) => one.value.length <= MAX_OPTION_LENGTH);
  const chosen = value === '' ? [] : value.split('\n');
  if (!isFitting || !chosen.every((each) => all.some((one) => one.value === each))) return null;
  return {
    type: ComponentType.StringSelect,
    custom_id: name,
    placeholder: beginning(placeholder, MAX_PLACEHOLDER_LENGTH),
    required,
    min_values: required ? 1 : 0,
    max_values: Math.min(most, all.length),
    options: all.map((one) => ({
      value: one.value,
      label: beginning(one.label, MAX_OPTION_LENGTH),
      ...(one.description === undefined ? {} : { description: beginning(one.description, MAX_OPTION_LENGTH) }),
      ...(chosen.includes(one.value) ? { default: true } : {}),
    })),
  };
}

/** Component of a submitted modal, in a Label, or in a row as older clients send it; only the fields that are read. */
interface SubmittedComponent {
  readonly type?: number;
  readonly custom_id?: string;
  readonly value?: unknown;
  readonly values?: readonly string[];
  readonly component?: SubmittedComponent;
  readonly components?: readonly SubmittedComponent[];
}

/** Maximum nesting depth to read: labels and rows hold components, which hold none. */
const MAX_DEPTH = 4;

/** Contents of a submitted modal: values by field, and the uploaded files. */
interface FilledIn {
  readonly values: Readonly<Record<string, string>>;
  readonly attachments: readonly GivenAttachment[];
}

/** Parses a submitted modal. @param resolvedOrNull what was chosen in it, and the files uploaded with it */
export function readFilledIn(
  components: readonly object[] | null | undefined,
  resolvedOrNull?: APIInteractionDataResolved | null,
): FilledIn {
  const values: Record<string, string> = {};
  const attachments: GivenAttachment[] = [];
  const resolved = resolvedOrNull ?? {};
  const files = resolved.attachments ?? {};
  const read = (sent: SubmittedComponent | null, depth: number): void => {
    if (typeof sent !== 'object' || sent === null || depth > MAX_DEPTH) return;
    const { type, custom_id: field, component = null, components: inner = [] } = sent;
    if (type === ComponentType.FileUpload && typeof field === 'string') {
      for (const id of Array.isArray(sent.values) ? sent.values : []) {
        const attachment = Object.hasOwn(files, id) ? files[id] : undefined;
        if (attachment !== undefined) attachments.push({ option: field, attachment });
      }
      return;
    }
    const value = enteredIn(sent, resolved);
    if (typeof field === 'string' && value !== null) values[field] = value;
    for (const one of [component, ...(Array.isArray(inner) ? inner : [])]) read(one, depth + 1);
  };
  for (const component of (components ?? []) as readonly SubmittedComponent[]) read(component, 0);
  return { values, attachments };
}

/** Returns the value of a component, several one per line; `null` for one that holds none. An empty select is empty. */
function enteredIn({ type, value, values }: SubmittedComponent, resolved: APIInteractionDataResolved): string | null {
  const chosen = Array.isArray(values) ? values.filter((one): one is string => typeof one === 'string') : [];
  switch (type) {
    case ComponentType.StringSelect:
      return chosen.join('\n');
    case ComponentType.UserSelect:
    case ComponentType.MentionableSelect:
      return chosen.map((id) => mentionValue(id, resolved)).join('\n');
    case ComponentType.ChannelSelect:
      return chosen.map((id) => channelValue(id, resolved)).join('\n');
    case ComponentType.Checkbox:
      return value === true ? 'on' : 'off';
    default:
      return typeof value === 'string' ? value : (chosen[0] ?? null);
  }
}
