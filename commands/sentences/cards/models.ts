import { formatPrice } from '#src/tasks/price.ts';
import { defaultResolution, defaultSeconds, type Model, secondsInWords } from '#src/videos/model.ts';
import { MEDIA_KINDS, type MediaKind } from '#src/videos/request.ts';
import { type Card, type CardButton, type Line, layOut } from '../../ui/card.ts';
import { either, formatCount, formatRange } from '../format.ts';

/** Shows a page of the catalog: billing, price, lengths and reference media of each model. */
export function modelsCard(models: readonly Model[], defaultModel: Model, buttons: readonly CardButton[] = []): Card {
  const rows = models.map((model) => modelCells(model, model === defaultModel));
  return layOut([{ kind: 'table', columns: COLUMNS, rows }], { buttons });
}

const COLUMNS = ['Model', 'Price', 'Length', 'Aspect', 'Resolution', 'Reference media', 'Prompt'];

function modelCells(model: Model, isDefault: boolean): readonly Line[] {
  return [
    [{ untrusted: model.title }, ' (', { code: model.name }, isDefault ? ', default)' : ')'],
    ...[
      priceWords(model),
      withDefault(secondsWords(model), `${defaultSeconds(model)} s`),
      withDefault(model.aspectRatios.join(', '), model.aspectRatios[0]),
      withDefault(model.resolutions.join(', '), defaultResolution(model)),
      mediaWords(model).join(', '),
      `prompt: ${promptWords(model)}`,
    ].map((words): Line => (words === '' ? [] : [words])),
  ];
}

/** Describes a model's price: `$0.05 per second`. */
export function priceWords({ billing, price, currency }: Model): string {
  return `${formatPrice({ amount: price, currency })} ${billing === 'per_second' ? 'per second' : 'per clip'}`;
}

/** Describes a model's lengths: `4, 6 or 8 s`, `5 to 15 s in steps of 5`. */
export function secondsWords(model: Model): string {
  const [range = '', step] = either(secondsInWords(model)).split(' in steps of ');
  return step === undefined ? `${range} s` : `${range} s in steps of ${step}`;
}

/** Describes a model's reference media by kind: `images: up to 2`; empty if it takes none. */
export function mediaWords({ media }: Model): readonly string[] {
  return MEDIA_KINDS.filter((kind) => media[kind].max > 0).map(
    (kind) => `${MEDIA_WORDS[kind]}: ${formatRange(media[kind])}`,
  );
}

const MEDIA_WORDS: Readonly<Record<MediaKind, string>> = { image: 'images', audio: 'audio', video: 'videos' };

/** Describes a model's maximum prompt length. */
export function promptWords({ promptMaxLength }: Model): string {
  return Number.isFinite(promptMaxLength) ? `up to ${formatCount(promptMaxLength)} characters` : 'any length';
}

/** Adds the default to a range: `480p, 720p (default 720p)`; returns the range alone if there is no choice. */
export function withDefault(range: string, standard: string | undefined): string {
  return standard === undefined || range === standard ? range : `${range} (default ${standard})`;
}
