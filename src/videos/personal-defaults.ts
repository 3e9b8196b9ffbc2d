import { checkRequest } from './check.ts';
import { type Catalog, isOffered, type Model, type Setting } from './model.ts';
import type { Refusal, RequestDraft, SettingValues } from './request.ts';

/** Settings that a person gets where an order names none. Absent: those of the catalog. */
export interface Defaults extends Partial<Pick<SettingValues, PersonalSetting>> {
  readonly model?: string;
}

type PersonalSetting = 'seconds' | 'aspect';

/** Returns whether people may have defaults of their own for a setting. */
export function isPersonal(setting: Setting): setting is Setting & { readonly name: PersonalSetting } {
  return setting.name === 'seconds' || setting.name === 'aspect';
}

/**
 * Returns the catalog as a person has it: their model is the default, and their length and aspect ratio are the defaults
 * of every model that offers them. A model that is not in the catalog any more has no effect.
 */
export function personalCatalog(catalog: Catalog, defaults: Defaults): Catalog {
  if (Object.keys(defaults).length === 0) return catalog;
  const models = catalog.models.map((model) => ({ ...model, personal: personalOf(model, defaults) }));
  const nameOfDefault = models.some(({ name }) => name === defaults.model) ? defaults.model : catalog.defaultModel.name;
  const defaultModel = models.find(({ name }) => name === nameOfDefault) ?? catalog.defaultModel;
  return { ...catalog, models, defaultModel };
}

function personalOf({ seconds, aspectRatios }: Model, defaults: Defaults): NonNullable<Model['personal']> {
  const { seconds: length, aspect } = defaults;
  return {
    ...(length !== undefined && isOffered(seconds, length) ? { seconds: length } : {}),
    ...(aspect !== undefined && isOffered(aspectRatios, aspect) ? { aspect } : {}),
  };
}

/** Defaults as entered, with the problems of what the catalog does not offer. */
type CheckedDefaults =
  | { readonly ok: true; readonly defaults: Defaults }
  | { readonly ok: false; readonly refusals: readonly Refusal[] };

/**
 * Checks entered defaults, and returns those that were entered as the catalog spells them. Length and aspect ratio have to
 * be offered by the model.
 * @param entered with the model for which they are meant; default: that of the catalog
 */
export function checkDefaults(catalog: Catalog, entered: Pick<RequestDraft, keyof Defaults>): CheckedDefaults {
  // No reference files are given here.
  const models = catalog.models.map((model) => ({ ...model, media: NO_MEDIA }));
  const defaultModel = models.find(({ name }) => name === catalog.defaultModel.name) ?? catalog.defaultModel;
  const { model, seconds, aspect } = entered;
  const { style: _, ...policy } = catalog.policy ?? {};
  const checked = checkRequest(
    { ...catalog, models, defaultModel, styles: [], policy: { ...policy, words: [] } },
    { prompt: 'any', model, seconds, aspect },
  );
  if (!checked.ok) return checked;
  const { request } = checked;
  return {
    ok: true,
    defaults: {
      ...(model === undefined ? {} : { model: request.model }),
      ...(seconds === undefined ? {} : { seconds: request.seconds }),
      ...(aspect === undefined || request.aspectRatio === undefined ? {} : { aspect: request.aspectRatio }),
    },
  };
}

const NONE = { min: 0, max: 0 };
const NO_MEDIA: Model['media'] = { image: NONE, audio: NONE, video: NONE };
