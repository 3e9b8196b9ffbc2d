import { formatPrice } from '#src/money/price.ts';
import { type Catalog, defaultResolution, defaultSeconds, type Model, secondsInWords } from '#src/videos/model.ts';
import { MEDIA_KINDS, type MediaKind } from '#src/videos/request.ts';
import type { Card, Line } from '../card.ts';
import { either, formatRange } from './format.ts';

/** The catalog: billing, price, lengths, what media each takes. */
export function modelsCard({ models, defaultModel }: Catalog): Card {
  const lines = models.flatMap((model) => modelLines(model, model === defaultModel));
  return { lines, progress: null, buttons: [] };
}

function modelLines(model: Model, isDefault: boolean): readonly Line[] {
  const settings = [
    priceWords(model),
    withDefault(secondsWords(model), `${defaultSeconds(model)} s`),
    withDefault(model.aspectRatios.join(', '), model.aspectRatios[0]),
    withDefault(model.resolutions.join(', '), defaultResolution(model)),
  ].filter((setting) => setting !== '');
  return [
    [
      { untrusted: model.title },
      ' (',
      { code: model.name },
      isDefault ? ', the default' : '',
      `) · ${settings.join(' · ')}`,
    ],
    [`   ${[...mediaWords(model), `prompt: ${promptWords(model)}`].join(' · ')}`],
  ];
}

/** `$0.05 per second`. */
export function priceWords({ billing, price, currency }: Model): string {
  return `${formatPrice({ amount: price, currency })} ${billing === 'per_second' ? 'per second' : 'per clip'}`;
}

/** `4, 6 or 8 s`, `5 to 15 s in steps of 5`. */
export function secondsWords(model: Model): string {
  const [range = '', step] = either(secondsInWords(model)).split(' in steps of ');
  return step === undefined ? `${range} s` : `${range} s in steps of ${step}`;
}

/** `up to 2 images`, kind by kind; empty where the model takes no media. */
export function mediaWords({ media }: Model): readonly string[] {
  return MEDIA_KINDS.filter((kind) => media[kind].max > 0).map(
    (kind) => `${MEDIA_WORDS[kind]}: ${formatRange(media[kind])}`,
  );
}

const MEDIA_WORDS: Readonly<Record<MediaKind, string>> = { image: 'images', audio: 'audio', video: 'videos' };

/** How long a prompt may be. */
export function promptWords({ promptMaxLength }: Model): string {
  return Number.isFinite(promptMaxLength) ? `up to ${promptMaxLength} characters` : 'any length';
}

/** `480p, 720p (default 720p)`; the range alone where there is no choice. */
export function withDefault(range: string, standard: string | undefined): string {
  return standard === undefined || range === standard ? range : `${range} (default ${standard})`;
}
