import { type ButtonAction, setOfCard } from '#src/chat/index.ts';
import type { Resolution, SpendKey } from '#src/money/index.ts';
import type { Person, Price, TaskId } from '#src/tasks/index.ts';
import { type CardButton, present } from './card.ts';

/** Value in an id, by the name that it has in what the id stands for. */
export interface Field {
  readonly name: string;
  readonly write: (value: unknown) => string;
  /** Returns `undefined` for a text that no value is written as. */
  readonly read: (text: string) => unknown;
  /** Value at which an id ends, instead of writing it. Default: there is none. */
  readonly absent?: unknown;
}

/** A text that is not empty, or one of a pattern. */
export function text(name: string, pattern = /^.+$/su): Field {
  return { name, write: String, read: (given) => (pattern.test(given) ? given : undefined) };
}

/** A whole number of up to `digits` digits. */
export function number(name: string, digits: number): Field {
  const pattern = new RegExp(`^\\d{1,${digits}}$`, 'u');
  return { name, write: String, read: (given) => (pattern.test(given) ? Number(given) : undefined) };
}

/** One of some values, each with its word. */
function choice(name: string, words: Readonly<Record<string, unknown>>): Field {
  const all = new Map(Object.entries(words));
  return {
    name,
    write: (value) => [...all.keys()].find((word) => all.get(word) === value) ?? '',
    read: (given) => all.get(given),
  };
}

/** A field that may be left out at the end of an id, with all that follow. @param absent its value then */
export function optional(field: Field, absent: unknown = null): Field {
  return { ...field, absent };
}

/** A field that may be empty, for `null`. */
function nullable({ name, write, read }: Field): Field {
  return {
    name,
    write: (value) => (value === null ? '' : write(value)),
    read: (given) => (given === '' ? null : read(given)),
  };
}

/** Writes the values of an id behind what it begins with: `again:7f3a…:1:0.30USD`. */
export function encodeId(start: string, fields: readonly Field[], values: Readonly<Record<string, unknown>>): string {
  let id = start;
  for (const field of fields) {
    const value = values[field.name];
    if ('absent' in field && field.absent === value) break;
    id += `:${field.write(value).replace(/[%:]/gu, encodeURIComponent)}`;
  }
  return id;
}

/** Reads the values of an id from its parts behind what it begins with; `null` where one is missing or can't be read. */
export function decodeId(parts: readonly string[], fields: readonly Field[]): Readonly<Record<string, unknown>> | null {
  if (parts.length > fields.length) return null;
  const values = fields.map(({ name, read, absent }, at) => {
    const part = parts[at];
    return [name, part === undefined ? absent : read(part.replace(/%25|%3A/gu, decodeURIComponent))] as const;
  });
  return values.some(([, value]) => value === undefined) ? null : Object.fromEntries(values);
}

/** Maximum length of a button's id on every platform. @see https://discord.com/developers/docs/components/reference */
export const MAX_ID_LENGTH = 100;

/** Action on a task whose button names the task alone. */
type PlainAction = Exclude<ButtonAction, 'again' | 'retry' | ReviewPress['action']>;

/** What a button does; all of it is in the button's id. */
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
  /**
   * Actions on a draft that buy nothing: open it in a form, run the command that was meant, improve its prompt (also that
   * of a task), discard it.
   */
  | { readonly action: 'fix' | 'run' | 'improve' | 'discard'; readonly draft: TaskId }
  /** Confirms the erasure of the caller, or by an administrator of another person. */
  | { readonly action: 'privacy'; readonly what: 'forget' }
  | { readonly action: 'privacy'; readonly what: 'erase'; readonly user: string }
  | ReviewPress
  | StatementPress
  | ComparisonPress
  | BoardPress
  | PanelPress
  /** Announces everyone's clips in this channel, or to the user by direct message. */
  | { readonly action: 'notify'; readonly what: 'on' | 'direct' }
  /** Removes a subscription, by `subscriptionKey`. */
  | { readonly action: 'notify'; readonly what: 'off'; readonly subscription: string };

