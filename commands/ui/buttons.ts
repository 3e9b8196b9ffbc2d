import { type ButtonAction, setOfCard } from '#src/chat/index.ts';
import type { Person, Price, TaskId } from '#src/tasks/index.ts';
import { type ComparisonPress, parseComparisonButton } from './comparison-buttons.ts';
import { type PagePress, parsePage } from './page-buttons.ts';
import { type PrivacyPress, parsePrivacyButton } from './privacy-buttons.ts';
import { parseReviewId, type ReviewPress } from './review-buttons.ts';
import { parseStatementButton, type StatementPress } from './statement-buttons.ts';

/** Action on a task whose button names the task alone. */
type PlainAction = Exclude<ButtonAction, 'again' | 'retry' | ReviewPress['action']>;

export type Press =
  | { readonly action: PlainAction; readonly task: TaskId }
  /** `price`: the price shown on the button; `null` if none. */
  | { readonly action: 'retry'; readonly task: TaskId; readonly price: Price | null }
  /** `afterSends`: number of submissions then; `price`: as for `retry`; `isConfirmed`: the button of a question. */
  | {
      readonly action: 'again';
      readonly task: TaskId;
      readonly afterSends: number;
      readonly price: Price | null;
      readonly isConfirmed: boolean;
    }
  | PagePress
  /** Approves a request at the price shown; `grant`: what the approver grants beyond a budget, in millionths. */
  | { readonly action: 'approve'; readonly request: TaskId; readonly price: Price; readonly grant: bigint }
  | { readonly action: 'deny'; readonly request: TaskId }
  /** Orders a draft; `price`: the price shown on the button, `null` if none. */
  | { readonly action: 'order'; readonly draft: TaskId; readonly price: Price | null }
  /**
   * Asks for the approval of a draft; `price`: the price shown on the button. `isPromptShown`: whether approvers outside of
   * a private channel may see the prompt; `null` if the requester was not asked.
   */
  | { readonly action: 'ask'; readonly draft: TaskId; readonly price: Price; readonly isPromptShown: boolean | null }
  | { readonly action: DraftAction; readonly draft: TaskId }
  | PrivacyPress
  | ReviewPress
  | StatementPress
  | ComparisonPress
  /** Announces everyone's clips in this channel, or to the user by direct message. */
  | { readonly action: 'notify'; readonly what: 'on' | 'direct' }
  /** Removes a subscription, by `subscriptionKey`. */
  | { readonly action: 'notify'; readonly what: 'off'; readonly subscription: string };

/**
 * Action on a draft that buys nothing: open it in a form, run the command that was meant, improve its prompt (also that of a
 * task), discard it.
 */
type DraftAction = 'fix' | 'run' | 'improve' | 'discard';

/** Facts about an action that a platform needs before the press is handled. */
interface ActionRow {
  /** Response: a message to everyone or to the caller, a form, or a change of the message with the button. */
  readonly response: 'public' | 'private' | 'form' | 'update';
  /** Its permission depends on the caller's right to manage the channel. */
  readonly isManaged: boolean;
}

const TASK_ACTIONS: Readonly<Record<ButtonAction, ActionRow>> = {
  retry: { response: 'public', isManaged: true },
  edit: { response: 'form', isManaged: false },
  cancel: { response: 'private', isManaged: true },
  details: { response: 'private', isManaged: false },
  withdraw: { response: 'private', isManaged: true },
  lookup: { response: 'form', isManaged: true },
  again: { response: 'private', isManaged: true },
  leave: { response: 'private', isManaged: true },
  show: { response: 'private', isManaged: true },
  refetch: { response: 'private', isManaged: true },
  delete: { response: 'update', isManaged: true },
  join: { response: 'public', isManaged: false },
  sign_off: { response: 'private', isManaged: false },
  changes: { response: 'form', isManaged: false },
  board: { response: 'form', isManaged: true },
};

/** All actions; the wire format of their ids is below. */
const ACTIONS: Readonly<Record<Press['action'], ActionRow>> = {
  ...TASK_ACTIONS,
  order: { response: 'update', isManaged: false },
  ask: { response: 'update', isManaged: false },
  approve: { response: 'private', isManaged: false },
  deny: { response: 'form', isManaged: false },
  fix: { response: 'form', isManaged: false },
  run: { response: 'private', isManaged: true },
  improve: { response: 'private', isManaged: false },
  discard: { response: 'update', isManaged: false },
  page: { response: 'update', isManaged: false },
  notify: { response: 'update', isManaged: false },
  privacy: { response: 'update', isManaged: false },
  statement: { response: 'update', isManaged: false },
  vote: { response: 'private', isManaged: false },
  reveal: { response: 'private', isManaged: true },
  prefer: { response: 'private', isManaged: true },
  remake: { response: 'public', isManaged: true },
};

