import { checkRequest } from '#src/videos/check.ts';
import { type Catalog, settingNamed } from '#src/videos/model.ts';
import { MEDIA_KINDS, type MediaKind, type Refusal, type RequestDraft } from '#src/videos/request.ts';
import { refusalSentence } from '../sentences/refusals.ts';

/** Request that the current catalog accepts, apart from its prompt, with the reasons for each change. */
export interface Fitted {
  readonly request: RequestDraft;
  /** Reasons why a given value was refused, by option. */
  readonly notes: { readonly [Option in Refusal['option']]?: string };
}

/** Replaces settings that the catalog refuses by the model's defaults; omits reference media that cannot be sent. */
export function fitRequest(catalog: Catalog, given: RequestDraft): Fitted {
  const first = fitOnce(catalog, { request: given, notes: {} });
  // With an unknown model, most options were not validated.
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
  const setting = settingNamed(option);
  if (option === 'model' || setting !== undefined) {
    const model = catalog.models.find(({ name }) => name === request.model) ?? catalog.defaultModel;
    const value = setting === undefined ? model.name : setting.defaultOf(model);
    return { request: { ...request, [option]: value }, notes: noted };
  }
  // A wrong number of files can be corrected in the form; only files that cannot be sent are omitted.
  const isKept = !isMedia(option) || (refusal.reason === 'media_count' && refusal.max > 0);
  return { request: isKept ? request : { ...request, [option]: [] }, notes: noted };
}

function isMedia(option: string): option is MediaKind {
  return (MEDIA_KINDS as readonly string[]).includes(option);
}
