import {
  allowsModel,
  allowsResolution,
  allowsSeconds,
  type Catalog,
  listed,
  type Model,
  type Range,
  type ValueRules,
} from '../../videos/index.ts';

/**
 * Returns the catalog with what a policy allows of it: its models with their lengths and resolutions, and the first
 * allowed ones as defaults. What is withheld stays known, so that it is refused as not allowed. Where the policy leaves no
 * model at all, the models are shown as they are: every order is refused.
 */
export function allowedCatalog(catalog: Catalog, policy: ValueRules): Catalog {
  const all = catalog.models.map(({ whole, ...model }) => whole ?? model);
  const whole = [...all, ...(catalog.withheld ?? [])];
  const models = whole.flatMap((model) => narrowed(model, policy) ?? []);
  if (models.length === 0) return { ...catalog, policy };
  const names = new Set(models.map(({ name }) => name));
  const [first] = models;
  const usual = models.find(({ name }) => name === catalog.defaultModel.name) ?? first ?? catalog.defaultModel;
  return { models, defaultModel: usual, policy, withheld: whole.filter(({ name }) => !names.has(name)) };
}

/** Returns a model with its allowed values; `null` if it is not allowed, or none of its lengths or resolutions is. */
function narrowed(model: Model, rules: ValueRules): Model | null {
  const seconds = narrowedSeconds(model.seconds, rules);
  const resolutions = model.resolutions.filter((one) => allowsResolution(rules, one));
  const isLeft = seconds !== null && (resolutions.length > 0 || model.resolutions.length === 0);
  return isLeft && allowsModel(rules, model.name) ? { ...model, seconds, resolutions, whole: model } : null;
}

function narrowedSeconds(offer: Model['seconds'], rules: ValueRules): Model['seconds'] | null {
  if (rules.seconds === undefined) return offer;
  if ('min' in offer && 'max' in rules.seconds) return shortened(offer, rules.seconds.max);
  const left = 'min' in offer ? inRange(offer, rules) : offer.filter((one) => allowsSeconds(rules, one));
  return left.length === 0 ? null : left;
}

function shortened(offer: Range, max: number): Range | null {
  return max < offer.min ? null : { ...offer, max: Math.min(offer.max, max) };
}

/** Returns the allowed values of a range, of which a list allows only some. */
function inRange(offer: Range, rules: ValueRules): readonly number[] {
  return (listed(offer) ?? []).map(Number).filter((one) => allowsSeconds(rules, one));
}
