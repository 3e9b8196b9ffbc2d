import { z } from 'zod';
import { rule } from './form.ts';

/** Fields of every component. @see discord docs: components/reference, "Anatomy of a Component" */
const base = {
  id: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .optional(),
};
/** @see discord docs: components/reference, "Custom ID" */
export const customId = z.string().min(1).max(100);
const emoji = z.looseObject({ id: z.string().nullish(), name: z.string().nullish() });

/** @see discord docs: components/reference, "Button Structure" and "Button Styles" */
const button = z
  .looseObject({
    ...base,
    type: z.literal(2),
    style: z.int().min(1).max(5),
    label: z.string().min(1).max(80).optional(),
    emoji: emoji.optional(),
    custom_id: customId.optional(),
    url: z
      .string()
      .max(512)
      .regex(/^(https?|discord):\/\//, 'must be a link')
      .optional(),
    disabled: z.boolean().optional(),
  })
  .superRefine(
    rule(({ style, label, emoji: picture, custom_id, url }, complain) => {
      const isLink = style === 5;
      if (isLink !== (url !== undefined)) complain('a link button, and no other, has a url', ['url']);
      if (isLink === (custom_id !== undefined)) complain('every button but a link has a custom_id', ['custom_id']);
      if (label === undefined && picture === undefined) complain('a button needs a label or an emoji', ['label']);
    }),
  );

const choosing = {
  placeholder: z.string().max(150).optional(),
  min_values: z.int().min(0).max(25).optional(),
  max_values: z.int().min(1).max(25).optional(),
  required: z.boolean().optional(),
  disabled: z.boolean().optional(),
};
const choice = z.looseObject({
  label: z.string().min(1).max(100),
  value: z.string().min(1).max(100),
  description: z.string().max(100).optional(),
  default: z.boolean().optional(),
});

/** @see discord docs: components/reference, "String Select Structure": at most max_values defaults */
export const stringSelect = z
  .looseObject({
    ...base,
    ...choosing,
    type: z.literal(3),
    custom_id: customId,
    options: z.array(choice).min(1).max(25),
  })
  .superRefine(
    rule(({ options, min_values = 1, max_values = 1 }, complain) => {
      const values = options.map(({ value }) => value);
      if (new Set(values).size < values.length) complain('two options share a value', ['options']);
      if (options.filter((one) => one.default === true).length > max_values)
        complain('more defaults than max_values', ['options']);
      if (min_values > max_values) complain('min_values is over max_values', ['min_values']);
    }),
  );
/** Types of default values that a select takes. @see discord docs: components/reference, "Select Default Value Structure" */
const DEFAULTS: Readonly<Record<number, readonly string[]>> = {
  5: ['user'],
  6: ['role'],
  7: ['user', 'role'],
  8: ['channel'],
};

/**
 * User, role, mentionable and channel selects. @see discord docs: components/reference, "User Select" and following:
 * "number of default values must be in the range defined by min_values and max_values"
 */
export const entitySelect = z
  .strictObject({
    ...base,
    ...choosing,
    type: z.union([z.literal(5), z.literal(6), z.literal(7), z.literal(8)]),
    custom_id: customId,
    default_values: z
      .array(
        z.strictObject({
          id: z.string().regex(/^\d{1,20}$/u, 'is no snowflake'),
          type: z.enum(['user', 'role', 'channel']),
        }),
      )
      .max(25)
      .optional(),
    channel_types: z.array(z.int().min(0)).optional(),
  })
  .superRefine(
    rule(({ type, min_values = 1, max_values = 1, default_values: given, channel_types }, complain) => {
      if (min_values > max_values) complain('min_values is over max_values', ['min_values']);
      if (channel_types !== undefined && type !== 8) complain('only a channel select takes them', ['channel_types']);
      if (given === undefined) return;
      if (given.length < min_values || given.length > max_values)
        complain('the number of default values is not between min_values and max_values', ['default_values']);
      if (given.some((one) => DEFAULTS[type]?.includes(one.type) !== true))
        complain('a default value of another type', ['default_values']);
      if (new Set(given.map(({ id }) => id)).size < given.length)
        complain('a default value is given twice', ['default_values']);
    }),
  );

/** @see discord docs: components/reference, "Action Row" */
const row = z
  .looseObject({
    ...base,
    type: z.literal(1),
    components: z
      .array(z.discriminatedUnion('type', [button, stringSelect, entitySelect]))
      .min(1)
      .max(5),
  })
  .superRefine(
    rule(({ components }, complain) => {
      const selects = components.filter(({ type }) => type !== 2).length;
      if (selects > 0 && components.length > 1) complain('a row holds up to 5 buttons or a single select');
    }),
  );

/** @see discord docs: components/reference, "Text Display". 4000 in total: {@link componentsV2} */
export const textDisplay = z.looseObject({ ...base, type: z.literal(10), content: z.string().min(1).max(4000) });

/** @see discord docs: components/reference, "Unfurled Media Item" */
const media = z.looseObject({
  url: z
    .string()
    .max(2048)
    .regex(/^(https?|attachment):\/\//, 'must be a link or an attachment'),
});
const attachment = z.looseObject({
  url: z.string().regex(/^attachment:\/\//, 'a file component takes attachment:// alone'),
});
const shown = { description: z.string().max(1024).nullish(), spoiler: z.boolean().optional() };

const thumbnail = z.looseObject({ ...base, ...shown, type: z.literal(11), media });
/** @see discord docs: components/reference, "Section": one to three texts, one accessory */
const section = z.looseObject({
  ...base,
  type: z.literal(9),
  components: z.array(textDisplay).min(1).max(3),
  accessory: z.discriminatedUnion('type', [button, thumbnail]),
});
/** @see discord docs: components/reference, "Media Gallery": 1 to 10 items */
const gallery = z.looseObject({
  ...base,
  type: z.literal(12),
  items: z
    .array(z.looseObject({ ...shown, media }))
    .min(1)
    .max(10),
});
const file = z.looseObject({ ...base, type: z.literal(13), file: attachment, spoiler: z.boolean().optional() });
const separator = z.looseObject({
  ...base,
  type: z.literal(14),
  divider: z.boolean().optional(),
  spacing: z.union([z.literal(1), z.literal(2)]).optional(),
});
const contained = [row, textDisplay, section, gallery, separator, file] as const;
/** @see discord docs: components/reference, "Container Child Components": no container in a container */
const container = z.looseObject({
  ...base,
  type: z.literal(17),
  components: z.array(z.discriminatedUnion('type', contained)).min(1),
  accent_color: z.int().min(0).max(0xffffff).nullish(),
  spoiler: z.boolean().optional(),
});

/** A component with its nested ones, as {@link walk} yields it. */
export interface Component {
  readonly type: number;
  readonly id?: number | undefined;
  readonly custom_id?: string | undefined;
  readonly content?: string | undefined;
  readonly disabled?: boolean | undefined;
  readonly components?: readonly Component[] | undefined;
  readonly accessory?: Component | undefined;
  readonly component?: Component | undefined;
  readonly items?: readonly { readonly media: Media; readonly description?: string | null | undefined }[] | undefined;
  readonly media?: Media | undefined;
  readonly file?: Media | undefined;
}

/** Media item of a component. */
export interface Media {
  readonly url: string;
  /** Of an uploaded file; set by Discord. @see discord docs: components/reference, "Unfurled Media Item" */
  readonly attachment_id?: string;
}

/** Yields every component of a message or modal, the nested ones included, in order. */
export function* walk(components: readonly Component[]): Generator<Component> {
  for (const one of components) {
    yield one;
    yield* walk(one.components ?? []);
    if (one.accessory !== undefined) yield* walk([one.accessory]);
    if (one.component !== undefined) yield* walk([one.component]);
  }
}

/** Returns the media of a component itself, without those of nested components. */
export function mediaOf({ items = [], media: picture, file: document }: Component): readonly Media[] {
  return [...items.map((item) => item.media), picture, document].filter((one) => one !== undefined);
}

/** @see discord docs: components/reference, "Custom ID" (unique in a message) and "Anatomy of a Component" (id, too) */
const unique = rule((components: readonly Component[], complain) => {
  const all = [...walk(components)];
  for (const key of ['custom_id', 'id'] as const) {
    const given = all.map((one) => one[key]).filter((one) => one !== undefined && one !== 0);
    if (new Set(given).size < given.length) complain(`two components share a ${key}`);
  }
});

/**
 * @see discord docs: components/reference, "Legacy Message Component Behavior": 5 rows at the top level, nothing else
 */
export const legacyComponents = z.array(row).max(5).superRefine(unique);

/**
 * @see discord docs: components/reference, introduction: 40 components in total
 * @see docs.jda.wiki TextDisplay: 4000 characters of text in total
 */
export const componentsV2 = z
  .array(z.union([...contained, container]))
  .superRefine(unique)
  .superRefine(
    rule((components: readonly Component[], complain) => {
      const all = [...walk(components)];
      if (all.length > 40) complain(`${all.length} components, 40 are allowed`);
      const characters = all.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
      if (characters > 4000) complain(`${characters} characters of text, 4000 are allowed`);
    }),
  );
