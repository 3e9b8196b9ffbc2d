import type { ButtonAction, TaskView } from '#src/chat/index.ts';
import { formatPrice, type LimitReached, typedPrompt } from '#src/tasks/index.ts';
import type { PauseInEffect } from '#src/teams/index.ts';
import type { Refusal as ValueRefusal } from '#src/videos/index.ts';
import { teamOf } from '../input/subcommand.ts';
import { visibleAmong } from '../input/task-lookup.ts';
import { taskButton } from '../sentences/cards/task-card.ts';
import { count, formatDuration, shorten } from '../sentences/format.ts';
import { pausedSentence } from '../sentences/pause.ts';
import { refusalSentences, SETTINGS_CHANGED } from '../sentences/refusals.ts';
import { button } from '../ui/buttons.ts';
import type { CardButton } from '../ui/card.ts';
import { fixButton } from './offer-cards.ts';
import { spendingNote } from './offers.ts';
import type { OrderContext } from './order-context.ts';

/** Reasons for refusing an order, with the remedies. */
export interface Refusal {
  readonly sentences: readonly string[];
  /** Remedies, such as **Try again**: the request is saved as a draft. Absent: it is not. */
  readonly buttons?: readonly CardButton[];
}

/** Largest number of undecided tasks that a refusal lists. */
const MAX_LISTED = 3;
/** Largest number of open tasks that are read to find them. */
const MAX_OPEN_READ = 100;

/**
 * Saves the request of a refused order as a draft under the order's own key.
 * @param way `again`: the request is valid, and the button buys it; `fix`: the button opens it in a form.
 * @returns the button, with the sentences of the confirmation that it gives; neither if the request could not be saved.
 */
export async function keepRefused(order: OrderContext, way: 'again' | 'fix'): Promise<Required<Refusal>> {
  const { ports, caller, checked, price, ordered } = order;
  try {
    const { draft } = await ports.drafts.save(order.draft);
    // A comparison has no form.
    if (way === 'fix' && checked.compared !== undefined) return { sentences: [], buttons: [] };
    if (way === 'fix') return { sentences: [], buttons: [fixButton(draft.id)] };
    const sentences = await spendingNote(ports, caller, { price, ordered });
    return {
      sentences,
      buttons: [button({ action: 'order', draft: draft.id, price }, `Try again · ${formatPrice(price)}`)],
    };
  } catch (thrown) {
    const { platform } = caller;
    ports.logger.warn({ event: 'refused_order_not_saved', err: thrown, platform }, 'failed to save a refused order');
    return { sentences: [], buttons: [] };
  }
}

/** Refuses an order by values of its request, with **Fix it**. */
export async function refuseValues(order: OrderContext, refusals: readonly ValueRefusal[]): Promise<Refusal> {
  const { buttons } = await keepRefused(order, 'fix');
  return { sentences: refusalSentences(refusals, order.caller.fields), buttons };
}

/** Refuses an order for a reason that passes, with **Try again**. */
async function refuseForNow(order: OrderContext, reason: string): Promise<Refusal> {
  const { sentences, buttons } = await keepRefused(order, 'again');
  return { sentences: [reason, ...sentences], buttons };
}

export function refusePaused(order: OrderContext, pause: PauseInEffect): Promise<Refusal> {
  return refuseForNow(order, pausedSentence(pause));
}

/** Refuses an order that was not asked about, since it was over a budget that has been raised meanwhile. */
export function refuseUnasked(order: OrderContext): Promise<Refusal> {
  return refuseForNow(order, 'A budget changed just now. Nothing was bought; try again.');
}

/** Refuses an order that was judged by settings that have changed: by what they refuse now, if anything. */
export function refuseOutdated(
  order: OrderContext,
  { paused, forbidden }: { readonly paused: PauseInEffect | null; readonly forbidden: readonly ValueRefusal[] },
): Promise<Refusal> {
  if (paused !== null) return refusePaused(order, paused);
  if (forbidden.length > 0) return refuseValues(order, forbidden);
  return refuseForNow(order, SETTINGS_CHANGED);
}

