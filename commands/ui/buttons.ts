import type { ButtonAction } from '#src/chat/view.ts';
import type { Person, Price, TaskId } from '#src/tasks/task.ts';

/** Platforms take no longer ids of buttons and forms. @see https://discord.com/developers/docs/components/reference */
const MAX_ID_LENGTH = 100;

/** A page of `/video list`, as its button carries it. */
export interface ListPage {
  /** How many clips (of those that fit) stand on the pages before. */
  readonly offset: number;
  /** Whose clips, by the platform's id; `null` for everybody's. */
  readonly user: string | null;
  /** What their prompts have to hold; `null` for anything. */
  readonly search: string | null;
}

/** A page of `/video models`. */
export interface ModelsPage {
  readonly list: 'models';
  /** How many models stand on the pages before. */
  readonly offset: number;
}

/** A page of `/video usage`. */
export interface UsagePage {
  readonly list: 'usage';
  /** How many people, and how many models, stand on the pages before. */
  readonly offset: number;
  /** Such as `2026-11`. */
  readonly month: string;
  /** Whose spend, by the platform's id; `null` for everybody's. */
  readonly user: string | null;
}

/** A page of a list, as its button carries it. */
export type Page = ListPage | ModelsPage | UsagePage;

/** What a button's id says. */
export type Press =
  | { readonly action: Exclude<ButtonAction, 'again' | 'retry'>; readonly task: TaskId }
  /** `price`: what the button named; `null` where it named none. */
  | { readonly action: 'retry'; readonly task: TaskId; readonly price: Price | null }
  /** `afterSends`: how often the task had been sent when the button was offered. */
  | { readonly action: 'again'; readonly task: TaskId; readonly afterSends: number }
  | { readonly action: 'page'; readonly page: Page }
  /** Buys what a draft holds; `price`: what the button named, `null` where it named none. */
  | { readonly action: 'order'; readonly draft: TaskId; readonly price: Price | null }
  | { readonly action: DraftAction; readonly draft: TaskId }
  /** Announces everyone's clips in this channel, or to the presser by direct message. */
  | { readonly action: 'notify'; readonly what: 'on' | 'direct' }
  /** Stops a subscription, by `subscriptionKey`. */
  | { readonly action: 'notify'; readonly what: 'off'; readonly subscription: string };

/** What a person can do with a draft without buying it: open it in a form, run the command that was meant, discard it. */
export type DraftAction = 'fix' | 'run' | 'discard';

const ACTIONS: readonly string[] = [
  'retry',
  'edit',
  'cancel',
  'details',
  'lookup',
  'again',
  'leave',
  'show',
  'refetch',
] satisfies readonly ButtonAction[];

/** The id of a task's button: `retry:7f3a…`, and `again:7f3a…:1` with the number of sends it is offered after. */
export function taskButtonId(action: ButtonAction, task: TaskId, sends: number): string {
  return action === 'again' ? `again:${task}:${sends}` : `${action}:${task}`;
}

/** The id of a page's button, `null` where it would be too long for a platform. */
export function pageButtonId(page: Page): string | null {
  const id = `page:${pageId(page)}`;
  return id.length > MAX_ID_LENGTH ? null : id;
}

function pageId(page: Page): string {
  if ('list' in page)
    return page.list === 'models' ? `models:${page.offset}` : `usage:${page.offset}:${page.month}:${page.user ?? ''}`;
  const { offset, user, search } = page;
  const whose = user ?? '';
  // The length in front lets a platform's id hold any character.
  return `list:${offset}:${whose.length}:${whose}${search ?? ''}`;
}

/** The id of the button that makes a task again, with the price that it names: `retry:7f3a…:0.30USD`. */
export function retryButtonId(task: TaskId, price: Price | null): string {
  return price === null ? `retry:${task}` : `retry:${task}:${price.amount}${price.currency}`;
}

/** The id of a button that buys what a draft holds, with the price that it names: `order:7f3a…:0.20USD`. */
export function orderButtonId(draft: TaskId, { amount, currency }: Price): string {
  return `order:${draft}:${amount}${currency}`;
}

/** The id of another button of a draft: `discard:7f3a…`. */
export function draftButtonId(action: DraftAction, draft: TaskId): string {
  return `${action}:${draft}`;
}

/** Whether a private answer to a button takes the place of the message it stands in: a page turned, an offer discarded, a notification turned on. */
export function isAnsweredInPlace(id: string): boolean {
  return /^(?:page|discard|notify):/u.test(id);
}

/** Whether a button buys what a draft holds: beside a refusal, the whole request is kept for it. */
export function isOrderButton({ id }: { readonly id: string }): boolean {
  return parseButton(id)?.action === 'order';
}

/** Reads a button's id; `null` for one that no version of Dailies made. */
export function parseButton(id: string): Press | null {
  if (id.startsWith('page:')) return parsePage(id);
  if (id.startsWith('notify:')) return parseNotify(id);
  return parsePriced(id) ?? parseTask(id);
}

/** The id of a button that turns a notification on: `notify:on`, `notify:direct`. */
export function notifyButtonId(what: 'on' | 'direct'): string {
  return `notify:${what}`;
}

