import { formatPrice, priceOf } from '#src/tasks/index.ts';
import { type Catalog, defaultSeconds, MEDIA_KINDS } from '#src/videos/index.ts';
import { PROMPT_EXAMPLE } from './forms.ts';

/** Texts of an assistant's conversation with the app. */
export const ASSISTANT_WORDS = {
  /** Names no prompt: it stays where a clip is removed. */
  title: 'Clips',
  suggestions: 'Describe a clip, or try one of these. Nothing is made before you have confirmed its price.',
  /** Continues the name of the app. */
  rendering: 'is rendering…',
} as const;

/** Message that is suggested under a title. */
interface SuggestedPrompt {
  readonly title: string;
  readonly message: string;
}

const QUESTIONS: readonly SuggestedPrompt[] = [
  { title: 'What is running?', message: 'status' },
  { title: 'What did we spend this month?', message: 'usage' },
  { title: 'Show my latest clips', message: 'list --who me' },
];

/** Returns at most four messages to begin with; the first is an order, with its price, where words alone are enough for one. */
export function suggestedPrompts({ defaultModel: model }: Catalog): readonly SuggestedPrompt[] {
  if (MEDIA_KINDS.some((kind) => model.media[kind].min > 0)) return QUESTIONS;
  const price = formatPrice(priceOf(model, defaultSeconds(model)));
  return [{ title: `Make a clip with ${model.title} · ${price}`, message: PROMPT_EXAMPLE }, ...QUESTIONS];
}
