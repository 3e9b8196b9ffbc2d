import { z } from 'zod';

/** @see docs.slack.dev/reference/block-kit/blocks/rich-text-block, "Rich text element types": style */
const style = z
  .strictObject({
    bold: z.boolean().optional(),
    italic: z.boolean().optional(),
    strike: z.boolean().optional(),
    code: z.boolean().optional(),
    underline: z.boolean().optional(),
    highlight: z.boolean().optional(),
    client_highlight: z.boolean().optional(),
    unlink: z.boolean().optional(),
  })
  .optional();

/** @see docs.slack.dev/reference/block-kit/blocks/rich-text-block: elements of a section; a text is not empty */
const inline = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string().min(1), style }),
  z.strictObject({
    type: z.literal('link'),
    url: z.url().max(3000),
    text: z.string().min(1).optional(),
    unsafe: z.boolean().optional(),
    style,
  }),
  z.strictObject({ type: z.literal('user'), user_id: z.string().regex(/^[UW][A-Z0-9]+$/), style }),
  z.strictObject({ type: z.literal('usergroup'), usergroup_id: z.string(), style }),
  z.strictObject({ type: z.literal('channel'), channel_id: z.string().regex(/^[CGD][A-Z0-9]+$/), style }),
  z.strictObject({ type: z.literal('broadcast'), range: z.enum(['here', 'channel', 'everyone']), style }),
  z.looseObject({ type: z.literal('emoji'), name: z.string().min(1) }),
  z.strictObject({
    type: z.literal('date'),
    timestamp: z.int(),
    format: z.string().min(1),
    url: z.string().optional(),
    fallback: z.string().optional(),
    style,
  }),
  z.strictObject({ type: z.literal('color'), value: z.string(), style }),
]);

const section = z.strictObject({ type: z.literal('rich_text_section'), elements: z.array(inline).min(1) });
const indented = { indent: z.int().min(0).max(8).optional(), border: z.int().min(0).max(1).optional() };

/** Elements of a rich text block. @see docs.slack.dev/reference/block-kit/blocks/rich-text-block, "Sub-elements" */
export const richTextElements = z.discriminatedUnion('type', [
  section,
  z.strictObject({
    type: z.literal('rich_text_list'),
    style: z.enum(['bullet', 'ordered']),
    elements: z.array(section).min(1),
    offset: z.int().optional(),
    ...indented,
  }),
  z.looseObject({ type: z.literal('rich_text_preformatted'), elements: z.array(inline).min(1) }),
  z.looseObject({ type: z.literal('rich_text_quote'), elements: z.array(inline).min(1) }),
]);

/** Returns the visible text of a block that may be rich text, one line for each section. */
export function richTextOf(block: { readonly type: string; readonly elements?: unknown }): readonly string[] {
  if (block.type !== 'rich_text') return [];
  return z
    .array(section)
    .parse(block.elements)
    .map(({ elements }) => elements.map(textOf).join(''));
}

function textOf(element: z.output<typeof inline>): string {
  switch (element.type) {
    case 'user':
      return `@${element.user_id}`;
    case 'channel':
      return `#${element.channel_id}`;
    case 'date':
      return element.fallback ?? '';
    default:
      return 'text' in element && typeof element.text === 'string' ? element.text : '';
  }
}
