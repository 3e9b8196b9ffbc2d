import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type BlockElement, blockElements, contextElements, image, inputElements, plain, text } from './elements.ts';
import { checked } from './form.ts';
import type { Json } from './records.ts';
import { richTextElements } from './rich-text.ts';

/** A block with all its ids. */
export type Block = Json & {
  readonly type: string;
  readonly block_id: string;
  readonly elements?: readonly BlockElement[];
  readonly element?: BlockElement;
  readonly accessory?: BlockElement;
};

/** Surface on which blocks are shown. */
export type Surface = 'message' | 'modal' | 'home';

/** @see docs.slack.dev/reference/block-kit/blocks: "block_id … Maximum length for this field is 255 characters" */
const id = { block_id: z.string().min(1).max(255).optional() };

/** @see docs.slack.dev/reference/block-kit/blocks/section-block: text 3000, ten fields of 2000 */
const section = z
  .strictObject({
    type: z.literal('section'),
    ...id,
    text: text(3000).optional(),
    fields: z.array(text(2000)).min(1).max(10).optional(),
    accessory: blockElements.optional(),
    expand: z.boolean().optional(),
  })
  .refine((one) => one.text !== undefined || one.fields !== undefined, 'a section needs text or fields');

/** @see docs.slack.dev/reference/block-kit/blocks/actions-block: 25 elements */
const actions = z.strictObject({
  type: z.literal('actions'),
  ...id,
  elements: z.array(blockElements).min(1).max(25),
});

/** @see docs.slack.dev/reference/block-kit/blocks/context-block: ten elements */
const context = z.strictObject({
  type: z.literal('context'),
  ...id,
  elements: z.array(contextElements).min(1).max(10),
});

/** @see docs.slack.dev/reference/block-kit/blocks/header-block: 150 */
const header = z.strictObject({ type: z.literal('header'), ...id, text: plain(150), level: z.int().optional() });

/** @see docs.slack.dev/reference/block-kit/blocks/divider-block */
const divider = z.strictObject({ type: z.literal('divider'), ...id });

/** @see docs.slack.dev/reference/block-kit/blocks/image-block: alt text required, 2000 */
const imageBlock = image.safeExtend({ ...id, title: plain(2000).optional() });

/** @see docs.slack.dev/reference/block-kit/blocks/input-block: label and hint 2000 */
const input = z.strictObject({
  type: z.literal('input'),
  ...id,
  label: plain(2000),
  element: inputElements,
  dispatch_action: z.boolean().optional(),
  hint: plain(2000).optional(),
  optional: z.boolean().optional(),
});

/** @see docs.slack.dev/reference/block-kit/blocks/video-block: title below 200, author below 50, https alone */
const video = z.looseObject({
  type: z.literal('video'),
  ...id,
  alt_text: z.string().min(1),
  title: plain(199),
  thumbnail_url: z.string().min(1),
  video_url: z.string().startsWith('https://'),
  author_name: z.string().max(49).optional(),
});

/** @see docs.slack.dev/reference/block-kit/blocks/markdown-block: 12,000 for all of a message together */
const markdown = z.strictObject({ type: z.literal('markdown'), ...id, text: z.string().min(1).max(12_000) });

const richText = z.strictObject({ type: z.literal('rich_text'), ...id, elements: z.array(richTextElements).min(1) });

const rawCells = [
  z.strictObject({ type: z.literal('raw_text'), text: z.string().min(1) }),
  z.strictObject({ type: z.literal('raw_number'), value: z.number(), text: z.string().min(1).optional() }),
] as const;

/** @see docs.slack.dev/reference/block-kit/blocks/table-block: 100 rows of 20 cells, raw_text or rich_text */
const table = z
  .strictObject({
    type: z.literal('table'),
    ...id,
    rows: z
      .array(
        z
          .array(z.discriminatedUnion('type', [...rawCells, richText]))
          .min(1)
          .max(20),
      )
      .min(1)
      .max(100),
    column_settings: z
      .array(
        z.strictObject({ align: z.enum(['left', 'center', 'right']).optional(), is_wrapped: z.boolean().optional() }),
      )
      .max(20)
      .optional(),
  })
  .refine(({ rows }) => JSON.stringify(rows).length < 30_000, 'table is too long');

const label = z.string().min(1).max(20);
const points = z
  .array(z.strictObject({ label, value: z.number() }))
  .min(1)
  .max(20);

/**
 * @see docs.slack.dev/reference/block-kit/blocks/data-visualization-block: title 50; six series with different names,
 * each with a point for every category; labels 20, axis titles 50
 */
