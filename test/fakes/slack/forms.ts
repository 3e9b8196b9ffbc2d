import { type Block, elementsOf } from './blocks.ts';
import type { BlockElement } from './elements.ts';
import type { Envelope, Json, View } from './records.ts';
import type { Telling } from './telling.ts';
import { topView } from './view-methods.ts';
import { closeView, fillIn } from './viewing.ts';
import { eventFileJson } from './wire.ts';
import { present, type World } from './world.ts';

/** Values to fill in, by the input's `action_id` or its block's `block_id`: text, an option's value, or file ids. */
export type Entries = Readonly<Record<string, string | readonly string[] | null>>;

/**
 * Simulates the actions of users in modals and on the Home tab. Throws an `Error` for each action that Slack's own
 * client does not allow.
 */
export class Forms {
  readonly #world: World;
  readonly #telling: Telling;

  constructor(world: World, telling: Telling) {
    this.#world = world;
    this.#telling = telling;
  }

  /** Returns the modal in front of a user; null if none is open. */
  shown(userId: string): View | null {
    return topView(this.#world, userId) ?? null;
  }

  /** Returns the Home tab of a user; null while the app has published none. */
  home(userId: string): View | null {
    return this.#world.views.values().find((one) => one.type === 'home' && one.userId === userId) ?? null;
  }

  /** Fills in an input without submitting; the app receives an event if the input dispatches. */
  change(view: View, which: string, entry: string | readonly string[] | null): Envelope | null {
    const { block, element } = this.#input(view, which);
    const value = this.#value(element, entry);
    const actionId = element.action_id ?? '';
    if (block.type === 'input' || element.type !== 'button') fillIn(view, block.block_id, actionId, value);
    // @see docs.slack.dev/reference/block-kit/blocks/input-block: `dispatch_action`
    if (block.type === 'input' && block['dispatch_action'] !== true) return null;
    return this.#telling.viewAction(view, { ...value, action_id: actionId, block_id: block.block_id });
  }

  /** Presses a button in a modal or on the Home tab. */
  press(view: View, which: string): Envelope {
    const { block, element } = this.#input(view, which);
    if (element.type !== 'button') throw new Error(`${which} is no button.`);
    const { type, action_id: actionId, text, value } = element;
    const action = { type, action_id: actionId, text, ...(value === undefined ? {} : { value }) };
    return this.#telling.viewAction(view, { ...action, block_id: block.block_id });
  }

  /** Fills in a modal and submits it. */
  submit(view: View, entries: Entries = {}): Envelope {
    if (view.submit === null) throw new Error(`${view.title} has no button to submit it.`);
    for (const [which, entry] of Object.entries(entries)) {
      const { block, element } = this.#input(view, which);
      fillIn(view, block.block_id, element.action_id ?? '', this.#value(element, entry));
    }
    for (const block of view.blocks) demandFilled(view, block);
    return this.#telling.viewEnd(view, 'view_submission');
  }

  /** Closes a modal by its own button; the app receives an event if it subscribed with `notify_on_close`. */
  close(view: View): Envelope | null {
    closeView(this.#world, view);
    return view.notifyOnClose ? this.#telling.viewEnd(view, 'view_closed') : null;
  }

  #input(view: View, which: string): { block: Block; element: BlockElement } {
    if (!view.isOpen) throw new Error(`${view.title} is closed.`);
    for (const block of view.blocks) {
      const isMeant = (one: BlockElement): boolean => one.action_id === which || block.block_id === which;
      const element = elementsOf(block).find((one) => isMeant(one) || one['value'] === which);
      if (element !== undefined) return { block, element };
    }
    throw new Error(`There is no ${which} in ${view.title}: ${JSON.stringify(view.blocks)}`);
  }

  #value(element: BlockElement, entry: string | readonly string[] | null): Json {
    const { type } = element;
    const list = entry === null ? [] : typeof entry === 'string' ? [entry] : entry;
    const [first = null] = list;
    switch (type) {
      case 'static_select':
      case 'radio_buttons':
        return { type, selected_option: first === null ? null : optionOf(element, first) };
      case 'multi_static_select':
      case 'checkboxes':
        return { type, selected_options: list.map((one) => optionOf(element, one)) };
      case 'conversations_select':
        if (first !== null) present(this.#world.channels.get(first), `conversation ${first}`);
        return { type, selected_conversation: first };
      case 'users_select':
        if (first !== null) present(this.#world.users.get(first), `user ${first}`);
        return { type, selected_user: first };
      case 'multi_users_select': {
        const most = Number(element['max_selected_items'] ?? Number.POSITIVE_INFINITY);
        if (list.length > most) throw new Error(`${element.action_id} takes ${most} people.`);
        for (const one of list) present(this.#world.users.get(one), `user ${one}`);
        return { type, selected_users: list };
      }
      case 'file_input': {
        const most = Number(element['max_files'] ?? 10);
        if (list.length > most) throw new Error(`${element.action_id} takes ${most} files.`);
        return { type, files: list.map((fileId) => this.#file(element, fileId)) };
      }
      default:
        return { type, value: demandTyped(element, first) };
    }
  }

  #file(element: BlockElement, fileId: string): Json {
    const file = present(this.#world.files.get(fileId), `file ${fileId}`);
    const kinds = element['filetypes'] as readonly string[] | undefined;
    const kind = /\.(\w+)$/.exec(file.name)?.[1] ?? '';
    if (kinds !== undefined && !kinds.includes(kind))
      throw new Error(`${element.action_id} takes ${kinds.join(', ')}.`);
    return eventFileJson(this.#world, fileId);
  }
}

function optionOf(element: BlockElement, value: string): Json {
  const groups = (element['option_groups'] ?? []) as readonly { readonly options: readonly Json[] }[];
  const options = [...((element['options'] ?? []) as readonly Json[]), ...groups.flatMap((one) => one.options)];
  return present(
    options.find((one) => one['value'] === value),
    `option ${value} in ${element.action_id}: ${options.map((one) => one['value']).join(', ')}`,
  );
}

/**
 * Rejects a value that Slack's own form rejects. @see
 * docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element, /number-input-element
 */
function demandTyped(element: BlockElement, typed: string | null): string | null {
  if (typed === null || typed === '') return null;
  const { max_length: max, min_length: min, min_value: least, max_value: most } = element;
  const isWrong =
    (max !== undefined && typed.length > Number(max)) ||
    (min !== undefined && typed.length < Number(min)) ||
    (least !== undefined && Number(typed) < Number(least)) ||
    (most !== undefined && Number(typed) > Number(most)) ||
    (element.type === 'number_input' && Number.isNaN(Number(typed))) ||
    (element.type === 'url_text_input' && !URL.canParse(typed));
  if (isWrong) throw new Error(`${element.action_id} does not take ${typed}.`);
  return typed;
}

/** Checks that a required input is filled in. */
function demandFilled(view: View, block: Block): void {
  if (block.type !== 'input' || block['optional'] === true) return;
  const value = view.values.get(block.block_id)?.get(block.element?.action_id ?? '');
  const held =
    value?.['value'] ??
    value?.['selected_option'] ??
    value?.['selected_conversation'] ??
    value?.['selected_options'] ??
    value?.['selected_user'] ??
    value?.['selected_users'] ??
    value?.['files'] ??
    null;
  const isEmpty = held === null || (Array.isArray(held) && held.length === 0);
  if (isEmpty) throw new Error(`${block.block_id} is required.`);
}