/** Refuses an order over a limit; lists the caller's undecided tasks that count, with their buttons. */
export async function refuseOverLimit(order: OrderContext, limit: LimitReached): Promise<Refusal> {
  const { ports, caller } = order;
  const { platform, channel } = caller;
  ports.limitReached(limit);
  ports.logger.info({ event: 'order_limit_reached', platform, channel, limit }, 'order limit reached');
  if (limit.kind !== 'open') return refuseForNow(order, limitSentence(limit));
  const again = await keepRefused(order, 'again');
  const open = await ports.tasks.open({ ...teamOf(caller), user: caller.user.id }, MAX_OPEN_READ);
  const counted = open.filter(({ origin }) => limit.of === 'person' || origin.channel === caller.channel);
  const undecided = counted.filter(({ state, leftBy }) => state === 'uncertain' && leftBy === undefined);
  const seen = visibleAmong(caller, undecided);
  const views = await Promise.all(seen.slice(0, MAX_LISTED).map((task) => ports.chat.view(task)));
  return {
    sentences: [limitSentence(limit), ...again.sentences, ...undecidedSentence(views, seen.length)],
    buttons: [...again.buttons, ...undecidedButtons(views)],
  };
}

/** Explains a reached limit: the limit, the current use, and the time of the next attempt. */
export function limitSentence(limit: LimitReached): string {
  return limit.kind === 'open' ? openSentence(limit) : minuteSentence(limit);
}

function openSentence({ of, max, found }: LimitReached): string {
  const orders = `${count(found, 'order')} in progress (limit ${max}; clips ordered together count as one)`;
  const status = '/video status shows yours';
  if (of === 'person') {
    return `You already have ${orders}. Try again when one is done; ${status}. A cancelled one counts until the video service is done with it.`;
  }
  return `This channel already has ${orders}. Try again when one is done, or send this in another channel; ${status}.`;
}

function minuteSentence({ of, max, freeInMs = 0 }: LimitReached): string {
  const again = `Try again in ${formatDuration(Math.ceil(freeInMs / 1_000) * 1_000)}.`;
  const most = `${count(max, 'order')} a minute`;
  if (of === 'person') return `You’ve reached your limit of ${most}. ${again}`;
  return `This channel has reached its limit of ${most}. ${again}`;
}

/** Buttons for a decision on an unconfirmed clip. */
const DECIDING: ReadonlySet<ButtonAction> = new Set(['lookup', 'again', 'leave']);

/**
 * Lists the clips that count towards the limit until someone decides on them, one per line.
 * @param views the listed clips.
 * @param total number of all such clips, including the listed ones.
 */
function undecidedSentence(views: readonly TaskView[], total: number): readonly string[] {
  if (views.length === 0) return [];
  const which = total === 1 ? 'One of them is unconfirmed and waits' : `${total} of them are unconfirmed and wait`;
  const more = total - views.length;
  return [
    `${which} for your decision:`,
    ...views.map((view, index) => `${views.length === 1 ? '' : `${index + 1}. `}${clipWords(view)}`),
    ...(more === 0 ? [] : [`And ${more} more; /video status shows them.`]),
  ];
}

/** Returns the buttons of {@link undecidedSentence}, numbered like the lines if there are several clips. */
function undecidedButtons(views: readonly TaskView[]): readonly CardButton[] {
  return views.flatMap((view, index) =>
    view.buttons
      .filter((action) => DECIDING.has(action))
      .map((action): CardButton => {
        const { id, label } = taskButton(action, view);
        return { id, label: views.length === 1 ? label : `${index + 1} · ${label}`, style: 'plain' };
      }),
  );
}

function clipWords({ task: { request, price } }: TaskView): string {
  return `“${shorten(typedPrompt(request), 60)}” · ${request.seconds} s · ${formatPrice(price)}`;
}
