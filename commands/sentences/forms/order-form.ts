import { formatPrice, priceOf } from '#src/tasks/price.ts';
import { defaultSeconds, type Model } from '#src/videos/model.ts';
import type { MediaKind } from '#src/videos/request.ts';
import { mediaWords, priceWords, promptWords } from '../cards/models.ts';
import { withDefaultMark } from './suggestions.ts';

/** Labels of the fields of an order, where a form has room for one each. */
export const ORDER_LABELS = {
  prompt: 'Prompt',
  channel: 'Channel',
  model: 'Model',
  seconds: 'Length and price',
  aspect: 'Aspect',
  resolution: 'Resolution',
} as const;

/** Labels of the fields for reference media, where files can be given and where only addresses can. */
export const MEDIA_LABELS: Readonly<Record<MediaKind, { readonly files: string; readonly addresses: string }>> = {
  image: { files: 'Reference images', addresses: 'Links to reference images' },
  audio: { files: 'Reference audio', addresses: 'Links to reference audio' },
  video: { files: 'Reference videos', addresses: 'Links to reference videos' },
};

/** Under a finished clip: the link to its file. */
export const WATCH_CLIP = 'Watch the clip';

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
