import { formatPrice, priceOf } from '#src/tasks/price.ts';
import { defaultSeconds, type Model } from '#src/videos/model.ts';
import type { MediaKind } from '#src/videos/request.ts';
import { mediaWords, priceWords, promptWords } from '../cards/models.ts';
import { withDefaultMark } from './suggestions.ts';

/** Labels of an order's fields, in forms with one field per setting. */
export const ORDER_LABELS = {
  prompt: 'Prompt',
  channel: 'Channel',
  model: 'Model',
  seconds: 'Length and price',
  aspect: 'Aspect',
  resolution: 'Resolution',
} as const;

/** Labels of the fields for reference media, for file uploads and for addresses. */
export const MEDIA_LABELS: Readonly<Record<MediaKind, { readonly files: string; readonly addresses: string }>> = {
  image: { files: 'Reference images', addresses: 'Links to reference images' },
  audio: { files: 'Reference audio', addresses: 'Links to reference audio' },
  video: { files: 'Reference videos', addresses: 'Links to reference videos' },
};

/** Label of the link to a finished clip's file. */
export const WATCH_CLIP = 'Watch the clip';

/** Label of the link from a retry to the original clip. */
export const ANOTHER_TAKE = 'Another take of this one';

/** Placeholder of the prompt. */
export const PROMPT_EXAMPLE = 'a red fox running through snow, cinematic';

/** Describes a model's price and limits: `$0.05 per second · images: up to 2 · prompt: up to 2000 characters`. */
export function modelFacts(model: Model): string {
  return [priceWords(model), ...mediaWords(model), `prompt: ${promptWords(model)}`].join(' · ');
}

/** Labels a length with its price: `6 s · $0.30 (default)`. */
export function lengthLabel(model: Model, seconds: number): string {
  const label = `${seconds} s · ${formatPrice(priceOf(model, seconds))}`;
  return withDefaultMark(label, seconds === defaultSeconds(model));
}
