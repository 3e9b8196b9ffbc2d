import { type Catalog, checkRequest, type Style, splitAddresses } from '#src/videos/index.ts';
import type { FieldProblem, GivenOptions } from '../bot-port.ts';
import { optionValue, switchedOff } from '../input/options.ts';
import { refusalProblems } from '../sentences/refusals.ts';
import { notAStyleName, STYLE_NAME_MISSING, styleTextTooLong } from '../sentences/studio/styles.ts';

const TEXTS = ['before', 'after', 'avoid'] as const;
export const PARTS = [...TEXTS, 'model', 'seconds', 'aspect', 'resolution', 'images'] as const;

/** Longest text of a style in characters; what is sent must fit into the model's limit. */
export const MAX_TEXT_LENGTH = 1000;
const MAX_NAME_LENGTH = 32;
const MAX_IMAGES = 10;

/** Change of a style as entered, or everything that is wrong with it. */
type ReadStyle =
  | {
      readonly ok: true;
      readonly name: string;
      /** Returns the style after the change; `null`: it is removed. */
      readonly change: (before: Style) => Style | null;
    }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/** Reads the options of `/video style`. */
export function readStyle(catalog: Catalog, given: GivenOptions): ReadStyle {
  const typed = optionValue(given, 'name') ?? '';
  const name = typed.normalize('NFC').toLowerCase();
  const problems: FieldProblem[] = [];
  if (name === '') problems.push({ field: 'name', sentence: STYLE_NAME_MISSING });
  // Names are shown without being escaped, and typed as one word.
  else if (!/^[\p{L}\p{N}][\p{L}\p{N}-]*$/u.test(name) || Array.from(name).length > MAX_NAME_LENGTH)
    problems.push({ field: 'name', sentence: notAStyleName(typed, MAX_NAME_LENGTH) });
  const texts = TEXTS.flatMap((part) => {
    const value = optionValue(given, part)?.replace(/\s+/gu, ' ');
    return value === undefined ? [] : [[part, value] as const];
  });
  for (const [part, value] of texts) {
    const length = Array.from(value).length;
    if (length > MAX_TEXT_LENGTH)
      problems.push({ field: part, sentence: styleTextTooLong(part, length, MAX_TEXT_LENGTH) });
  }
  const defaults = readDefaults(catalog, given, problems);
  const off = switchedOff(given, PARTS);
  const removed: readonly string[] = off.removed;
  problems.push(...off.problems);
  if (problems.length > 0) return { ok: false, problems };
  const entered = { ...Object.fromEntries(texts), ...defaults };
  return {
    ok: true,
    name,
    change: (before) => {
      if (removed.length === PARTS.length) return null;
      const kept = Object.entries({ ...before, ...entered }).filter(([part]) => !removed.includes(part));
      return { name, ...Object.fromEntries(kept) };
    },
  };
}

/** Reads the defaults, which a model of the catalog has to offer. */
function readDefaults(catalog: Catalog, given: GivenOptions, problems: FieldProblem[]): Partial<Style> {
  const [model, seconds, aspect, resolution] = (['model', 'seconds', 'aspect', 'resolution'] as const).map((part) =>
    optionValue(given, part),
  );
  const images = splitAddresses(optionValue(given, 'images') ?? '');
  // References that a model needs come with an order; without a model, the images are for those that take some.
  const models = catalog.models.map((one) => {
    const max = model === undefined ? MAX_IMAGES : one.media.image.max;
    return { ...one, media: { image: { min: 0, max }, audio: NONE, video: NONE } };
  });
  const defaultModel = models.find(({ name }) => name === catalog.defaultModel.name) ?? catalog.defaultModel;
  const { policy: _, styles: _styles, ...whole } = catalog;
  const draft = { prompt: 'any', model, seconds, aspect, resolution, image: images };
  const checked = checkRequest({ ...whole, models, defaultModel }, draft);
  if (!checked.ok) {
    const found = refusalProblems(checked);
    problems.push(...found.map((problem) => (problem.field === 'image' ? { ...problem, field: 'images' } : problem)));
    return {};
  }
  const { request } = checked;
  return {
    ...(model === undefined ? {} : { model: request.model }),
    ...(seconds === undefined ? {} : { seconds: request.seconds }),
    ...(aspect === undefined || request.aspectRatio === undefined ? {} : { aspect: request.aspectRatio }),
    ...(resolution === undefined || request.resolution === undefined ? {} : { resolution: request.resolution }),
    ...(images.length === 0 ? {} : { images }),
  };
}

const NONE = { min: 0, max: 0 };
