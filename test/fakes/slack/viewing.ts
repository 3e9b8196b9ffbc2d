import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type Block, blocksOf, elementsOf, withIds } from './blocks.ts';
import { type BlockElement, plain } from './elements.ts';
import { checked } from './form.ts';
import type { Json, View } from './records.ts';
import { Refusal } from './refusal.ts';
import { id, type World } from './world.ts';

/** @see docs.slack.dev/reference/views: 24 for title, submit and close, private_metadata 3000, callback_id 255 */
const common = {
  private_metadata: z.string().max(3000).optional(),
  callback_id: z.string().max(255).optional(),
  external_id: z.string().max(255).optional(),
};
const modal = z
  .strictObject({
    type: z.literal('modal'),
    ...common,
    title: plain(24),
    blocks: blocksOf('modal'),
    submit: plain(24).optional(),
    close: plain(24).optional(),
    clear_on_close: z.boolean().optional(),
    notify_on_close: z.boolean().optional(),
    submit_disabled: z.boolean().optional(),
  })
  .refine(
    ({ blocks, submit }) => submit !== undefined || blocks.every(({ type }) => type !== 'input'),
    'submit is required when an input block is within the blocks array',
  );
const home = z.strictObject({ type: z.literal('home'), ...common, blocks: blocksOf('home') });

type Modal = z.output<typeof modal>;
type Home = z.output<typeof home>;

/** "view_too_large: … greater than 250kb": reference/methods/views.open. */
const MAX_BYTES = 250 * 1024;

/** "Currently the limit is 3": reference/methods/views.push, push_limit_reached. */
const MAX_STACK = 3;

/** Validates a view. @throws Refusal invalid_arguments, view_too_large */
export function checkedView(view: unknown, type: 'modal' | 'home'): Modal | Home {
  if (Buffer.byteLength(JSON.stringify(view) ?? '') > MAX_BYTES) {
    throw new Refusal('view_too_large', { violation: 'a view of more than 250 kB' });
  }
  return checked(type === 'modal' ? modal : home, view, { root: '/view', what: `a ${type} view` });
}

/** Opens a new view on top of a user's views. @throws Refusal push_limit_reached */
export function openView(
  world: World,
  { teamId, userId, previous }: { readonly teamId: string; readonly userId: string; readonly previous: View | null },
  form: Modal | Home,
): View {
  const viewId = id('V');
  const rootId = previous?.rootId ?? viewId;
  const stack = [...world.views.values()].filter((one) => one.isOpen && one.rootId === rootId);
  if (stack.length >= MAX_STACK) throw new Refusal('push_limit_reached', { violation: 'more than three views' });
  const view: View = {
    id: viewId,
    teamId,
    userId,
    type: form.type,
    rootId,
    previousId: previous?.id ?? null,
    hash: '',
    callbackId: '',
    externalId: '',
    privateMetadata: '',
    title: '',
    submit: null,
    close: null,
    notifyOnClose: false,
    clearOnClose: false,
    blocks: [],
    values: new Map(),
    errors: {},
    isOpen: true,
  };
  world.views.set(view.id, view);
  applyView(view, form);
  return view;
}

/**
 * Replaces the contents of a view. Entered values stay where block and action keep their ids. @see
 * docs.slack.dev/surfaces/modals "Updating views"
 */
export function applyView(view: View, form: Modal | Home): void {
  view.hash = `1700000000.${randomBytes(4).toString('hex')}`;
  view.callbackId = form.callback_id ?? '';
  view.externalId = form.external_id ?? '';
  view.privateMetadata = form.private_metadata ?? '';
  view.blocks = withIds(form.blocks);
  view.errors = {};
  if (form.type === 'modal') {
    view.title = form.title.text;
    view.submit = form.submit?.text ?? null;
    view.close = form.close?.text ?? null;
    view.notifyOnClose = form.notify_on_close ?? false;
    view.clearOnClose = form.clear_on_close ?? false;
  }
  const kept = view.values;
  view.values = new Map();
  for (const block of view.blocks) {
    for (const element of elementsOf(block)) {
      const value = kept.get(block.block_id)?.get(element.action_id ?? '') ?? initialOf(block, element);
      if (value !== null) fillIn(view, block.block_id, element.action_id ?? '', value);
    }
  }
}

/** Stores a value entered by the user. */
export function fillIn(view: View, blockId: string, actionId: string, value: Json): void {
  const block = view.values.get(blockId) ?? new Map<string, Json>();
  block.set(actionId, value);
  view.values.set(blockId, block);
}

/** Closes the topmost view; the one below it becomes visible again. */
export function closeView(world: World, view: View): void {
  view.isOpen = false;
  world.changed();
}

/**
 * Returns the initial value of an element. Buttons and menus outside inputs have none. @see
 * docs.slack.dev/reference/views "state"
 */
function initialOf({ type: blockType }: Block, element: BlockElement): Json | null {
  const { type } = element;
  const start = (name: string): unknown => element[name] ?? null;
  switch (type) {
    case 'plain_text_input':
    case 'number_input':
    case 'email_text_input':
    case 'url_text_input':
      return { type, value: start('initial_value') };
    case 'static_select':
    case 'radio_buttons':
      return { type, selected_option: start('initial_option') };
    case 'multi_static_select':
    case 'checkboxes':
      return { type, selected_options: start('initial_options') ?? [] };
    case 'conversations_select':
      return { type, selected_conversation: start('initial_conversation') };
    case 'users_select':
      return { type, selected_user: start('initial_user') };
    case 'multi_users_select':
      return { type, selected_users: start('initial_users') ?? [] };
    case 'file_input':
      return { type, files: [] };
    default:
      return blockType === 'input' ? { type } : null;
  }
}
