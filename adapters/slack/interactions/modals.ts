import type { types } from '@slack/bolt';
import { z } from 'zod';
import type { FieldChoice, Form, FormField, Reply } from '#commands/bot-port.ts';
import { beginning } from '#commands/sentences/format.ts';
import { cutNote } from '#commands/sentences/forms.ts';
import { plain } from '../messages/render.ts';
import type { SlackFile } from './attachments.ts';

type Refused = Extract<Reply, { readonly kind: 'refused' }>;

/** Maximum length of a modal's title and buttons. @see https://docs.slack.dev/reference/views/modal-views */
export const TITLE_LENGTH = 24;
const MOST_TYPED = 3000;

/** Callback id of the bot's modals. */
export const FORM_CALLBACK = 'dailies_form';

const viewMetadata = z
  .object({
    /** {@link Form.id}, or `animate`. */
    form: z.string(),
    channel: z.string(),
    thread: z.string().nullable(),
    enterprise: z.string().optional(),
    /** True if the modal has a field for the channel, which is unknown otherwise. */
    asksChannel: z.boolean().optional(),
    /** Price that the modal shows, as in button ids; empty for none. */
    price: z.string().optional(),
    /** Fingerprint of the prices that its choices show. */
    prices: z.string().optional(),
    /** Sentence about the reference files that the modal keeps unchanged. */
    kept: z.string().optional(),
    /** True if the channel is a group message. */
    isGroup: z.boolean().optional(),
    /** The image to animate, if any. */
    image: z
      .object({ id: z.string().optional(), name: z.string().optional(), address: z.string().optional() })
      .optional(),
  })
  .readonly();

/** Context of a modal in its `private_metadata`, since a submission does not say where the modal was opened. */
export type ViewMetadata = z.infer<typeof viewMetadata>;

