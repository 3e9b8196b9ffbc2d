import type { types } from '@slack/bolt';
import { z } from 'zod';
import type { FieldChoice, Form, FormField, Reply } from '#commands/bot-port.ts';
import { beginning } from '#commands/sentences/format.ts';
import { cutNote } from '#commands/sentences/forms.ts';
import { type Pick as Picked, picksIn } from '#commands/ui/picks.ts';
import { plain } from '../messages/render.ts';
import type { UserGroup } from '../web-api/user-groups.ts';
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

/** Renders a form as a modal: a control for each of its fields. @param groups user groups to choose from. Default: none. */
export function renderForm(form: Form, metadata: ViewMetadata, groups: readonly UserGroup[] = []): types.ModalView {
  const blocks = form.fields.flatMap((field) => [renderField(field), ...groupsBlock(field, groups)]);
  return modal(form, metadata, blocks);
}

function renderField(field: FormField): types.InputBlock {
  const { name, label, value, required, note, choices, maxLength = MOST_TYPED } = field;
  const isCut = value.length > maxLength;
  // A cut-off value, which would be sent incomplete, takes precedence over the note.
  const hint = isCut ? cutNote(maxLength) : note;
  const select = renderControl(field) ?? (choices === undefined ? null : renderSelect(field, choices));
  return {
    type: 'input',
    block_id: name,
    label: plain(select === null ? label : (choices?.title ?? label), 2000),
    // Its user groups have a block of their own.
    optional: !required || field.control === 'approver',
    element: select ?? renderTextInput(field, maxLength),
    ...(hint === undefined ? {} : { hint: plain(hint, 2000) }),
  };
}

/**
 * Renders a control of Slack's own, with its values chosen; `null` for a field without one.
 * @see https://docs.slack.dev/reference/block-kit/block-elements/multi-select-menu-element
 */
function renderControl({ name, value, control, most = 1 }: FormField): types.InputBlock['element'] | null {
  const idsOf = (kind: Picked['kind']) => picksIn(value).flatMap((one) => (one.kind === kind ? [one.id] : []));
  if (control === undefined) return null;
  if (control === 'switch') {
    const options = SWITCH.map(([state, text]) => ({ value: state, text: plain(text, OPTION_LENGTH) }));
    const chosen = options.find((option) => option.value === value);
    return { type: 'radio_buttons', action_id: name, options, ...(chosen && { initial_option: chosen }) };
  }
  if (control === 'channel') {
    const [channel] = idsOf('channel');
    const initial = channel === undefined ? {} : { initial_conversation: channel };
    return { type: 'conversations_select', action_id: name, filter: { include: ['public', 'private'] }, ...initial };
  }
  const users = idsOf('person').slice(0, most);
  const [user] = users;
  if (most === 1) return { type: 'users_select', action_id: name, ...(user && { initial_user: user }) };
  const initial = users.length === 0 ? {} : { initial_users: users };
  return { type: 'multi_users_select', action_id: name, max_selected_items: most, ...initial };
}

const SWITCH = [
  ['on', 'On'],
  ['off', 'Off'],
] as const;

/**
 * Renders the field for user groups, which Slack has no control for; none where there are no groups. Its values belong to
 * the same field as those of the people.
 */
function groupsBlock(field: FormField, known: readonly UserGroup[]): readonly types.InputBlock[] {
  const { name, label, value, control, most = 1 } = field;
  if (control !== 'approver') return [];
  const chosen = picksIn(value).flatMap(({ kind, id }) => (kind === 'group' ? [id] : []));
  const unknown = chosen.filter((id) => known.every((one) => one.id !== id)).map((id) => ({ id, handle: id }));
  const isChosen = ({ id }: UserGroup): boolean => chosen.includes(id);
  const all = [...unknown, ...known.filter(isChosen), ...known.filter((one) => !isChosen(one))];
  if (all.length === 0) return [];
  const choices = all.map(({ id, handle }) => ({ value: `<!subteam^${id}|@${handle}>`, label: `@${handle}` }));
  const select = staticSelect(name, choices, '');
  const initial = select.options?.slice(0, chosen.length) ?? [];
  const element: types.InputBlock['element'] =
    most === 1
      ? { ...select, ...(initial[0] && { initial_option: initial[0] }) }
      : { ...multiSelect(select, most), ...(initial.length > 0 && { initial_options: initial }) };
  return [
    { type: 'input', block_id: `${name}:groups`, label: plain(`${label}: user groups`, 2000), optional: true, element },
  ];
}

