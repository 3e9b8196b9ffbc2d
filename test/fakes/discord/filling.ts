import type { UploadedFile } from './files.ts';
import { checkedModal } from './modal.ts';
import type { Interaction } from './records.ts';
import type { Json } from './refusal.ts';
import { type Resolved, resolveChosen, type Typist } from './typing.ts';
import { attachmentJson } from './wire.ts';
import { present, type World } from './world.ts';

/** Values that a user enters into a modal, by `custom_id`; other fields keep the values preset by the bot. */
export type Entries = Readonly<Record<string, string | boolean | readonly string[] | readonly UploadedFile[]>>;

/** A field in a label. */
interface Field {
  readonly type: number;
  readonly custom_id: string;
  readonly required?: boolean;
  readonly value?: string;
  readonly default?: boolean;
  readonly min_length?: number;
  readonly max_length?: number;
  readonly min_values?: number;
  readonly max_values?: number;
  readonly options?: readonly { readonly value: string; readonly default?: boolean }[];
  readonly default_values?: readonly { readonly id: string }[];
  readonly channel_types?: readonly number[];
}

/**
 * Returns the data of a submitted modal.
 * @throws Error if Discord's client would not let the user submit it
 * @see discord docs: interactions/receiving-and-responding, "Modal Submit Data Structure"; components/reference,
 * "Label"
 */
export function modalData(world: World, opener: Interaction, entries: Entries, typist: Typist): Json {
  if (opener.answer?.type !== 9) throw new Error(`${opener.kind} ${opener.id} opened no modal.`);
  const modal = checkedModal(opener.answer.data);
  const fields = modal.components.flatMap((one) => (one.type === 18 ? [one.component as unknown as Field] : []));
  for (const name of Object.keys(entries)) {
    present(
      fields.find((one) => one.custom_id === name),
      `field ${name} in the modal`,
    );
  }
  const resolved: Resolved = { attachments: {}, users: {}, roles: {}, channels: {} };
  const components = modal.components.map((one, index) => {
    const id = 2 * index + 1;
    if (one.type === 10) return { type: 10, id };
    const field = one.component as unknown as Field;
    return {
      type: 18,
      id,
      component: { id: id + 1, ...filled(world, field, entries[field.custom_id], { resolved, typist }) },
    };
  });
  const used = Object.entries(resolved).filter(([, some]) => Object.keys(some).length > 0);
  return {
    custom_id: modal.custom_id,
    components,
    ...(used.length === 0 ? {} : { resolved: Object.fromEntries(used) }),
  };
}

/** @see discord docs: components/reference, "Component Types" */
const ENTITIES: Readonly<Record<number, Parameters<typeof resolveChosen>[2]>> = {
  5: 'user',
  6: 'role',
  7: 'mentionable',
  8: 'channel',
};

function filled(
  world: World,
  field: Field,
  entry: Entries[string] | undefined,
  { resolved, typist }: { readonly resolved: Resolved; readonly typist: Typist },
): Json {
  const { type, custom_id, required = true } = field;
  if (type === 4) {
    const value = typeof entry === 'string' ? entry : (field.value ?? '');
    const least = Math.max(field.min_length ?? 0, required ? 1 : 0);
    const isBlank = value === '' && !required;
    if (!isBlank && (value.length < least || value.length > (field.max_length ?? 4000))) {
      throw new Error(`${custom_id} does not take ${value.length} characters.`);
    }
    return { type, custom_id, value };
  }
  if (type === 23) return { type, custom_id, value: entry ?? field.default ?? false };
  const preset = [
    ...(field.options ?? []).filter((one) => one.default === true).map(({ value }) => value),
    ...(field.default_values ?? []).map((one) => one.id),
  ];
  if (type === 21) {
    const value = entry ?? preset[0] ?? null;
    if (value === null && required) throw new Error(`${custom_id} wants a choice.`);
    return { type, custom_id, value };
  }
  const values = ((entry ?? preset) as readonly (string | UploadedFile)[]).map((value) => {
    if (typeof value === 'string') return value;
    const attachment = world.files.add(world.freshId(), world.applicationId, value, null);
    resolved.attachments[attachment.id] = { ...attachmentJson(attachment), ephemeral: true };
    return attachment.id;
  });
  const least = required ? (field.min_values ?? 1) : 0;
  if (values.length < least || values.length > (field.max_values ?? 1)) {
    throw new Error(`${custom_id} does not take ${values.length} values.`);
  }
  const isOffered = (value: string): boolean => field.options?.some((one) => one.value === value) !== false;
  const what = ENTITIES[type];
  if (what !== undefined) for (const id of values) resolveChosen(world, id, what, { resolved, typist });
  if (!values.every(isOffered)) throw new Error(`${custom_id} does not offer ${values.join(', ')}.`);
  return { type, custom_id, values };
}
