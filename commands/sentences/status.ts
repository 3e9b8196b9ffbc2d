import type { MessageRef } from '#src/chat/platform.ts';
import type { TaskView } from '#src/chat/view.ts';
import { shortId } from '../buttons.ts';
import type { Card, Line } from '../card.ts';
import { taskCard } from './task-card.ts';

/** One task as its message shows it, with its id and the way to that message. */
export function statusCard(view: TaskView, message: MessageRef | undefined): Card {
  const card = taskCard(view);
  const jump: Line = message === undefined ? [] : [' · ', { message, label: 'its message' }];
  return { ...card, lines: [...card.lines, [{ code: shortId(view.task) }, ...jump]] };
}
