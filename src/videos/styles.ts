import { type Catalog, isOffered, type Model, modelNamed, SETTINGS } from './model.ts';
import type { Defaults } from './personal-defaults.ts';
import type { RequestDraft, SettingName, SettingValues } from './request.ts';

/** Values that an order with a style gets where it names none, as far as its model offers them. */
interface StyleDefaults extends Partial<SettingValues> {
  readonly model?: string;
  readonly images?: readonly string[];
}

/** Named style of a team: words around each prompt, and defaults. */
export interface Style extends StyleDefaults {
  /** Letters, digits and hyphens, in lower case. */
  readonly name: string;
  /** Words before the prompt. */
  readonly before?: string;
  /** Words after the prompt. */
  readonly after?: string;
  /** What the clip should not show. The service has no negative prompt, so it becomes words of the prompt. */
  readonly avoid?: string;
}

export function composePrompt({ before, after, avoid }: Style, typed: string): string {
  const text = [before, typed, after].reduce<string>((sum, part) => joined(sum, part ?? ''), '');
  if (avoid === undefined) return text;
  return joined(/[\p{Po}…]$/u.test(text) ? text : `${text}.`, `Avoid: ${avoid}`);
}

/** Joins two texts with a space, unless the second one begins with a punctuation mark. */
function joined(one: string, other: string): string {
  if (one === '' || other === '') return one + other;
  return /^[,.;:!?]/u.test(other) ? one + other : `${one} ${other}`;
}

/** Returns the style of a name, without regard to case. */
export function styleNamed({ styles = [] }: Pick<Catalog, 'styles'>, name: string): Style | undefined {
  const wanted = name.trim().normalize('NFC').toLowerCase();
  return styles.find((style) => style.name === wanted);
}

/** Returns the defaults of a style that change what an order costs, or show in its form. */
export function orderDefaults(catalog: Pick<Catalog, 'styles'>, name: string): Defaults {
  const { model, seconds, aspect } = styleNamed(catalog, name) ?? {};
  return {
    ...(model === undefined ? {} : { model }),
    ...(seconds === undefined ? {} : { seconds }),
    ...(aspect === undefined ? {} : { aspect }),
  };
}

/** Returns the styles that an order may have: all of the team, or the one that a policy asks for. */
export function allowedStyles({ styles = [], policy }: Pick<Catalog, 'styles' | 'policy'>): readonly Style[] {
  return policy?.style === undefined ? styles : styles.filter(({ name }) => name === policy.style);
}

/** Returns the name of the style that an order has: its own, or the one that a policy asks for. */
export function styleOf({ policy }: Pick<Catalog, 'policy'>, { style }: RequestDraft): string | undefined {
  return isGiven(style) ? style : policy?.style;
}

/**
 * Returns a draft as it is sent with its style, with the prompt as it was typed beside. One without a style, with an unknown
 * one, or with one that was applied before, is returned as it is.
 */
export function withStyle(catalog: Catalog, draft: RequestDraft): RequestDraft {
  const name = styleOf(catalog, draft);
  const style = name === undefined ? undefined : styleNamed(catalog, name);
  const typed = draft.prompt?.trim() ?? '';
  if (style === undefined || draft.typed !== undefined || typed === '') return draft;
  const words = { prompt: composePrompt(style, typed), typed, style: style.name };
  // The models of a comparison share their settings.
  if (draft.models !== undefined) return { ...draft, ...words };
  const modelName = isGiven(draft.model) ? draft.model : catalog.models.find((one) => one.name === style.model)?.name;
  const model = modelNamed(catalog.models, modelName ?? '') ?? catalog.defaultModel;
  // What the policy withholds of a style that the order names is refused as if it were typed, not replaced.
  const offers = isGiven(draft.style) ? (model.whole ?? model) : model;
  return {
    ...draft,
    ...(modelName === undefined ? {} : { model: modelName }),
    ...defaultsOf(style, draft, offers),
    ...words,
  };
}

/** Returns the defaults of a style that a draft does not name itself and the model offers. */
function defaultsOf(style: Style, draft: RequestDraft, model: Model): RequestDraft {
  const settings = SETTINGS.flatMap((setting): readonly (readonly [SettingName, string | number])[] => {
    const value = style[setting.name];
    const isFree = !isGiven(draft[setting.name]) && value !== undefined;
    return isFree && isOffered(setting.offerOf(model), value) ? [[setting.name, value]] : [];
  });
  const { images = [] } = style;
  const image = (draft.image ?? []).length > 0 ? [] : images.slice(0, model.media.image.max);
  return { ...Object.fromEntries(settings), ...(image.length === 0 ? {} : { image }) };
}

/** Returns a draft as it was typed, before its style was applied: for a form, in which the present style applies. */
export function asTyped({ typed, ...draft }: RequestDraft): RequestDraft {
  return typed === undefined ? draft : { ...draft, prompt: typed };
}

function isGiven(value: string | number | undefined): value is string | number {
  return value !== undefined && String(value).trim() !== '';
}