/** Press of a button of a review; `after`: the number of decisions that the reviewer saw. */
export type ReviewPress =
  /** `newest`: number of the newest version that the question named; `null`: it was not asked. */
  | { readonly action: 'sign_off'; readonly task: TaskId; readonly after: number; readonly newest: number | null }
  | { readonly action: 'changes'; readonly task: TaskId; readonly after: number };

/** Press of a button of a comparison. No id tells the model of a clip: its number is that of its label. */
export type ComparisonPress =
  /** Votes for a clip by its number; after the reveal, makes its model the default of the channel. */
  | { readonly action: 'vote' | 'prefer'; readonly set: TaskId; readonly at: number }
  /** Ends the vote. */
  | { readonly action: 'reveal'; readonly set: TaskId }
  /** Makes a clip again that failed before the reveal, for at most the price shown; `isConfirmed`: on a question about it. */
  | { readonly action: 'remake'; readonly clip: TaskId; readonly upTo: Price; readonly isConfirmed: boolean };

/** Change of the board of a storyboard; `set` is the id of its set, `shot` the number of a shot. */
export type BoardPress =
  /** Opens the menu of a shot. */
  | { readonly action: 'shot'; readonly set: TaskId; readonly shot: number }
  /** Moves a shot; `before`: the shot it goes before, 0 for the end. `isInMenu`: the menu of the shot is answered in place. */
  | (ShotEdit & { readonly action: 'move'; readonly before: number; readonly isInMenu: boolean })
  /** Leaves a shot out of the cut, or puts it back. */
  | (ShotEdit & { readonly action: 'skip'; readonly isSkipped: boolean })
  /** Has the cut use a clip for a shot. */
  | (ShotEdit & { readonly action: 'take'; readonly take: TaskId })
  /** Opens the form of a shot to order before another one. */
  | { readonly action: 'insert'; readonly set: TaskId; readonly before: number };

/** Change of a shot on a board as it was at a revision. */
interface ShotEdit {
  readonly set: TaskId;
  readonly revision: number;
  readonly shot: number;
}

/** Opens a group of a command's options as a form. `about`: which of several things it is about; `null` for none. */
export interface PanelPress {
  readonly action: 'panel';
  readonly command: string;
  readonly group: string;
  readonly about: string | null;
}

/** Press of a button under a statement; `statement` is its id. */
export type StatementPress = {
  readonly action: 'statement';
} /** Shows the statement that is `offset` imports older than the last one. */ & (
  | { readonly what: 'show'; readonly offset: number }
  | { readonly what: 'book'; readonly statement: string; readonly offset: number }
  /** Shows a discrepancy, or the next one that is undecided. */
  | ({ readonly what: 'review' } & DiscrepancyPlace)
  /** Decides on a discrepancy. */
  | ({ readonly what: Resolution } & DiscrepancyPlace)
);

interface DiscrepancyPlace {
  readonly statement: string;
  readonly offset: number;
  readonly position: number;
}

/** Page of a list; `offset`: number of entries on the previous pages. */
export type Page =
  | { readonly what: 'models' | 'budgets' | 'library'; readonly offset: number }
  /** Of `/video list`, by the requester's platform id, and the text that the prompt must contain; `null` for no filter. */
  | { readonly what: 'list'; readonly offset: number; readonly user: string | null; readonly search: string | null }
  /**
   * Of `/video usage` in a month, such as `2026-11`, of one person by their platform id. `by`: rows of the table; `null` for
   * the usual tables.
   */
  | {
      readonly what: 'usage';
      readonly offset: number;
      readonly month: string;
      readonly by: SpendKey | null;
      readonly user: string | null;
    }
  /** `isDeployment`: true for the log of the deployment instead of the team's. */
  | { readonly what: 'audit'; readonly offset: number; readonly isDeployment: boolean };

