import { type ButtonAction, setOfCard } from '#src/chat/index.ts';
import type { Resolution } from '#src/money/index.ts';
import type { Person, Price, TaskId } from '#src/tasks/index.ts';
import { type PagePress, parsePage } from './page-buttons.ts';

/** Action on a task whose button names the task alone. */
type PlainAction = Exclude<ButtonAction, 'again' | 'retry' | ReviewPress['action']>;

export type Press =
  | { readonly action: PlainAction; readonly task: TaskId }
  /** `price`: the price shown on the button; `null` if none. */
  | { readonly action: 'retry'; readonly task: TaskId; readonly price: Price | null }
  /** `model`: the model on the button, as `modelFingerprint` has it. */
  | { readonly action: 'elsewhere'; readonly task: TaskId; readonly model: string; readonly price: Price }
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
  elsewhere: { response: 'public', isManaged: true },
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

/** Returns the id of a button that names a task, a draft, a request or a set, and nothing else: `cancel:7f3a…`. */
export function taskButtonId(action: PlainAction | DraftAction | 'deny' | 'reveal', task: TaskId): string {
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

/** Returns the id of a button that orders a clip from another model, with the price that it shows: `elsewhere:7f3a…:9f86d081:0.30USD`. */
export function elsewhereButtonId(
  task: TaskId,
  { model, price }: { readonly model: string; readonly price: Price },
): string {
  return `elsewhere:${task}:${model}:${priceId(price)}`;
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
  const further = parseComparisonButton(id) ?? parsePriced(id) ?? parseElsewhere(id) ?? parseResend(id);
  return further ?? parseDecision(id) ?? parseReviewId(id) ?? parseTask(id);
}

/** Returns the id of a button that turns a notification on, or removes a subscription: `notify:on`, `notify:off:1f2e…`. */
export function notifyButtonId(what: 'on' | 'direct' | `off:${string}`): string {
  return `notify:${what}`;
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

function parseElsewhere(id: string): Press | null {
  const [, task, model, shown = ''] = /^elsewhere:([^:]+):([0-9a-f]{8}):([^:]+)$/u.exec(id) ?? [];
  const price = parsePriceId(shown);
  if (task === undefined || model === undefined || price === null) return null;
  return { action: 'elsewhere', task: task as TaskId, model, price };
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

/** Press of a button of a comparison. No id tells the model of a clip: its number is that of its label. */
export type ComparisonPress =
  /** Votes for a clip by its number. */
  | { readonly action: 'vote'; readonly set: TaskId; readonly at: number }
  /** Ends the vote. */
  | { readonly action: 'reveal'; readonly set: TaskId }
  /** Makes the model of a clip the default of the channel, after the reveal. */
  | { readonly action: 'prefer'; readonly set: TaskId; readonly at: number }
  /** Makes a clip again that failed before the reveal, for at most the price shown; `isConfirmed`: on a question about it. */
  | { readonly action: 'remake'; readonly clip: TaskId; readonly upTo: string; readonly isConfirmed: boolean };

/** Returns the id of a button that votes for a clip, or makes its model the channel's default: `vote:7f3a…:2`. */
export function choiceButtonId(action: 'vote' | 'prefer', set: TaskId, at: number): string {
  return `${action}:${set}:${at}`;
}

/** Returns the id of the button that makes a blind clip again: `remake:7f3a…:0.60USD`, on a question `…:confirmed`. */
export function remakeButtonId(clip: TaskId, { amount, currency }: Price, isConfirmed = false): string {
  return `remake:${clip}:${amount}${currency}${isConfirmed ? ':confirmed' : ''}`;
}

/** Parses the id of such a button; `null` for any other. */
function parseComparisonButton(id: string): ComparisonPress | null {
  const [, action, set, number] = /^(vote|prefer):([^:]+):([1-9])$/u.exec(id) ?? [];
  if (set !== undefined && (action === 'vote' || action === 'prefer'))
    return { action, set: set as TaskId, at: Number(number) };
  const [, revealed] = /^reveal:([^:]+)$/u.exec(id) ?? [];
  if (revealed !== undefined) return { action: 'reveal', set: revealed as TaskId };
  const [, clip, upTo = '', mark] = /^remake:([^:]+):([^:]+)(:confirmed)?$/u.exec(id) ?? [];
  return clip === undefined ? null : { action: 'remake', clip: clip as TaskId, upTo, isConfirmed: mark !== undefined };
}

/** Press of a button that confirms the erasure of a person: of the caller, or by an administrator of another one. */
export type PrivacyPress =
  | { readonly action: 'privacy'; readonly what: 'forget' }
  | { readonly action: 'privacy'; readonly what: 'erase'; readonly user: string };

/** Longest id of a button on every platform. */
const MAX_ID_LENGTH = 100;

/** Id of the button that confirms that the caller is to be forgotten. */
export const FORGET_BUTTON = 'privacy:forget';

/** Returns the id of the button that confirms the erasure of a person; `null` if it would be too long. */
export function eraseButtonId(user: string): string | null {
  const id = `privacy:erase:${user}`;
  return id.length > MAX_ID_LENGTH ? null : id;
}

/** Parses the id of such a button; `null` for any other. */
function parsePrivacyButton(id: string): PrivacyPress | null {
  if (id === FORGET_BUTTON) return { action: 'privacy', what: 'forget' };
  const user = /^privacy:erase:(.+)$/su.exec(id)?.[1];
  return user === undefined ? null : { action: 'privacy', what: 'erase', user };
}

/**
 * Press of a button of a review; `after`: the number of decisions that the reviewer saw. The id begins with letters alone, as
 * the Slack adapter expects.
 */
export type ReviewPress =
  /** `newest`: number of the newest version that the question named; `null`: it was not asked. */
  | { readonly action: 'sign_off'; readonly task: TaskId; readonly after: number; readonly newest: number | null }
  | { readonly action: 'changes'; readonly task: TaskId; readonly after: number };

/** Returns the id of a button that signs a clip off: `signoff:7f3a…:0`; of the question about a newer version, `…:0:3`. */
export function signOffButtonId(task: TaskId, after: number, newest: number | null = null): string {
  return `signoff:${task}:${after}${newest === null ? '' : `:${newest}`}`;
}

/** Returns the id of a button, and of its form, that requests changes of a clip: `changes:7f3a…:0`. */
export function changesId(task: TaskId, after: number): string {
  return `changes:${task}:${after}`;
}

/** Parses the id of a review's button, or of the form for changes; `null` for any other. */
export function parseReviewId(id: string): ReviewPress | null {
  const [, action, task, after, newest] = /^(signoff|changes):([^:]+):(\d{1,4})(?::(\d{1,6}))?$/u.exec(id) ?? [];
  if (task === undefined || after === undefined) return null;
  const of = { task: task as TaskId, after: Number(after) };
  if (action === 'signoff') return { action: 'sign_off', ...of, newest: newest === undefined ? null : Number(newest) };
  return newest === undefined ? { action: 'changes', ...of } : null;
}

/** Press of a button under a statement; `statement` is its id. */
export type StatementPress =
  /** Shows the statement that is `offset` imports older than the last one. */
  | { readonly action: 'statement'; readonly what: 'show'; readonly offset: number }
  | { readonly action: 'statement'; readonly what: 'book'; readonly statement: string; readonly offset: number }
  /** Shows a discrepancy, or the next one that is undecided. */
  | {
      readonly action: 'statement';
      readonly what: 'review';
      readonly statement: string;
      readonly offset: number;
      readonly position: number;
    }
  | {
      readonly action: 'statement';
      readonly what: Resolution;
      readonly statement: string;
      readonly offset: number;
      readonly position: number;
    };

type Encoded = StatementPress extends infer Each ? (Each extends unknown ? Omit<Each, 'action'> : never) : never;

/** Returns the id of a button under a statement: `statement:show:0`, `statement:billed:9f86d081884c7d65:0:12`. */
export function statementButtonId(press: Encoded): string {
  if (press.what === 'show') return `statement:show:${press.offset}`;
  const position = 'position' in press ? `:${press.position}` : '';
  return `statement:${press.what}:${press.statement}:${press.offset}${position}`;
}

/** Parses the id of a button under a statement; `null` for one that no version of Dailies created. */
function parseStatementButton(id: string): StatementPress | null {
  const [, shown] = /^statement:show:(\d{1,6})$/u.exec(id) ?? [];
  if (shown !== undefined) return { action: 'statement', what: 'show', offset: Number(shown) };
  const [, what, statement = '', at = '', position] =
    /^statement:(book|review|ours|billed|not_billed|same|apart):([0-9a-f]{16}):(\d{1,6})(?::(\d{1,7}))?$/u.exec(id) ??
    [];
  if (what === undefined) return null;
  const offset = Number(at);
  if (what === 'book') return position === undefined ? { action: 'statement', what, statement, offset } : null;
  if (position === undefined) return null;
  return { action: 'statement', what: what as Resolution | 'review', statement, offset, position: Number(position) };
}
