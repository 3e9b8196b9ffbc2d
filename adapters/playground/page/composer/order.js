/**
 * Price and options of an order: pure functions of the given options and the catalog.
 *
 * @typedef {object} Model as in `GET /playground/commands`
 * @property {string} name
 * @property {string} title
 * @property {boolean} isDefault
 * @property {string} label with its price and lengths
 * @property {readonly Setting[]} settings those that it takes
 * @property {readonly { name: string, label: string, min: number, max: number }[]} media the kinds that it takes
 * @typedef {object} Setting
 * @property {string} name
 * @property {string} label
 * @property {readonly { value: string, label: string, text: string, price?: string }[] | null} choices the first is the default; `null`: too many to list
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
  // The length may be the style’s.
  if (model === undefined || (given.style ?? []).length > 0) return null;
  const chosen = model.settings.map(({ name, choices }) => chosenOf(given[name]?.[0], choices));
  const length = chosen.find((choice) => choice?.price !== undefined);
  const takes = given.takes?.[0] ?? '1';
  const price = priceOfTakes(length, takes)?.price;
  if (price === undefined) return null;
  const references = model.media.reduce((sum, { name }) => sum + (given[name]?.length ?? 0), 0);
  const files = references === 0 ? null : `${references} reference ${references === 1 ? 'file' : 'files'}`;
  const several = takes === '1' ? null : `${takes} takes`;
  return [model.title, ...chosen.map((choice) => choice?.text), several, files, price].filter(Boolean).join(' · ');
}

/**
 * Returns the price of a number of takes of a length; `undefined` for a number that no order has.
 * @param {{ price?: string, ofTakes?: readonly { price: string }[] } | undefined} length
 * @param {string | undefined} takes as entered; default: one
 */
export function priceOfTakes(length, takes = '1') {
  const number = Number(takes.trim() || '1');
  return number === 1 ? length : length?.ofTakes?.[number - 2];
}

/**
 * Returns the choice of a value, which may have a unit (`6s`), or the default; a value of its own where it is not listed.
 * @param {string | undefined} given
 * @param {Setting['choices']} choices
 * @returns {{ text: string, price?: string } | undefined}
 */
function chosenOf(given, choices) {
  if (given === undefined) return choices?.[0];
  const found = choices?.find(({ value, text }) => value === given || text.replace(' ', '') === given.replace(' ', ''));
  return found ?? { text: given };
}
