import type { EnhancerFailure } from '#src/enhancer/index.ts';
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

/** Reply where prompts can no longer be improved. */
export const NO_ENHANCER = 'Improving prompts is turned off here.';

export const NOTHING_TO_IMPROVE = 'There is nothing to improve: the suggestion is the same as your prompt.';

const KEPT = 'Your prompt is unchanged, and nothing was started.';

/** Returns the reply to a request that failed: the original stays as it is. */
export function notImproved(reason: EnhancerFailure): string {
  return `${REASONS[reason]} ${KEPT}`;
}

const REASONS: Readonly<Record<EnhancerFailure, string>> = {
  busy: 'I’m still improving another prompt of yours.',
  timed_out: 'The service that improves prompts didn’t answer within 15 s.',
  unavailable: 'The service that improves prompts can’t be reached right now. Try again later.',
  unauthorised: 'The service that improves prompts refused my token. Ask an administrator to check ENHANCER_TOKEN.',
  rate_limited: 'The service that improves prompts is busy. Try again in a minute.',
  failed: 'The service that improves prompts refused the request. Ask an administrator to check its settings.',
  bad_answer: 'The service that improves prompts gave an answer that I can’t read.',
  empty: 'The service that improves prompts gave an empty answer.',
  cut_off: 'The improved prompt was cut off.',
  withheld: 'The service that improves prompts declined to rewrite this one.',
  too_long: 'The improved prompt was too long.',
};
