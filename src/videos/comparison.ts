import type { Checked, checkRequest } from './check.ts';
import {
  type Catalog,
  isOffered,
  listed,
  type Model,
  modelNamed,
  offerInWords,
  SETTINGS,
  type Setting,
} from './model.ts';
import type { Refusal, RequestDraft, SettingName } from './request.ts';

/** Smallest and largest number of models in one comparison. */
export const COMPARED = { min: 2, max: 4 } as const;

/**
 * Validates the draft of a comparison: several models with the same prompt and reference media, and the same length,
 * aspect ratio and resolution. Where the draft names none, they get a default that all of them offer; a setting that a
 * model does not take is left out for that model.
 * @param check validates the draft of one model
 */
export function checkComparison(catalog: Catalog, draft: RequestDraft, check: typeof checkRequest): Checked {
  const named = modelsOf(catalog, draft.models ?? '');
  if ('refusal' in named) return { ok: false, refusals: [named.refusal] };
  const { models } = named;
  const shared = SETTINGS.map((setting) => sharedValue(setting, models, { draft, check }));
  const chosen = new Map(shared.map((one) => [one.setting.name, one.value]));
  const checks = models.map((model) => check(catalog, draftFor(model, draft, chosen)));
  const refusals = [...shared.flatMap(({ refusal }) => refusal ?? []), ...checks.flatMap(problemsOf)];
  const compared = checks.flatMap((check) => (check.ok ? [{ request: check.request, model: check.model }] : []));
  const [first] = compared;
  if (first === undefined || refusals.length > 0) return { ok: false, refusals: distinct(refusals) };
  return { ok: true, ...first, takes: 1, compared };
}

type Named = { readonly models: readonly Model[] } | { readonly refusal: Refusal };

/** Finds the named models, in the order of the catalog: that in which they were typed means nothing. */
function modelsOf({ models, withheld = [] }: Catalog, text: string): Named {
  const option = 'models' as const;
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const allowed = models.map(({ name }) => name);
  const found: Model[] = [];
  for (const given of names) {
    const model = modelNamed(models, given);
    if (model === undefined && modelNamed(withheld, given) !== undefined)
      return { refusal: { reason: 'not_allowed', option: 'model', given, allowed } };
    if (model === undefined) return { refusal: { reason: 'unknown_model', option, given, allowed } };
    if (found.includes(model)) return { refusal: { reason: 'models_twice', option, given: model.name } };
    found.push(model);
  }
  if (found.length < COMPARED.min || found.length > COMPARED.max)
    return {
      refusal: { reason: 'models_number', option, given: found.length, allowed, ...COMPARED },
    };
  const currencies = [...new Set(found.map(({ currency }) => currency))];
  if (currencies.length > 1) return { refusal: { reason: 'models_currency', option, given: currencies } };
  return { models: models.filter((model) => found.includes(model)) };
}

interface Shared {
  readonly setting: Setting;
  /** Value for every model that takes the setting; undefined where the draft names one, or none is possible. */
  readonly value?: string | number;
  readonly refusal?: Refusal;
}

function sharedValue(
  setting: Setting,
  models: readonly Model[],
  { draft, check }: { readonly draft: RequestDraft; readonly check: typeof checkRequest },
): Shared {
  const takers = models.filter((model) => valuesOf(setting, model).length > 0);
  const [first] = takers;
  if (first === undefined) return { setting };
  const all = valuesOf(setting, first).filter((value) =>
    takers.every((model) => isOffered(setting.offerOf(model), value)),
  );
  const given = draft[setting.name]?.toString().trim() ?? '';
  if (given === '') {
    const usual = takers.map((model) => setting.defaultOf(model));
    const value = usual.find((one) => one !== undefined && all.includes(one)) ?? all[0];
    return value === undefined
      ? { setting, refusal: notShared(setting, takers, { given: null, all }) }
      : { setting, value };
  }
  const isTaken = (model: Model): boolean => {
    const { name } = model;
    const alone = { models: [model], defaultModel: model };
    const checked = check(alone, { prompt: 'any', model: name, [setting.name]: given });
    return (
      checked.ok || !checked.refusals.some(({ reason, option }) => reason === 'not_offered' && option === setting.name)
    );
  };
  // A model that does not take it at all is refused by its own check.
  return takers.every(isTaken) ? { setting } : { setting, refusal: notShared(setting, takers, { given, all }) };
}

function valuesOf(setting: Setting, model: Model): readonly (string | number)[] {
  return listed(setting.offerOf(model)) ?? [];
}

function notShared(
  { name: option, offerOf }: Setting,
  models: readonly Model[],
  { given, all }: { readonly given: string | null; readonly all: readonly (string | number)[] },
): Refusal {
  const offers = models.map((model) => ({ model: model.title, allowed: offerInWords(offerOf(model)) }));
  return { reason: 'not_shared', option, given, offers, shared: all.map(String) };
}

function draftFor(
  model: Model,
  { models: _models, takes: _takes, ...draft }: RequestDraft,
  chosen: ReadonlyMap<SettingName, string | number | undefined>,
): RequestDraft {
  const values = SETTINGS.flatMap((setting) => {
    const value = valuesOf(setting, model).length === 0 ? undefined : chosen.get(setting.name);
    return value === undefined ? [] : [[setting.name, value] as const];
  });
  return { ...draft, model: model.name, ...Object.fromEntries(values) };
}

/** Returns the problems of one model besides those that {@link sharedValue} explains for all of them. */
function problemsOf(checked: Checked): readonly Refusal[] {
  if (checked.ok) return [];
  return checked.refusals.filter((refusal) => refusal.reason !== 'not_offered' || refusal.allowed.length === 0);
}

function distinct(refusals: readonly Refusal[]): readonly Refusal[] {
  return [...new Map(refusals.map((refusal) => [JSON.stringify(refusal), refusal])).values()];
}
