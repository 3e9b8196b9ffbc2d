import type { ButtonAction, TaskView } from '#src/chat/index.ts';
import { formatPrice, type LimitReached } from '#src/tasks/index.ts';
import type { CardButton } from '../ui/card.ts';
import { taskButton } from './cards/task-card.ts';
import { count, formatDuration, shorten } from './format.ts';

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
export function undecidedSentence(views: readonly TaskView[], total: number): readonly string[] {
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
export function undecidedButtons(views: readonly TaskView[]): readonly CardButton[] {
  return views.flatMap((view, index) =>
    view.buttons
      .filter((action) => DECIDING.has(action))
      .map((action): CardButton => {
        const { id, label } = taskButton(action, view);
        return { id, label: views.length === 1 ? label : `${index + 1} · ${label}`, style: 'plain' };
      }),
  );
}

function clipWords({ prompt, settings, price }: TaskView): string {
  return `“${shorten(prompt, 60)}” · ${settings.seconds} s · ${formatPrice(price)}`;
}
