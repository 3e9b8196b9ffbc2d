import { checkRequest } from '#src/videos/check.ts';
import { type Catalog, defaultResolution, defaultSeconds, type Model } from '#src/videos/model.ts';
import { MEDIA_KINDS, type MediaKind, type Refusal, type RequestDraft } from '#src/videos/request.ts';
import { refusalSentence } from '../sentences/refusals.ts';

/** The settings of an order that a form has fields for. */
const SETTINGS = ['model', 'seconds', 'aspect', 'resolution'] as const;
type Setting = (typeof SETTINGS)[number];

/** A request that the catalog of now takes, apart from its prompt, and why it is not the one that was given. */
export interface Fitted {
  readonly request: RequestDraft;
  /** What was wrong with the given value, by option. */
  readonly notes: { readonly [Option in Refusal['option']]?: string };
}

/** Replaces what the catalog refuses by the model's defaults, and leaves reference media out that it does not take. */
export function fitRequest(catalog: Catalog, given: RequestDraft): Fitted {
  const first = fitOnce(catalog, { request: given, notes: {} });
  // Without a known model, most was not checked.
  return first.notes.model === undefined ? first : fitOnce(catalog, first);
}

function fitOnce(catalog: Catalog, { request, notes }: Fitted): Fitted {
  const checked = checkRequest(catalog, request);
  if (checked.ok) return { request, notes };
  let fitted: Fitted = { request, notes };
  for (const refusal of checked.refusals) fitted = without(catalog, fitted, refusal);
  return fitted;
}

function without(catalog: Catalog, { request, notes }: Fitted, refusal: Refusal): Fitted {
  const { option } = refusal;
  const noted = { ...notes, [option]: refusalSentence(refusal) };
  if (isSetting(option)) {
    const model = catalog.models.find(({ name }) => name === request.model) ?? catalog.defaultModel;
    return { request: { ...request, [option]: defaultOf(option, model) }, notes: noted };
  }
  // Too few are given with the model's next form or not at all: only what cannot be sent is left out.
  const isKept = !isMedia(option) || (refusal.reason === 'media_count' && refusal.max > 0);
  return { request: isKept ? request : { ...request, [option]: [] }, notes: noted };
}

function defaultOf(setting: Setting, model: Model): string | undefined {
  switch (setting) {
    case 'model':
      return model.name;
    case 'seconds':
      return String(defaultSeconds(model));
    case 'aspect':
      return model.aspectRatios[0];
    case 'resolution':
      return defaultResolution(model);
  }
}

function isSetting(option: string): option is Setting {
  return (SETTINGS as readonly string[]).includes(option);
}

function isMedia(option: string): option is MediaKind {
  return (MEDIA_KINDS as readonly string[]).includes(option);
}
