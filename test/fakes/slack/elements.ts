import { z } from 'zod';
import type { Json } from './records.ts';

/** An element of a block. */
export type BlockElement = Json & { readonly type: string; readonly action_id?: string };

/** @see docs.slack.dev/reference/block-kit/composition-objects/text-object: at least 1 */
export const plain = (max: number) =>
  z.strictObject({
    type: z.literal('plain_text'),
    text: z
      .string()
      .min(1)
      .max(max, `must be less than ${max + 1} characters`),
    emoji: z.boolean().optional(),
  });

const mrkdwn = (max: number) =>
  z.strictObject({
    type: z.literal('mrkdwn'),
    text: z
      .string()
      .min(1)
      .max(max, `must be less than ${max + 1} characters`),
    verbatim: z.boolean().optional(),
  });

export const text = (max: number) => z.discriminatedUnion('type', [plain(max), mrkdwn(max)]);

/** @see docs.slack.dev/reference/block-kit/composition-objects/confirmation-dialog-object: 100, 300, 30, 30 */
const confirm = z.strictObject({
  title: plain(100),
  text: text(300),
  confirm: plain(30),
  deny: plain(30),
  style: z.enum(['primary', 'danger']).optional(),
});

/** @see docs.slack.dev/reference/block-kit/block-elements/button-element: action_id 255 */
const actionable = { action_id: z.string().min(1).max(255).optional() };
const common = { ...actionable, confirm: confirm.optional(), focus_on_load: z.boolean().optional() };
const placeholder = { placeholder: plain(150).optional() };
const dispatching = {
  ...actionable,
  ...placeholder,
  focus_on_load: z.boolean().optional(),
  dispatch_action_config: z
    .strictObject({ trigger_actions_on: z.array(z.enum(['on_enter_pressed', 'on_character_entered'])).min(1) })
    .optional(),
};

/** @see docs.slack.dev/reference/block-kit/block-elements/button-element: text 75, value 2000, url 3000 */
const button = z.strictObject({
  type: z.literal('button'),
  ...actionable,
  text: plain(75),
  url: z.string().max(3000).optional(),
  value: z.string().max(2000).optional(),
  style: z.enum(['primary', 'danger']).optional(),
  confirm: confirm.optional(),
  accessibility_label: z.string().max(75).optional(),
});

/** @see docs.slack.dev/reference/block-kit/composition-objects/option-object: text and description 75, value 150 */
const option = z.strictObject({
  text: text(75),
  value: z.string().min(1).max(150),
  description: text(75).optional(),
  url: z.string().max(3000).optional(),
});
const group = z.strictObject({ label: plain(75), options: z.array(option).min(1).max(100) });

/** @see docs.slack.dev/reference/block-kit/block-elements/select-menu-element: 100 options or groups */
const choices = {
  options: z.array(option).min(1).max(100).optional(),
  option_groups: z.array(group).min(1).max(100).optional(),
};

type Choosing = {
  readonly options?: readonly unknown[] | undefined;
  readonly option_groups?: readonly { readonly options: readonly unknown[] }[] | undefined;
  readonly initial_option?: unknown;
  readonly initial_options?: readonly unknown[] | undefined;
};

/** "initial_option … must exactly match one of the options": reference/block-kit/block-elements/select-menu-element */
function areInitialsOffered(one: Choosing): boolean {
  const offered = [...(one.options ?? []), ...(one.option_groups ?? []).flatMap(({ options }) => options)];
  const initial = [...(one.initial_options ?? []), ...(one.initial_option === undefined ? [] : [one.initial_option])];
  const texts = new Set(offered.map((each) => JSON.stringify(each)));
  return initial.every((each) => texts.has(JSON.stringify(each)));
}
const hasChoices = ({ options, option_groups: groups }: Choosing): boolean =>
  (options === undefined) !== (groups === undefined);

const staticSelect = z
  .strictObject({
    type: z.literal('static_select'),
    ...common,
    ...placeholder,
    ...choices,
    initial_option: option.optional(),
  })
  .refine(hasChoices, 'options or option_groups')
  .refine(areInitialsOffered, 'initial_option is none of the options');
const multiStaticSelect = z
  .strictObject({
    type: z.literal('multi_static_select'),
    ...common,
    ...placeholder,
    ...choices,
    initial_options: z.array(option).min(1).optional(),
    max_selected_items: z.int().min(1).optional(),
  })
  .refine(hasChoices, 'options or option_groups')
  .refine(areInitialsOffered, 'initial_options are none of the options');

/**
 * Checkboxes and radio buttons: ten options. @see docs.slack.dev/reference/block-kit/block-elements/checkboxes-element
 */
const ten = z.array(option).min(1).max(10);
const checkboxes = z
  .strictObject({
    type: z.literal('checkboxes'),
    ...common,
    options: ten,
    initial_options: z.array(option).min(1).optional(),
  })
  .refine(areInitialsOffered, 'initial_options are none of the options');
const radio = z
  .strictObject({ type: z.literal('radio_buttons'), ...common, options: ten, initial_option: option.optional() })
  .refine(areInitialsOffered, 'initial_option is none of the options');
