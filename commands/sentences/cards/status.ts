import type { MessageRef } from '#src/chat/platform.ts';
import type { TaskView } from '#src/chat/view.ts';
import { shortId } from '../../ui/buttons.ts';
import { type Card, type Line, withText } from '../../ui/card.ts';
import { taskButton, taskCard } from './task-card.ts';

/** Shows a task as its message does, with its id and a link to that message. */
export function statusCard(view: TaskView, message: MessageRef | undefined): Card {
  const card = withShow(taskCard(view), view);
  const jump: Line = message === undefined ? [] : [' · ', { message, label: 'its message' }];
  return withText(card, [{ code: shortId(view.task) }, ...jump]);
}

/** Adds **Show the clip** to a finished task, whose message may have been deleted. */
function withShow(card: Card, view: TaskView): Card {
  if (view.phase !== 'done' || view.buttons.includes('show')) return card;
  return { ...card, buttons: [taskButton('show', view), ...card.buttons] };
}