export type PageOf<What extends Page['what']> = Extract<Page, { readonly what: What }>;

type PagePress = { readonly action: 'page' } & Page;

/** Facts about an action that a platform needs before the press is handled. */
interface ActionRow {
  /** Response: a message to everyone or to the caller, a form, or a change of the message with the button. */
  readonly response: 'public' | 'private' | 'form' | 'update';
  /** Its permission depends on the caller's right to manage the channel. */
  readonly isManaged: boolean;
}

const ACTIONS: Readonly<Record<Press['action'], ActionRow>> = {
  retry: { response: 'public', isManaged: true },
  edit: { response: 'form', isManaged: true },
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
  elsewhere: { response: 'public', isManaged: true },
  order: { response: 'update', isManaged: true },
  ask: { response: 'update', isManaged: true },
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
  shot: { response: 'private', isManaged: true },
  move: { response: 'private', isManaged: true },
  skip: { response: 'update', isManaged: true },
  take: { response: 'update', isManaged: true },
  insert: { response: 'form', isManaged: true },
  panel: { response: 'form', isManaged: false },
};

/** Action of a button, with what it is about where that is a part of the id: `retry`, `notify:off`. */
type Kind = Press extends infer Each
  ? Each extends { readonly action: infer Action extends string; readonly what: infer What extends string }
    ? `${Action}:${What}`
    : Each extends { readonly action: infer Action }
      ? Action
      : never
  : never;

function price(name = 'price'): Field {
  return { name, write: (value) => priceId(value as Price), read: (given) => parsePriceId(given) ?? undefined };
}

const task = [text('task')];
const draft = [text('draft')];
const request = [text('request')];
const set = [text('set')];
const at = number('at', 1);
const shot = number('shot', 2);
const shotEdit = [...set, number('revision', 9), shot];
const after = number('after', 4);
const offset = number('offset', 7);
const user = nullable(text('user'));
const isConfirmed = optional(choice('isConfirmed', { confirmed: true }), false);
const by = choice('by', { '': null, person: 'person', model: 'model', channel: 'channel' });
const grant = optional(
  { name: 'grant', write: String, read: (given) => (/^\d{1,20}$/u.test(given) ? BigInt(given) : undefined) },
  0n,
);
const statement = [text('statement', /^[0-9a-f]{16}$/u), number('offset', 6)];
const discrepancy = [...statement, number('position', 7)];

const word = /^[a-z_]+$/u;
/** What the ids of buttons and forms of panels hold. */
export const PANEL_FIELDS = [text('command', word), text('group', word), optional(text('about'))];

/** What the ids of buttons hold after their kind: `retry:7f3a…:0.30USD`, `statement:billed:9f86d081884c7d65:0:12`. */
const FIELDS: Readonly<Record<Kind, readonly Field[]>> = {
  retry: [...task, optional(price())],
  edit: task,
  cancel: task,
  details: task,
  withdraw: task,
  lookup: task,
  again: [...task, number('afterSends', 6), optional(price()), isConfirmed],
  leave: task,
  show: task,
  refetch: task,
  delete: task,
  join: task,
  sign_off: [...task, after, optional(number('newest', 6))],
  changes: [...task, after],
  elsewhere: [...task, text('model', /^[0-9a-f]{8}$/u), price()],
  order: [...draft, optional(price())],
  ask: [...draft, price(), optional(choice('isPromptShown', { shown: true, hidden: false }))],
  approve: [...request, price(), grant],
  deny: request,
  fix: draft,
  run: draft,
  improve: draft,
  discard: draft,
  'page:models': [offset],
  'page:budgets': [offset],
  'page:library': [offset],
  'page:list': [offset, user, nullable(text('search'))],
  'page:usage': [offset, text('month', /^\d{4}-\d\d$/u), by, user],
  'page:audit': [offset, choice('isDeployment', { deployment: true, team: false })],
  'notify:on': [],
  'notify:direct': [],
  'notify:off': [text('subscription', /^[0-9a-f]{16}$/u)],
  'privacy:forget': [],
  'privacy:erase': [text('user')],
  'statement:show': [number('offset', 6)],
  'statement:book': statement,
  'statement:review': discrepancy,
  'statement:ours': discrepancy,
  'statement:billed': discrepancy,
  'statement:not_billed': discrepancy,
  'statement:same': discrepancy,
  'statement:apart': discrepancy,
  vote: [...set, at],
  reveal: set,
  prefer: [...set, at],
  remake: [text('clip'), price('upTo'), isConfirmed],
  shot: [...set, shot],
  move: [...shotEdit, number('before', 2), optional(choice('isInMenu', { menu: true }), false)],
  skip: [...shotEdit, choice('isSkipped', { out: true, in: false })],
  take: [...shotEdit, text('take')],
  insert: [...set, number('before', 2)],
  panel: PANEL_FIELDS,
};

