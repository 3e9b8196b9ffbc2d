import { lengthLabel } from '#commands/sentences/forms/order-form.ts';
import { modelSuggestion } from '#commands/sentences/forms/suggestions.ts';
import { formatPrice, priceOf } from '#src/tasks/price.ts';
import { type Catalog, defaultResolution, defaultSeconds, type Model, secondsOffered } from '#src/videos/model.ts';
import type { MediaKind } from '#src/videos/request.ts';

/** Model as sent to the page, for the price of an order and the choices of its form. */
export interface WireModel {
  readonly name: string;
  readonly title: string;
  /** Title with price and lengths, as in the suggestions. */
  readonly label: string;
  readonly isDefault: boolean;
  /** Every length with its price; the default comes first. */
  readonly seconds: readonly { readonly value: string; readonly label: string; readonly price: string }[];
  /** Aspect ratios, the default first; empty: the model takes none. */
  readonly aspects: readonly string[];
  readonly resolutions: readonly string[];
  /** The default resolution; `null` where the model takes none. */
  readonly resolution: string | null;
  readonly media: Readonly<Record<MediaKind, { readonly min: number; readonly max: number }>>;
}

/** Returns the models of the catalog as sent to the page, in the catalog's order. */
export function wireModels({ models, defaultModel }: Catalog): readonly WireModel[] {
  return models.map((model) => wireModel(model, model === defaultModel));
}

function wireModel(model: Model, isDefault: boolean): WireModel {
  const { name, title, aspectRatios, resolutions, media } = model;
  const first = defaultSeconds(model);
  const lengths = [first, ...secondsOffered(model).filter((seconds) => seconds !== first)];
  return {
    name,
    title,
    label: modelSuggestion(model, isDefault).label,
    isDefault,
    seconds: lengths.map((seconds) => ({
      value: String(seconds),
      label: lengthLabel(model, seconds),
      price: formatPrice(priceOf(model, seconds)),
    })),
    aspects: aspectRatios,
    resolutions,
    resolution: defaultResolution(model) ?? null,
    media,
  };
}
