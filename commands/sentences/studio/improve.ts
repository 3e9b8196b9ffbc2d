import type { TaskId } from '#src/tasks/index.ts';
import { draftButtonId } from '../../ui/buttons.ts';
import type { CardButton } from '../../ui/card.ts';

/** Returns the button that has the prompt of a draft, or of a task, rewritten. */
export function improveButton(id: TaskId): CardButton {
  return { id: draftButtonId('improve', id), label: 'Improve', style: 'plain' };
}
