import { formatPrice, priceOf } from '#src/money/price.ts';
import { defaultSeconds, type Model } from '#src/videos/model.ts';
import { mediaWords, priceWords, promptWords } from './models.ts';
import { withDefaultMark } from './suggestions.ts';

/** Labels of the fields of an order, where a form has room for one each. */
export const ORDER_LABELS = {
  prompt: 'Prompt',
  model: 'Model',
  seconds: 'Length and price',
  aspect: 'Aspect',
  resolution: 'Resolution',
  image: 'Reference images',
  imageAddress: 'Address of a reference image',
} as const;

/** Under a clip that repeats another one: the link to that. */
export const ANOTHER_TAKE = 'Another take of this one';

/** What is shown in an empty prompt. */
export const PROMPT_EXAMPLE = 'a red fox running through snow, cinematic';

/** What a model costs and takes: `$0.05 per second · images: up to 2 · prompt: up to 2000 characters`. */
export function modelFacts(model: Model): string {
  return [priceWords(model), ...mediaWords(model), `prompt: ${promptWords(model)}`].join(' · ');
}

/** `6 s · $0.30 (default)`. */
export function lengthLabel(model: Model, seconds: number): string {
  const label = `${seconds} s · ${formatPrice(priceOf(model, seconds))}`;
  return withDefaultMark(label, seconds === defaultSeconds(model));
}
