import { z } from 'zod';
import { customId, entitySelect, stringSelect, textDisplay, walk } from './components.ts';
import { checked, rule } from './form.ts';

/** @see discord docs: components/reference, "Text Input Structure" */
const textInput = z
  .looseObject({
    type: z.literal(4),
    custom_id: customId,
    style: z.union([z.literal(1), z.literal(2)]),
    label: z.undefined('goes to the Label around it').optional(),
    min_length: z.int().min(0).max(4000).optional(),
    max_length: z.int().min(1).max(4000).optional(),
    required: z.boolean().optional(),
    value: z.string().max(4000).optional(),
    placeholder: z.string().max(100).optional(),
  })
  .superRefine(
    rule(({ min_length = 0, max_length = 4000, value = '' }, complain) => {
      if (min_length > max_length) complain('min_length is over max_length');
      if (value.length > max_length) complain('the value is longer than max_length', ['value']);
    }),
  );

const option = z.looseObject({
  value: z.string().min(1).max(100),
  label: z.string().min(1).max(100),
  description: z.string().max(100).optional(),
});
/** @see discord docs: components/reference, "File Upload" */
const fileUpload = z.looseObject({
  type: z.literal(19),
  custom_id: customId,
  min_values: z.int().min(0).max(10).optional(),
  max_values: z.int().min(1).max(10).optional(),
  file_types: z.array(z.string()).max(10).optional(),
});
/** @see discord docs: components/reference, "Radio Group", "Checkbox Group", "Checkbox" */
const radioGroup = z.looseObject({ type: z.literal(21), custom_id: customId, options: z.array(option).min(2).max(10) });
const checkboxGroup = z.looseObject({
  type: z.literal(22),
  custom_id: customId,
  options: z.array(option).min(1).max(10),
});
const checkbox = z.strictObject({ type: z.literal(23), custom_id: customId, default: z.boolean().optional() });

/**
 * @see discord docs: components/reference, "String Select Structure": "Using `disabled` in a modal will result in an
 * error"; "required": with it, at least one value
 */
const inModal = rule<{
  readonly disabled?: boolean | undefined;
  readonly required?: boolean | undefined;
  readonly min_values?: number | undefined;
}>(({ disabled, required = true, min_values = 1 }, complain) => {
  if (disabled === true) complain('a select in a modal cannot be disabled', ['disabled']);
  if (required && min_values === 0) complain('min_values of a required select is at least 1', ['min_values']);
});
const modalSelect = stringSelect.superRefine(inModal);
const modalEntitySelect = entitySelect.superRefine(inModal);

/** @see discord docs: components/reference, "Label": text 45, description 100, one interactive component */
const label = z.looseObject({
  type: z.literal(18),
  label: z.string().min(1).max(45),
  description: z.string().max(100).optional(),
  component: z.discriminatedUnion('type', [
    textInput,
    modalSelect,
    modalEntitySelect,
    fileUpload,
    radioGroup,
    checkboxGroup,
    checkbox,
  ]),
});

/** @see discord docs: interactions/receiving-and-responding, "Modal": title 45, custom_id 100, 1 to 5 components */
const modal = z
  .looseObject({
    custom_id: customId,
    title: z.string().min(1).max(45),
    components: z
      .array(z.discriminatedUnion('type', [label, textDisplay]))
      .min(1)
      .max(5),
  })
  .superRefine(
    rule(({ components }, complain) => {
      const ids = [...walk(components)].map((one) => one.custom_id).filter((one) => one !== undefined);
      if (new Set(ids).size < ids.length) complain('two components share a custom_id');
    }),
  );

/** A modal that the bot opened. */
export type Modal = z.output<typeof modal>;

/** Validates a modal. @throws Refusal 50035 if Discord would reject it. */
export const checkedModal = (data: unknown): Modal => checked(modal, data, 'modal');