const UNKNOWN_ACTION: ActionRow = { response: 'private', isManaged: false };

/** Returns the facts about a button's action, by the button's id. */
export function actionOf(id: string): ActionRow {
  const press = parseButton(id);
  if (press === null) return UNKNOWN_ACTION;
  const row = ACTIONS[press.action];
  return isQuestion(press) ? { ...row, response: 'update' } : row;
}

/** Returns true for a button that only a private question has, about what another button asked for. */
function isQuestion(press: Press): boolean {
  if (press.action === 'again') return press.isConfirmed;
  if (press.action === 'approve') return press.grant > 0n;
  return press.action === 'sign_off' && press.newest !== null;
}

/** Returns the id of a task's button that buys nothing: `cancel:7f3a…`. */
export function taskButtonId(action: PlainAction, task: TaskId): string {
  return `${action}:${task}`;
}

/**
 * Returns the id of a button that sends an uncertain task again, with the number of submissions so far and the price
 * that it shows: `again:7f3a…:1:0.30USD`; on a question about it, `again:7f3a…:1:0.30USD:confirmed`.
 */
export function resendButtonId(
  { task, sends }: { readonly task: TaskId; readonly sends: number },
  price: Price | null,
  isConfirmed = false,
): string {
  const shown = price === null ? '' : `:${priceId(price)}${isConfirmed ? ':confirmed' : ''}`;
  return `again:${task}:${sends}${shown}`;
}

/** Returns the id of a retry button, with the price that it shows: `retry:7f3a…:0.30USD`. */
export function retryButtonId(task: TaskId, price: Price | null): string {
  return price === null ? `retry:${task}` : `retry:${task}:${priceId(price)}`;
}

/** Returns the id of a button that orders a draft, with the price that it shows: `order:7f3a…:0.20USD`. */
export function orderButtonId(draft: TaskId, price: Price): string {
  return `order:${draft}:${priceId(price)}`;
}

/** Encodes a price that a button or form shows: `0.30USD`. */
export function priceId({ amount, currency }: Price): string {
  return `${amount}${currency}`;
}

/** Parses a price encoded by {@link priceId}; `null` for any other text. */
export function parsePriceId(id: string): Price | null {
  const [, amount, currency] = /^(\d{1,20}(?:\.\d{1,20})?)([A-Z]{3})$/u.exec(id) ?? [];
  return amount === undefined || currency === undefined ? null : { amount, currency };
}

/** Returns the id of a button that asks for an approval: `ask:7f3a…:4.00USD`, with the requester's answer `…:shown`. */
export function askButtonId(draft: TaskId, price: Price, isPromptShown: boolean | null = null): string {
  const answer = isPromptShown === null ? '' : isPromptShown ? ':shown' : ':hidden';
  return `ask:${draft}:${priceId(price)}${answer}`;
}

/** Returns the id of a button that approves a request: `approve:7f3a…:4.00USD`, with a grant `approve:7f3a…:4.00USD:1200000`. */
export function approveButtonId(request: TaskId, price: Price, grant = 0n): string {
  return `approve:${request}:${priceId(price)}${grant === 0n ? '' : `:${grant}`}`;
}

/** Returns the id of a button that denies a request: `deny:7f3a…`. */
export function denyButtonId(request: TaskId): string {
  return `deny:${request}`;
}

/** Returns the id of a draft's button that buys nothing: `discard:7f3a…`. */
export function draftButtonId(action: DraftAction, draft: TaskId): string {
  return `${action}:${draft}`;
}

/** Returns true if a private reply to a button replaces its message: on questions, pages and settings. */
export function isAnsweredInPlace(id: string): boolean {
  return actionOf(id).response === 'update';
}

/** Returns true for a button that orders a draft: next to a refusal, it means that the whole request is saved. */
export function isOrderButton({ id }: { readonly id: string }): boolean {
  const action = parseButton(id)?.action;
  return action === 'order' || action === 'ask';
}

/** Parses a button id; `null` for one that no version of Dailies created. */
export function parseButton(id: string): Press | null {
  if (id.startsWith('page:')) return parsePage(id);
  if (id.startsWith('notify:')) return parseNotify(id);
  if (id.startsWith('privacy:')) return parsePrivacyButton(id);
  if (id.startsWith('statement:')) return parseStatementButton(id);
  const further = parseComparisonButton(id) ?? parsePriced(id) ?? parseResend(id);
  return further ?? parseDecision(id) ?? parseReviewId(id) ?? parseTask(id);
}