/** @see docs.slack.dev/reference/block-kit/block-elements/overflow-menu-element: five options */
const overflow = z.strictObject({
  type: z.literal('overflow'),
  ...actionable,
  options: z.array(option).min(1).max(5),
  confirm: confirm.optional(),
});

const userId = z.string().regex(/^[UW]\w+$/u, 'is no id of a user');
const channelId = z.string().regex(/^[CDG]\w+$/u, 'is no id of a conversation');
/** @see docs.slack.dev/reference/block-kit/composition-objects/conversation-filter-object: at least one of the fields */
const filter = z
  .strictObject({
    include: z
      .array(z.enum(['im', 'mpim', 'private', 'public']))
      .min(1)
      .optional(),
    exclude_external_shared_channels: z.boolean().optional(),
    exclude_bot_users: z.boolean().optional(),
  })
  .refine((one) => Object.keys(one).length > 0, 'a filter needs a field');
const conversations = {
  ...common,
  ...placeholder,
  default_to_current_conversation: z.boolean().optional(),
  response_url_enabled: z.boolean().optional(),
  filter: filter.optional(),
};
/** @see docs.slack.dev/reference/block-kit/block-elements/select-menu-element: users, conversations, channels */
const selects = [
  z.strictObject({ type: z.literal('users_select'), ...common, ...placeholder, initial_user: userId.optional() }),
  z.strictObject({
    type: z.literal('conversations_select'),
    ...conversations,
    initial_conversation: channelId.optional(),
  }),
  z.strictObject({
    type: z.literal('channels_select'),
    ...common,
    ...placeholder,
    initial_channel: channelId.optional(),
  }),
  z.looseObject({ type: z.literal('external_select'), ...common, ...placeholder }),
] as const;
/** @see docs.slack.dev/reference/block-kit/block-elements/multi-select-menu-element: max_selected_items is at least 1 */
const multiUsersSelect = z
  .strictObject({
    type: z.literal('multi_users_select'),
    ...common,
    ...placeholder,
    initial_users: z.array(userId).min(1).optional(),
    max_selected_items: z.int().min(1).optional(),
  })
  .refine(
    ({ initial_users: users = [], max_selected_items: most = Number.POSITIVE_INFINITY }) => users.length <= most,
    'more initial_users than max_selected_items',
  );
const picker = z.looseObject({
  type: z.enum(['datepicker', 'timepicker', 'datetimepicker']),
  ...common,
  ...placeholder,
});

/**
 * @see docs.slack.dev/reference/block-kit/block-elements/image-element: alt text; one of image_url (3000) and
 * slack_file
 */
export const image = z
  .strictObject({
    type: z.literal('image'),
    alt_text: z.string().min(1).max(2000),
    image_url: z.string().url().max(3000).optional(),
    slack_file: z.strictObject({ id: z.string().optional(), url: z.string().optional() }).optional(),
  })
  .refine((one) => (one.image_url === undefined) !== (one.slack_file === undefined), 'image_url or slack_file');

/** Elements of sections and actions. */
export const blockElements = z.discriminatedUnion('type', [
  button,
  staticSelect,
  multiStaticSelect,
  checkboxes,
  radio,
  overflow,
  ...selects,
  multiUsersSelect,
  picker,
  image,
]);

/** Elements of contexts. */
export const contextElements = z.discriminatedUnion('type', [
  image,
  // @see docs.slack.dev/reference/block-kit/composition-objects/text-object: 3000
  ...text(3000).options,
]);

/** @see docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element: lengths up to 3000 */
const plainInput = z.strictObject({
  type: z.literal('plain_text_input'),
  ...dispatching,
  initial_value: z.string().optional(),
  multiline: z.boolean().optional(),
  min_length: z.int().min(0).max(3000).optional(),
  max_length: z.int().min(1).max(3000).optional(),
});
/** @see docs.slack.dev/reference/block-kit/block-elements/number-input-element: numbers are sent as text */
const numberInput = z.strictObject({
  type: z.literal('number_input'),
  ...dispatching,
  is_decimal_allowed: z.boolean(),
  initial_value: z.string().optional(),
  min_value: z.string().optional(),
  max_value: z.string().optional(),
});
const typedInput = z.strictObject({
  type: z.enum(['email_text_input', 'url_text_input']),
  ...dispatching,
  initial_value: z.string().optional(),
});
/** @see docs.slack.dev/reference/block-kit/block-elements/file-input-element: one to ten files */
const fileInput = z.strictObject({
  type: z.literal('file_input'),
  ...actionable,
  filetypes: z.array(z.string()).min(1).optional(),
  max_files: z.int().min(1).max(10).optional(),
});
const richInput = z.looseObject({ type: z.literal('rich_text_input'), ...actionable });

/** Elements of input blocks. */
export const inputElements = z.discriminatedUnion('type', [
  plainInput,
  numberInput,
  typedInput,
  fileInput,
  richInput,
  staticSelect,
  multiStaticSelect,
  checkboxes,
  radio,
  ...selects,
  multiUsersSelect,
  picker,
]);