/** The id of a button that stops a subscription: `notify:off:1f2e…`. */
export function stopButtonId(subscription: string): string {
  return `notify:off:${subscription}`;
}

function parseNotify(id: string): Press | null {
  const [, what, subscription] = /^notify:(on|direct|off)(?::([0-9a-f]{16}))?$/u.exec(id) ?? [];
  if (what === 'off') return subscription === undefined ? null : { action: 'notify', what, subscription };
  return subscription === undefined && (what === 'on' || what === 'direct') ? { action: 'notify', what } : null;
}

/** Reads what may carry a price, and the other buttons of a draft. */
function parsePriced(id: string): Press | null {
  const [, action, draft, amount, currency] =
    /^(order|fix|run|discard|retry):([^:]+)(?::(\d{1,20}(?:\.\d{1,20})?)([A-Z]{3}))?$/u.exec(id) ?? [];
  if (action === undefined || draft === undefined) return null;
  const price = amount === undefined || currency === undefined ? null : { amount, currency };
  if (action === 'retry') return { action, task: draft as TaskId, price };
  if (action === 'order') return { action, draft: draft as TaskId, price };
  return price === null ? { action: action as DraftAction, draft: draft as TaskId } : null;
}

function parseTask(id: string): Press | null {
  const [action = '', task = '', sends, ...more] = id.split(':');
  if (task === '' || more.length > 0 || !isAction(action) || action === 'retry') return null;
  if (action !== 'again') return sends === undefined ? { action, task: task as TaskId } : null;
  if (sends === undefined || !/^\d{1,6}$/.test(sends)) return null;
  return { action, task: task as TaskId, afterSends: Number(sends) };
}

function parsePage(id: string): Press | null {
  const page = parseModelsPage(id) ?? parseUsagePage(id) ?? parseListPage(id);
  return page === null ? null : { action: 'page', page };
}

function parseModelsPage(id: string): ModelsPage | null {
  const [, offset] = /^page:models:(\d{1,7})$/u.exec(id) ?? [];
  return offset === undefined ? null : { list: 'models', offset: Number(offset) };
}

function parseUsagePage(id: string): UsagePage | null {
  const [, offset, month, user] = /^page:usage:(\d{1,7}):(\d{4}-\d\d):(.*)$/su.exec(id) ?? [];
  if (offset === undefined || month === undefined || user === undefined) return null;
  return { list: 'usage', offset: Number(offset), month, user: user === '' ? null : user };
}

function parseListPage(id: string): ListPage | null {
  const [, offset, length, rest] = /^page:list:(\d{1,7}):(\d{1,3}):(.*)$/su.exec(id) ?? [];
  if (offset === undefined || length === undefined || rest === undefined) return null;
  const user = rest.slice(0, Number(length));
  if (user.length < Number(length)) return null;
  const search = rest.slice(Number(length));
  return { offset: Number(offset), user: user === '' ? null : user, search: search === '' ? null : search };
}

function isAction(text: string): text is ButtonAction {
  return ACTIONS.includes(text);
}

/** What a form's id says: which form, and of which task. */
export type FormPurpose =
  | { readonly form: 'create' }
  /** `fix`: the task that the draft becomes. */
  | { readonly form: 'edit' | 'lookup' | 'fix'; readonly task: TaskId };

/** The id of a form. */
export function formId(purpose: FormPurpose): string {
  return purpose.form === 'create' ? 'create' : `${purpose.form}:${purpose.task}`;
}

/** Reads a form's id; `null` for one that no version of Dailies made. */
export function parseForm(id: string): FormPurpose | null {
  if (id === 'create') return { form: 'create' };
  const [form, task = '', ...more] = id.split(':');
  if (task === '' || more.length > 0 || (form !== 'edit' && form !== 'lookup' && form !== 'fix')) return null;
  return { form, task: task as TaskId };
}

/** What a reaction on a task's message asks for; `null` for any other emoji. Takes the emoji itself or its short name. */
export function reactionAction(emoji: string): 'retry' | 'cancel' | null {
  // Phones add a variation selector; Slack gives names, some clients with colons.
  const name = emoji.replace(/[\uFE0E\uFE0F]/gu, '').replace(/^:|:$/gu, '');
  if (RETRY_EMOJI.has(name)) return 'retry';
  return CANCEL_EMOJI.has(name) ? 'cancel' : null;
}

const RETRY_EMOJI: ReadonlySet<string> = new Set(['🔁', '🔄', 'repeat', 'arrows_counterclockwise']);
const CANCEL_EMOJI: ReadonlySet<string> = new Set(['❌', 'x']);

/** The part of an id that is shown; it finds the task again (`TaskService.find`). */
export function shortId(id: TaskId): string {
  return id.slice(0, 8);
}

/** Somebody who may decide on a task: who asked for it, or who manages the channel it was asked for in. */
export function mayDecide(
  caller: { readonly user: Person; readonly channel: string; readonly mayManage: boolean },
  origin: { readonly user: Person; readonly channel: string },
): boolean {
  return caller.user.id === origin.user.id || (caller.mayManage && caller.channel === origin.channel);
}
