import { formatPrice, type Price, type TaskId } from '#src/tasks/index.ts';
import { draftButtonId } from '../../ui/buttons.ts';
import type { CardButton, Line } from '../../ui/card.ts';
import { shorten } from '../format.ts';

/** Length to which the original is shortened: its author knows it. */
const ORIGINAL_LENGTH = 300;

/** Returns the button that has the prompt of a draft, or of a task, rewritten. */
export function improveButton(id: TaskId): CardButton {
  return { id: draftButtonId('improve', id), label: 'Improve', style: 'plain' };
}

/** Shows both prompts; the improved one whole, since it may be ordered as it is. */
export function improvedLines({
  original,
  improved,
}: {
  readonly original: string;
  readonly improved: string;
}): readonly Line[] {
  return [
    [{ strong: 'Original' }, ': ', { untrusted: shorten(original, ORIGINAL_LENGTH) }],
    [{ strong: 'Improved' }, ': ', { untrusted: improved }],
    ['A language model wrote the second one. Nothing has been started.'],
  ];
}

export function choiceButton(
  { button, prompt, price }: { readonly button: string; readonly prompt: string; readonly price: Price },
  improved: string,
): CardButton {
  const isImproved = prompt === improved;
  return {
    id: button,
    label: `${isImproved ? 'Create improved' : 'Keep original'} · ${formatPrice(price)}`,
    style: isImproved ? 'primary' : 'plain',
  };
}
