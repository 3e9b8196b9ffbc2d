/**
 * Price and options of an order: pure functions of the given options and the catalog.
 *
 * @typedef {object} Model as in `GET /playground/commands`
 * @property {string} name
 * @property {string} title
 * @property {boolean} isDefault
 * @property {readonly { value: string, label: string, price: string }[]} seconds every length with its price; the first is the default
 * @property {string} label with its price and lengths
 * @property {readonly string[]} aspects the first is the default
 * @property {readonly string[]} resolutions
 * @property {string | null} resolution the default
 * @property {Readonly<Record<'image' | 'audio' | 'video', { readonly min: number, readonly max: number }>>} media
 * @typedef {Record<string, readonly string[]>} Given values by option
 */

/**
 * Returns the model of that name, or the default without a name; `undefined` for an unknown name.
 * @param {string | undefined} name
 * @param {readonly Model[]} models
 */
export function modelOf(name, models) {
  if (name === undefined || name.trim() === '') return models.find(({ isDefault }) => isDefault);
  const wanted = name.trim().toLowerCase();
  return models.find((model) => model.name.toLowerCase() === wanted);
}

/**
 * Returns the summary of an order, such as `Swift 1 · 4 s · 16:9 · 720p · $0.20`; `null` if the options are invalid.
 * @param {Given} given
 * @param {readonly Model[]} models
 */
export function orderSummary(given, models) {
  const model = modelOf(given.model?.[0], models);
  if (model === undefined) return null;
  const wanted = given.seconds?.[0]?.replace(/\s*s$/, '') ?? model.seconds[0]?.value;
  const length = model.seconds.find(({ value }) => value === wanted);
  if (length === undefined) return null;
  const aspect = given.aspect?.[0] ?? model.aspects[0];
  const resolution = given.resolution?.[0] ?? model.resolution;
  const references = Object.keys(model.media).reduce((sum, kind) => sum + (given[kind]?.length ?? 0), 0);
  const files = references === 0 ? null : `${references} reference ${references === 1 ? 'file' : 'files'}`;
  return [model.title, `${length.value} s`, aspect, resolution, files, length.price].filter(Boolean).join(' · ');
}

/**
 * Returns whether the chosen model takes an option (or one more value of it).
 * @param {string} option
 * @param {Given} given
 * @param {readonly Model[]} models
 */
export function takesOption(option, given, models) {
  const model = modelOf(given.model?.[0], models);
  if (model === undefined) return true;
  if (option === 'aspect') return model.aspects.length > 0;
  if (option === 'resolution') return model.resolutions.length > 0;
  const limits = model.media[option];
  return limits === undefined || limits.max > (given[option]?.length ?? 0);
}
