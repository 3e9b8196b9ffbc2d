import { z } from 'zod';
import { MAX_FILES } from './attaching.ts';
import { type Component, componentsV2, legacyComponents } from './components.ts';
import { checked, rule, snowflake } from './form.ts';
import type { Json } from './refusal.ts';

/** @see discord docs: resources/message, "Embed Limits" */
const embed = z.looseObject({
  title: z.string().max(256).nullish(),
  description: z.string().max(4096).nullish(),
  url: z.string().nullish(),
  fields: z
    .array(z.looseObject({ name: z.string().min(1).max(256), value: z.string().min(1).max(1024) }))
    .max(25)
    .nullish(),
  footer: z.looseObject({ text: z.string().max(2048) }).nullish(),
  author: z.looseObject({ name: z.string().max(256) }).nullish(),
  image: z.looseObject({ url: z.string() }).nullish(),
  thumbnail: z.looseObject({ url: z.string() }).nullish(),
});
type Embed = z.output<typeof embed>;

/** The limit of 6000 characters applies to all embeds of a message together. */
const embeds = z
  .array(embed)
  .max(10)
  .superRefine(
    rule((all: readonly Embed[], complain) => {
      const characters = all.reduce((sum, one) => sum + lengthOf(one), 0);
      if (characters > 6000) complain(`${characters} characters in embeds, 6000 are allowed`);
      for (const [index, { image, thumbnail }] of all.entries()) {
        // @see discord docs: reference, "Using Attachments within Embeds": only .jpg, .jpeg, .png, .webp and .gif
        for (const { url } of [image, thumbnail].filter((one) => one !== undefined && one !== null)) {
          const isOther = url.startsWith('attachment://') && !/\.(jpe?g|png|webp|gif)$/i.test(url);
          if (isOther) complain(`${url} is no picture that an embed can show`, [index]);
        }
      }
    }),
  );

const lengthOf = ({ title, description, fields, footer, author }: Embed): number =>
  [title, description, footer?.text, author?.name, ...(fields ?? []).flatMap(({ name, value }) => [name, value])]
    .map((text) => text?.length ?? 0)
    .reduce((sum, length) => sum + length, 0);

/**
 * @see discord docs: resources/message, "Allowed Mentions Object": `parse` and a list of the same kind exclude each
 * other
 */
const allowedMentions = z
  .looseObject({
    parse: z.array(z.enum(['users', 'roles', 'everyone'])).optional(),
    users: z.array(snowflake).max(100).optional(),
    roles: z.array(snowflake).max(100).optional(),
    replied_user: z.boolean().optional(),
  })
  .superRefine(
    rule(({ parse = [], users = [], roles = [] }, complain) => {
      if (parse.includes('users') && users.length > 0)
        complain('parse:["users"] and users: [ids...] are mutually exclusive.');
      if (parse.includes('roles') && roles.length > 0)
        complain('parse:["roles"] and roles: [ids...] are mutually exclusive.');
    }),
  );

/** @see discord docs: resources/message, "Attachment Request Structure": description 1024 */
const attachmentRequest = z.looseObject({
  id: z.union([z.string().regex(/^\d+$/), z.int().min(0)]).transform(String),
  filename: z.string().optional(),
  description: z.string().max(1024).nullish(),
});

const message = z.looseObject({
  content: z.string().max(2000).nullish(),
  embeds: embeds.nullish(),
  components: z.array(z.unknown()).nullish(),
  allowed_mentions: allowedMentions.nullish(),
  attachments: z.array(attachmentRequest).max(MAX_FILES).nullish(),
  flags: z.int().min(0).nullish(),
  // @see discord docs: resources/message, "Create Message": nonce up to 25 characters
  nonce: z
    .union([z.int(), z.string().max(25)])
    .transform(String)
    .nullish(),
  enforce_nonce: z.boolean().nullish(),
  message_reference: z
    .looseObject({
      message_id: snowflake,
      channel_id: snowflake.optional(),
      fail_if_not_exists: z.boolean().optional(),
    })
    .nullish(),
});

/** Body of a send or an edit. */
export type MessageForm = z.output<typeof message>;

/** Validates the body of a message. @throws Refusal 50035 if Discord would reject it. */
export const checkedMessage = (body: unknown): MessageForm => checked(message, body, 'message');

/** Validates components by the rules of the message's kind; returns none if none were given. @throws Refusal 50035 */
export function checkedComponents(components: MessageForm['components'], isV2: boolean): readonly Component[] {
  const schema = isV2 ? componentsV2 : legacyComponents;
  return checked(schema, components ?? [], isV2 ? 'components (V2)' : 'components') as readonly Component[];
}

/** Returns embeds as Discord stores them. @see discord docs: resources/message, "Create Message": always `rich` */
export const keptEmbeds = (given: MessageForm['embeds']): readonly Json[] =>
  (given ?? []).map((one) => ({ ...one, type: 'rich' }));