const dataVisualization = z.strictObject({
  type: z.literal('data_visualization'),
  ...id,
  title: z.string().min(1).max(50),
  chart: z
    .strictObject({
      type: z.enum(['bar', 'area', 'line']),
      series: z
        .array(z.strictObject({ name: label, data: points }))
        .min(1)
        .max(6),
      axis_config: z.strictObject({
        categories: z.array(label).min(1).max(20),
        x_label: z.string().max(50).optional(),
        y_label: z.string().max(50).optional(),
      }),
    })
    .refine(({ series }) => new Set(series.map(({ name }) => name)).size === series.length, 'series names differ')
    .refine(
      ({ series, axis_config: { categories } }) =>
        series.every(({ data }) => data.map((point) => point.label).join('\n') === categories.join('\n')),
      'every series has a point for every category',
    ),
});

const anyBlock = z.discriminatedUnion('type', [
  section,
  actions,
  context,
  header,
  divider,
  imageBlock,
  input,
  video,
  markdown,
  richText,
  table,
  dataVisualization,
]);

/** @see docs.slack.dev/reference/block-kit/blocks: 50 in a message, 100 in modals and Home tabs */
const MAX_BLOCKS = { message: 50, modal: 100, home: 100 } as const;

/**
 * Blocks that are available only in messages. @see docs.slack.dev/reference/block-kit/blocks, "Available in surfaces"
 */
const MESSAGE_ONLY = ['markdown', 'table', 'data_visualization'];

/**
 * Most blocks of a type in a message.
 * @see docs.slack.dev/reference/block-kit/blocks/table-block ("only_one_table_allowed"); github.com/vercel/chat/pull/696
 */
const MAX_OF_TYPE = { table: 1, data_visualization: 2 } as const;

/** Returns the schema of the blocks of a surface. */
export function blocksOf(surface: Surface) {
  return z
    .array(anyBlock)
    .max(MAX_BLOCKS[surface], `no more than ${MAX_BLOCKS[surface]} items allowed`)
    .superRefine((all, look) => {
      const complain = (message: string, at: number): void => {
        look.addIssue({ code: 'custom', message, path: [at] });
      };
      const ids = new Set<string>();
      for (const [at, block] of all.entries()) {
        if (block.block_id !== undefined && ids.has(block.block_id))
          complain(`block_id "${block.block_id}" already exists`, at);
        ids.add(block.block_id ?? '');
        const actionIds = elementsOf(block as unknown as Block).map((one) => one.action_id ?? null);
        const given = actionIds.filter((one) => one !== null);
        // "Should be unique among all other action_ids in the containing block":
        // reference/block-kit/block-elements/button-element
        if (new Set(given).size < given.length) complain(`action_id "${given.join('", "')}" already exists`, at);
        if (surface !== 'message' && MESSAGE_ONLY.includes(block.type)) complain(`${block.type} is for messages`, at);
        const isFileInput = block.type === 'input' && block.element.type === 'file_input';
        // @see docs.slack.dev/reference/block-kit/block-elements/file-input-element: modals
        if (isFileInput && surface !== 'modal') complain('file_input is for modals', at);
      }
      for (const [type, most] of Object.entries(MAX_OF_TYPE)) {
        const found = all.filter((one) => one.type === type).length;
        if (found > most) complain(`${found} blocks of type ${type}, at most ${most} are allowed`, 0);
      }
      const markdownLength = all.reduce((sum, one) => sum + (one.type === 'markdown' ? one.text.length : 0), 0);
      if (markdownLength > 12_000) complain('markdown blocks of more than 12000 characters together', 0);
    });
}

/** Validates the blocks of a message. @throws Refusal invalid_blocks, counted as a violation */
export function checkedBlocks(value: unknown, what: string): readonly Block[] {
  return withIds(checked(blocksOf('message'), value, { error: 'invalid_blocks', root: '/blocks', what }));
}

/** Generates missing ids. @see docs.slack.dev/reference/block-kit/blocks: "If not specified, one will be generated" */
export function withIds(blocks: readonly Json[]): readonly Block[] {
  return blocks.map((block) => {
    const one = block as Block;
    const named = (element: BlockElement): BlockElement =>
      isInteractive(element) ? { action_id: fresh(), ...element } : element;
    return {
      ...one,
      block_id: one.block_id ?? fresh(),
      ...(one.type === 'actions' && one.elements !== undefined ? { elements: one.elements.map(named) } : {}),
      ...(one.element === undefined ? {} : { element: named(one.element) }),
      ...(one.accessory === undefined ? {} : { accessory: named(one.accessory) }),
    };
  });
}

/** Returns the interactive elements of a block. */
export function elementsOf(block: Block): readonly BlockElement[] {
  const inside = block.type === 'actions' ? (block.elements ?? []) : [];
  return [...inside, block.element, block.accessory].filter((one) => one !== undefined).filter(isInteractive);
}

const isInteractive = ({ type }: BlockElement): boolean => type !== 'image';
const fresh = (): string => randomBytes(3).toString('base64url');