/** Returns the id of a button that turns a notification on: `notify:on`, `notify:direct`. */
export function notifyButtonId(what: 'on' | 'direct'): string {
  return `notify:${what}`;
}

/** Returns the id of a button that removes a subscription: `notify:off:1f2e…`. */
export function stopButtonId(subscription: string): string {
  return `notify:off:${subscription}`;
}

function parseNotify(id: string): Press | null {
  const [, what, subscription] = /^notify:(on|direct|off)(?::([0-9a-f]{16}))?$/u.exec(id) ?? [];
  if (what === 'off') return subscription === undefined ? null : { action: 'notify', what, subscription };
  return subscription === undefined && (what === 'on' || what === 'direct') ? { action: 'notify', what } : null;
}

/** Parses ids that may include a price, and the other button ids of a draft. */
function parsePriced(id: string): Press | null {
  const [, action, draft, shown] = /^(order|fix|run|improve|discard|retry):([^:]+)(?::([^:]+))?$/u.exec(id) ?? [];
  if (action === undefined || draft === undefined) return null;
  const price = shown === undefined ? null : parsePriceId(shown);
  if (shown !== undefined && price === null) return null;
  if (action === 'retry') return { action, task: draft as TaskId, price };
  if (action === 'order') return { action, draft: draft as TaskId, price };
  return price === null ? { action: action as DraftAction, draft: draft as TaskId } : null;
}

function parseDecision(id: string): Press | null {
  const [, denied] = /^deny:([^:]+)$/u.exec(id) ?? [];
  if (denied !== undefined) return { action: 'deny', request: denied as TaskId };
  const [, draft, cost = '', answer] = /^ask:([^:]+):([^:]+)(?::(shown|hidden))?$/u.exec(id) ?? [];
  const wanted = parsePriceId(cost);
  if (draft !== undefined && wanted !== null) {
    const isPromptShown = answer === undefined ? null : answer === 'shown';
    return { action: 'ask', draft: draft as TaskId, price: wanted, isPromptShown };
  }
  const [, request, amount = '', grant = '0'] = /^approve:([^:]+):([^:]+)(?::(\d{1,20}))?$/u.exec(id) ?? [];
  const price = parsePriceId(amount);
  if (request === undefined || price === null) return null;
  return { action: 'approve', request: request as TaskId, price, grant: BigInt(grant) };
}

function parseTask(id: string): Press | null {
  const [action = '', task = '', ...more] = id.split(':');
  if (task === '' || more.length > 0 || !isPlain(action)) return null;
  return { action, task: task as TaskId };
}

function parseResend(id: string): Press | null {
  const [, task, sends, shown, mark] = /^again:([^:]+):(\d{1,6})(?::([^:]+)(:confirmed)?)?$/u.exec(id) ?? [];
  const price = shown === undefined ? null : parsePriceId(shown);
  if (task === undefined || (shown !== undefined && price === null)) return null;
  return { action: 'again', task: task as TaskId, afterSends: Number(sends), price, isConfirmed: mark !== undefined };
}

/** Actions whose ids hold more than the task. */
const MORE: ReadonlySet<string> = new Set(['again', 'retry', 'sign_off', 'changes']);

function isPlain(text: string): text is PlainAction {
  return Object.hasOwn(TASK_ACTIONS, text) && !MORE.has(text);
}

/** Maps a reaction (emoji or short name) on a task's message to its action; `null` for any other emoji. */
export function reactionAction(emoji: string): 'retry' | 'cancel' | null {
  // Phones add a variation selector; Slack sends names, some clients with colons.
  const name = emoji.replace(/[\uFE0E\uFE0F]/gu, '').replace(/^:|:$/gu, '');
  if (RETRY_EMOJI.has(name)) return 'retry';
  return CANCEL_EMOJI.has(name) ? 'cancel' : null;
}

const RETRY_EMOJI: ReadonlySet<string> = new Set(['🔁', '🔄', 'repeat', 'arrows_counterclockwise']);
const CANCEL_EMOJI: ReadonlySet<string> = new Set(['❌', 'x']);

/** Returns the displayed prefix of the id of a task or a set's card, by which `/video status` finds it. */
export function shortId(id: TaskId): string {
  return id.slice(0, setOfCard(id) === null ? 8 : 12);
}

/** Returns true if the caller may decide on a task: as its requester, or as a manager of the channel it came from. */
export function mayDecide(
  caller: { readonly user: Person; readonly channel: string; readonly mayManage: boolean },
  origin: { readonly user: Person; readonly channel: string },
): boolean {
  return caller.user.id === origin.user.id || (caller.mayManage && caller.channel === origin.channel);
}
