import type { View } from '#src/chat/view.ts';
import type { Person } from '#src/tasks/task.ts';
import { noticeCard } from './sentences/cards/notice.ts';
import { taskCard } from './sentences/cards/task-card.ts';
import type { Card } from './ui/card.ts';

export { NOT_BEGUN, STILL_WORKING, sentenceOf } from './sentences/errors.ts';

/**
 * Renders a view as a card.
 * @param mention person that a completion notice pings. Default: the requester; none in a subscribed channel.
 */
export function cardOf(view: View, mention: Person | null = defaultMention(view)): Card {
  return view.kind === 'task' ? taskCard(view) : noticeCard(view, mention);
}

function defaultMention(view: View): Person | null {
  return view.kind === 'end' && !view.subscribed ? view.by : null;
}
