import { type APIModalInteractionResponseCallbackData, ComponentType, TextInputStyle } from 'discord.js';
import type { Form } from '#commands/command.ts';
import { beginning } from '#commands/sentences/format.ts';

/** @see https://discord.com/developers/docs/components/reference#text-input */
const MAX_VALUE_LENGTH = 4000;

/** A form as a modal. Discord's own button sends it: {@link Form.submit} has no place there. */
export function renderForm({ id, title, fields }: Form): APIModalInteractionResponseCallbackData {
  return {
    custom_id: id,
    title,
    components: fields.map(({ name, label, value, required, long }) => ({
      type: ComponentType.Label,
      label,
      component: {
        type: ComponentType.TextInput,
        custom_id: name,
        style: long ? TextInputStyle.Paragraph : TextInputStyle.Short,
        required,
        max_length: MAX_VALUE_LENGTH,
        ...(value === '' ? {} : { value: beginning(value, MAX_VALUE_LENGTH) }),
      },
    })),
  };
}

/** A component of a sent modal, as far as it is looked at; in a Label, or in a row as older clients send it. */
interface Sent {
  readonly custom_id?: string;
  readonly value?: unknown;
  readonly values?: readonly string[];
  readonly component?: Sent;
  readonly components?: readonly Sent[];
}

/** Labels and rows hold components, which hold none. */
const DEEPEST = 4;

/** What was filled into a modal, by field. */
export function readValues(components: readonly object[]): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  const read = (sent: Sent | null, depth: number): void => {
    if (typeof sent !== 'object' || sent === null || depth > DEEPEST) return;
    const { custom_id: field, component = null, components: inner = [] } = sent;
    const value = sent.values?.[0] ?? sent.value;
    if (typeof field === 'string' && typeof value === 'string') values[field] = value;
    for (const one of [component, ...(Array.isArray(inner) ? inner : [])]) read(one, depth + 1);
  };
  for (const component of components as readonly Sent[]) read(component, 0);
  return values;
}