/** Parses the metadata written by {@link modal}; `null` if it is not in its format. */
export function readMetadata(text: string): ViewMetadata | null {
  try {
    return viewMetadata.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

export function modal(
  { title, submit }: Pick<Form, 'title' | 'submit'>,
  metadata: ViewMetadata,
  blocks: types.KnownBlock[],
): types.ModalView {
  return {
    type: 'modal',
    callback_id: FORM_CALLBACK,
    private_metadata: JSON.stringify(metadata),
    title: plain(title, TITLE_LENGTH),
    submit: plain(submit, TITLE_LENGTH),
    close: plain('Close', TITLE_LENGTH),
    blocks,
  };
}

/** Renders a form as a modal: a select for a field with choices, a text input for any other. */
export function renderForm(form: Form, metadata: ViewMetadata): types.ModalView {
  return modal(form, metadata, form.fields.map(renderField));
}

function renderField(field: FormField): types.InputBlock {
  const { name, label, value, required, note, choices, maxLength = MOST_TYPED } = field;
  const isCut = value.length > maxLength;
  // A cut-off value, which would be sent incomplete, takes precedence over the note.
  const hint = isCut ? cutNote(maxLength) : note;
  const select = choices === undefined ? null : renderSelect(field, choices);
  return {
    type: 'input',
    block_id: name,
    label: plain(select === null ? label : (choices?.title ?? label), 2000),
    optional: !required,
    element: select ?? renderTextInput(field, maxLength),
    ...(hint === undefined ? {} : { hint: plain(hint, 2000) }),
  };
}

function renderTextInput({ name, value, long }: FormField, maxLength: number): types.PlainTextInput {
  return {
    type: 'plain_text_input',
    action_id: name,
    multiline: long,
    max_length: maxLength,
    ...(value === '' ? {} : { initial_value: beginning(value, maxLength) }),
  };
}

/** @see https://docs.slack.dev/reference/block-kit/block-elements/select-menu-element */
export const MOST_OPTIONS = 100;
/** @see https://docs.slack.dev/reference/block-kit/composition-objects/option-object */
const OPTION_LENGTH = 75;
/** Maximum length of a select's placeholder. */
const PLACEHOLDER_LENGTH = 150;

/** Renders a select. @returns `null` if it does not fit: too many choices, none, or a value not among them. */
function renderSelect(
  { name, value }: FormField,
  { placeholder, all }: NonNullable<FormField['choices']>,
): types.StaticSelect | null {
  const isFitting = all.length > 0 && all.length <= MOST_OPTIONS;
  if (!isFitting || (value !== '' && all.every((one) => one.value !== value))) return null;
  return { ...staticSelect(name, all, value), placeholder: plain(placeholder, PLACEHOLDER_LENGTH) };
}

/** Builds a select with as many of the choices as it takes; one of them may be chosen. */
export function staticSelect(name: string, choices: readonly FieldChoice[], value: string): types.StaticSelect {
  const options = choices.slice(0, MOST_OPTIONS).map((one) => ({
    value: one.value,
    text: plain(one.label, OPTION_LENGTH),
    ...(one.description === undefined ? {} : { description: plain(one.description, OPTION_LENGTH) }),
  }));
  const chosen = options.find((option) => option.value === value);
  return {
    type: 'static_select',
    action_id: name,
    options,
    ...(chosen === undefined ? {} : { initial_option: chosen }),
  };
}

/** The fields used of a view in a payload. */
export interface SentView {
  readonly id: string;
  readonly private_metadata: string;
  readonly hash?: string;
  readonly blocks: readonly unknown[];
  readonly state: { readonly values: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
}

const sentValue = z.object({
  value: z.union([z.string(), z.number()]).nullish(),
  selected_option: z.object({ value: z.string() }).nullish(),
  selected_conversation: z.string().nullish(),
  files: z
    .array(
      z
        .object({
          id: z.string(),
          name: z.string(),
          mimetype: z.string(),
          url_private: z.string(),
          permalink: z.string(),
        })
        .partial(),
    )
    .nullish(),
});

const sentChoice = sentValue.extend({ action_id: z.string(), action_ts: z.coerce.number() });

/** A choice of a field in an open modal; `''` for none. */
export interface ModalChoice {
  readonly field: string;
  readonly value: string;
  /** Time of the choice, in seconds of Slack's clock. */
  readonly atSeconds: number;
}

/** Parses the action of an input that dispatches its changes; `null` if it is not in that format. */
export function readChoice(action: unknown): ModalChoice | null {
  const { data } = sentChoice.safeParse(action);
  if (data === undefined) return null;
  const value = String(data.selected_option?.value ?? data.value ?? '');
  return { field: data.action_id, value, atSeconds: data.action_ts };
}

interface FilledIn {
  /** By field; an empty one as `''`. */
  readonly values: Readonly<Record<string, string>>;
  /** The selected conversation; `null` if the modal has no field for one. */
  readonly channel: string | null;
  readonly files: readonly SlackFile[];
}

/** Parses the values of a modal, by the `action_id` of its fields. */
export function readFilledIn({ state }: Pick<SentView, 'state'>): FilledIn {
  const values: Record<string, string> = {};
  const files: SlackFile[] = [];
  let channel: string | null = null;
  for (const [field, sent] of Object.values(state.values).flatMap((block) => Object.entries(block))) {
    const { data } = sentValue.safeParse(sent);
    const isValue = data !== undefined && data.files === undefined && data.selected_conversation === undefined;
    if (isValue) values[field] = String(data.selected_option?.value ?? data.value ?? '');
    files.push(...(data?.files ?? []));
    channel ??= data?.selected_conversation ?? null;
  }
  return { values, channel, files };
}

/**
 * Returns validation errors by block. Errors about no field are shown under the prompt, or else the first field.
 */
export function errorsOf(
  view: Pick<SentView, 'state'>,
  { sentence, problems = [{ field: 'prompt', sentence }] }: Pick<Refused, 'sentence' | 'problems'>,
): Readonly<Record<string, string>> {
  const blocks = new Map<string, string>();
  for (const [block, fields] of Object.entries(view.state.values))
    for (const field of Object.keys(fields)) blocks.set(field.replace(/_files$/u, ''), block);
  const [fallback = ''] = blocks.values();
  const errors: Record<string, string> = {};
  for (const { field, sentence: line } of problems) {
    const block = blocks.get(field ?? 'prompt') ?? blocks.get('prompt') ?? fallback;
    errors[block] = errors[block] === undefined ? line : `${errors[block]} ${line}`;
  }
  return errors;
}
