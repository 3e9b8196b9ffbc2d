import type { ButtonAction, TaskView } from '#src/chat/view.ts';
import type { LimitReached } from '#src/tasks/limits.ts';
import { formatPrice } from '#src/tasks/price.ts';
import type { CardButton } from '../ui/card.ts';
import { taskButton } from './cards/task-card.ts';
import { count, formatDuration, shorten } from './format.ts';

/** Why nothing more is made right now, how much there is, and when it goes on. */
export function limitSentence(limit: LimitReached): string {
  return limit.kind === 'open' ? openSentence(limit) : minuteSentence(limit);
}

function openSentence({ of, max, found }: LimitReached): string {
  const clips = `${count(found, 'clip')} in progress (limit ${max})`;
  const status = '/video status shows yours';
  if (of === 'person') {
    return `You already have ${clips}. Try again when one is done; ${status}. A cancelled one counts until the video service is done with it.`;
  }
  return `This channel already has ${clips}. Try again when one is done, or send this in another channel; ${status}.`;
}

function minuteSentence({ of, max, freeInMs = 0 }: LimitReached): string {
  const again = `Try again in ${formatDuration(Math.ceil(freeInMs / 1_000) * 1_000)}.`;
  const most = `${count(max, 'clip')} a minute`;
  if (of === 'person') return `You’ve reached your limit of ${most}. ${again}`;
  return `This channel has reached its limit of ${most}. ${again}`;
}

/** Buttons that decide on an unconfirmed clip. */
const DECIDING: ReadonlySet<ButtonAction> = new Set(['lookup', 'again', 'leave']);

/**
 * Names the clips that count until somebody decides on them, a line each.
 * @param views those that are listed.
 * @param total how many there are, the listed ones included.
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

/** The buttons of {@link undecidedSentence}; numbered like the lines where there is more than one clip. */
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

function clipWords({ prompt, seconds, price }: TaskView): string {
  return `“${shorten(prompt, 60)}” · ${seconds} s · ${formatPrice(price)}`;
}