function renderTextInput({ name, value, long, most = 1 }: FormField, maxLength: number): types.PlainTextInput {
  const text = most === 1 ? value : value.replaceAll('\n', ', ');
  return {
    type: 'plain_text_input',
    action_id: name,
    multiline: long,
    max_length: maxLength,
    ...(text === '' ? {} : { initial_value: beginning(text, maxLength) }),
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
  { name, value, most = 1 }: FormField,
  { placeholder, all }: NonNullable<FormField['choices']>,
): types.StaticSelect | types.MultiStaticSelect | null {
  const isFitting = all.length > 0 && all.length <= MOST_OPTIONS;
  const chosen = value === '' ? [] : value.split('\n');
  if (!isFitting || !chosen.every((each) => all.some((one) => one.value === each))) return null;
  const select = { ...staticSelect(name, all, value), placeholder: plain(placeholder, PLACEHOLDER_LENGTH) };
  if (most === 1) return select;
  const initial = select.options?.filter((option) => chosen.includes(option.value ?? '')) ?? [];
  return { ...multiSelect(select, most), ...(initial.length > 0 && { initial_options: initial }) };
}

/** Turns a select into one of several choices, none of which is chosen yet. */
function multiSelect(
  { action_id, options = [], placeholder }: types.StaticSelect,
  most: number,
): types.MultiStaticSelect {
  const named = { ...(action_id && { action_id }), ...(placeholder && { placeholder }) };
  return { type: 'multi_static_select', ...named, options, max_selected_items: most };
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
  selected_options: z.array(z.object({ value: z.string() })).nullish(),
  selected_user: z.string().nullish(),
  selected_users: z.array(z.string()).nullish(),
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
  /** By field, several values one per line; an empty one as `''`. */
  readonly values: Readonly<Record<string, string>>;
  /** The conversation selected in {@link CHANNEL_FIELD}; `null` if the modal has no such field. */
  readonly channel: string | null;
  readonly files: readonly SlackFile[];
}

/** Name of the field for the channel of an order, where a modal was opened outside of one. */
export const CHANNEL_FIELD = 'channel';

/** Parses the values of a modal, by the `action_id` of its fields. */
export function readFilledIn({ state }: Pick<SentView, 'state'>): FilledIn {
  const values: Record<string, string> = {};
  const files: SlackFile[] = [];
  let channel: string | null = null;
  for (const [field, sent] of Object.values(state.values).flatMap((block) => Object.entries(block))) {
    const { data = {} } = sentValue.safeParse(sent);
    files.push(...(data.files ?? []));
    if (field === CHANNEL_FIELD && data.selected_conversation !== undefined) channel = data.selected_conversation;
    else if (data.files === undefined) values[field] = [...linesOf(values[field]), ...chosenIn(data)].join('\n');
  }
  return { values, channel, files };
}

function linesOf(value = ''): readonly string[] {
  return value === '' ? [] : [value];
}

/** Returns the values of one element. */
function chosenIn(sent: z.infer<typeof sentValue>): readonly string[] {
  const { selected_user: user, selected_users: users = [], selected_conversation: conversation } = sent;
  const people = [...(typeof user === 'string' ? [user] : []), ...(users ?? [])].map((id) => `<@${id}>`);
  const channels = typeof conversation === 'string' ? [`<#${conversation}>`] : [];
  const options = [sent.selected_option, ...(sent.selected_options ?? [])].flatMap((one) => one?.value ?? []);
  const typed = String(sent.value ?? '');
  return [...people, ...channels, ...options, ...(typed === '' ? [] : [typed])];
}

/** Returns the people that a modal showed as chosen when it was opened. */
export function shownPeople({ blocks }: Pick<SentView, 'blocks'>): ReadonlySet<string> {
  return new Set(blocks.flatMap((block) => shownIn.safeParse(block).data?.element ?? []));
}

const shownIn = z.object({
  element: z
    .object({ initial_user: z.string().optional(), initial_users: z.array(z.string()).default([]) })
    .transform(({ initial_user: user, initial_users: users }) => [...users, ...(user === undefined ? [] : [user])]),
});

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
