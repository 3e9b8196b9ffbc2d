import type { MessageRef, TaskView } from '#src/chat/index.ts';
import type { TaskId } from '#src/tasks/index.ts';
import { shortId } from '../../ui/buttons.ts';
import { type Card, type Line, withText } from '../../ui/card.ts';
import { linkTo, setTitle } from './set-card.ts';
import { cardOf, taskButton } from './task-card.ts';

/**
 * Shows a task, or a set, as its message does, with its id and a link to that message.
 * @param id default: that of the view
 * @param set the set that the task belongs to, with its message
 */
export function statusCard(
  view: TaskView,
  message: MessageRef | undefined,
  { id = view.task, set }: { readonly id?: TaskId; readonly set?: ShownSet } = {},
): Card {
  const line: Line = [{ code: shortId(id) }, ...linkTo(message, 'its message')];
  return withSet(withText(withShow(cardOf(view), view), line), set);
}

/** Set with its message. */
interface ShownSet {
  readonly view: TaskView;
  readonly message: MessageRef | undefined;
}

/** Adds the set that a task belongs to, and **Show the board**, as its message may have been deleted. */
export function withSet(card: Card, set: ShownSet | undefined): Card {
  if (set === undefined) return card;
  const { view, message } = set;
  const line: Line = [...setTitle(view), ...linkTo(message, 'See it')];
  return { ...withText(card, line), buttons: [...card.buttons, taskButton('show', view)] };
}

/** Adds **Show the clip** to a finished task, or **Show the board**, whose message may have been deleted. */
function withShow(card: Card, view: TaskView): Card {
  if (view.members !== undefined) {
    const cut = view.boardCut?.isCurrent === true ? [taskButton('join', view)] : [];
    return { ...card, buttons: [...card.buttons, ...cut, taskButton('show', view)] };
  }
  if (view.phase !== 'done' || view.removal !== undefined || view.buttons.includes('show')) return card;
  return { ...card, buttons: [taskButton('show', view), ...card.buttons] };
}