/** What an id begins with, where that is not its kind: letters alone, as the Slack adapter expects. */
const STARTS: Partial<Readonly<Record<Kind, string>>> = { sign_off: 'signoff' };

/** The kinds by what their ids begin with. */
const KINDS: ReadonlyMap<string, Kind> = new Map(
  (Object.keys(FIELDS) as readonly Kind[]).map((kind) => [STARTS[kind] ?? kind, kind]),
);

/** Builds the button of a press. */
export function button(press: Press, label: string, style: CardButton['style'] = 'plain'): CardButton {
  return { id: buttonId(press), label, style };
}

export function buttonId(press: Press): string {
  const kind = ('what' in press ? `${press.action}:${press.what}` : press.action) as Kind;
  return encodeId(STARTS[kind] ?? kind, FIELDS[kind], { ...press });
}

/** Parses a button id; `null` for one that is none of ours. */
export function parseButton(id: string): Press | null {
  const parts = id.split(':');
  const length = KINDS.has(parts[0] ?? '') ? 1 : 2;
  const kind = KINDS.get(parts.slice(0, length).join(':'));
  const values = kind && decodeId(parts.slice(length), FIELDS[kind]);
  if (kind === undefined || values === null || values === undefined) return null;
  const [action, what] = kind.split(':');
  return { action, ...(what === undefined ? {} : { what }), ...values } as unknown as Press;
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

/** Returns the facts about a button's action, by the button's id. */
export function actionOf(id: string): ActionRow {
  const press = parseButton(id);
  if (press === null) return { response: 'private', isManaged: false };
  const row = ACTIONS[press.action];
  return isQuestion(press) || (press.action === 'move' && press.isInMenu) ? { ...row, response: 'update' } : row;
}

/** Returns true for a button that only a private question has, about what another button asked for. */
function isQuestion(press: Press): boolean {
  if (press.action === 'again') return press.isConfirmed;
  if (press.action === 'approve') return press.grant > 0n;
  return press.action === 'sign_off' && press.newest !== null;
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

/** Page with the information needed for its navigation buttons. */
interface PagesAround {
  readonly page: Page;
  /** Number of entries per page. */
  readonly length: number;
  readonly hasMore: boolean;
}

/** Returns the navigation buttons of a page; none to a page that does not exist or does not fit into a button id. */
export function pageButtons({ page, length, hasMore }: PagesAround): readonly CardButton[] {
  const { what, offset } = page;
  const [earlier, later] = what === 'list' || what === 'audit' ? ['Newer', 'Older'] : ['Previous', 'Next'];
  const buttons = present([
    offset > 0 && button({ action: 'page', ...page, offset: Math.max(0, offset - length) }, earlier),
    hasMore && button({ action: 'page', ...page, offset: offset + length }, later),
  ]);
  return buttons.filter(({ id }) => id.length <= MAX_ID_LENGTH);
}
