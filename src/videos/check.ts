import { isChained, isLastFrame, LAST_FRAME, unframed } from './chain.ts';
import {
  type Catalog,
  collectSettings,
  isAlike,
  isOffered,
  listed,
  type Model,
  modelNamed,
  type Offer,
  offerInWords,
  SETTINGS,
  type Setting,
} from './model.ts';
import { splitAddresses } from './references/addresses.ts';
import { addressNamed, type NamedReference, withNamedImages } from './references/names.ts';
import {
  MEDIA_KINDS,
  type MediaKind,
  type Refusal,
  type RequestDraft,
  type RequestSettings,
  type SettingName,
  SHOTS,
  type ShotDraft,
  type VideoRequest,
} from './request.ts';
import { allowedStyles, styleNamed, styleOf, withStyle } from './styles.ts';
import {
  allowsModel,
  clipsRefused,
  distinctRefusals,
  policyRefusals,
  type ValueRules,
  wordsRefused,
} from './value-rules.ts';

/** Longest prompt in characters, regardless of the catalog: longer than any chat allows a user to type. */
const MAX_PROMPT_LENGTH = 20_000;
/** Control characters that separate no words, such as those of a file that is no text. */
const CONTROL = /(?!\s|\u0085)\p{Cc}/u;
/** Longest URL in characters: signed URLs of the known storage services have up to half of this. */
const MAX_ADDRESS_LENGTH = 4_096;

export const MAX_TAKES = 4;

/** Smallest and largest number of models in one comparison. */
export const COMPARED = { min: 2, max: 4 } as const;

/** Request with its defaults filled in, or all problems of the draft. */
export type Checked =
  | {
      readonly ok: true;
      /** Of a storyboard, the first shot. */
      readonly request: VideoRequest;
      readonly model: Model;
      /** Number of clips to make of it, 1 to {@link MAX_TAKES}. */
      readonly takes: number;
      readonly storyboard?: CheckedStoryboard;
      /** The requests of a comparison, in the order of the catalog, the first one included. Absent: it is none. */
      readonly compared?: readonly { readonly request: VideoRequest; readonly model: Model }[];
    }
  | { readonly ok: false; readonly refusals: readonly Refusal[] };

/** Shots of a storyboard that the catalog accepts. */
export interface CheckedStoryboard {
  readonly shots: readonly (Pick<ShotDraft, 'line'> & { readonly request: VideoRequest; readonly model: Model })[];
  readonly draft: RequestDraft;
}

/**
 * Validates a draft against the catalog and fills in the defaults: the default model, its first length and aspect
 * ratio, 720p or its first resolution. Blank options count as missing. A draft with `models` is one of a comparison.
 */
export function checkRequest(catalog: Catalog, given: RequestDraft): Checked {
  const { references = [] } = catalog;
  const named = withNamedImages(given, references);
  if (named.shots !== undefined) return checkShots(catalog, named, named.shots);
  const draft = withStyle(catalog, named);
  if (draft.models !== undefined) return checkComparison(catalog, draft);
  const refusals: Refusal[] = [];
  const refuse = (refusal: Refusal): undefined => void refusals.push(refusal);
  const { policy = {} } = catalog;
  checkStyle(catalog, draft, refuse);
  const model = modelOf(catalog, draft, refuse);
  if (model === undefined) {
    checkWithoutModel(draft, catalog, refuse);
    return { ok: false, refusals };
  }
  const asked: CheckContext = { draft, model, policy, references, refuse };
  const prompt = promptOf(asked);
  const settings = collectSettings((setting) => [setting.field, settingOf(asked, setting)]);
  const media = { image: mediaOf(asked, 'image'), audio: mediaOf(asked, 'audio'), video: mediaOf(asked, 'video') };
  const takes = takesOf(draft, policy, refuse);
  if (prompt === undefined || takes === undefined || refusals.length > 0) return { ok: false, refusals };
  // Each value is one that the model offers for its field.
  const words = draft.typed === undefined ? {} : { typed: draft.typed, ...styleField(draft) };
  const request: VideoRequest = {
    model: model.name,
    ...(model.service === undefined ? {} : { service: model.service }),
    prompt,
    ...words,
    ...(settings as unknown as RequestSettings),
    media,
    ...(isChained(draft) ? { chain: {} } : {}),
  };
  // Where the policy leaves no model, those of the catalog are whole.
  const forbidden = policyRefusals(policy, [request]);
  return forbidden.length > 0 ? { ok: false, refusals: forbidden } : { ok: true, request, model, takes };
}

/** Validates the shots of a storyboard, each with the options that all share. */
function checkShots(catalog: Catalog, draft: RequestDraft, shots: readonly ShotDraft[]): Checked {
  const refusals: Refusal[] = [];
  const { shots: _shots, script: _script, takes: _takes, chain: _chain, ...shared } = draft;
  const accepted = shots.flatMap(({ line, ...own }, index) => {
    const checked = checkRequest(catalog, { ...shared, ...own });
    const at = line === undefined ? {} : { line };
    if (index === 0 && isChained(own)) refusals.push({ reason: 'first_shot', option: 'image', ...at });
    if (checked.ok) return [{ ...at, request: checked.request, model: checked.model }];
    refusals.push(...checked.refusals.map((refusal) => ({ ...refusal, ...at })));
    return [];
  });
  if (shots.length < SHOTS.min) refusals.push({ reason: 'few_shots', option: 'shots', given: shots.length });
  const beyond = shots
    .slice(SHOTS.max)
    .map(({ line = 0 }) => ({ reason: 'many_shots', option: 'shots', line }) as const);
  refusals.push(...beyond);
  const currencies = [...new Set(accepted.map(({ model }) => model.currency))];
  if (currencies.length > 1) refusals.push({ reason: 'currencies', option: 'shots', currencies });
  const [first] = accepted;
  if (first === undefined || refusals.length > 0) return { ok: false, refusals };
  return { ok: true, request: first.request, model: first.model, takes: 1, storyboard: { shots: accepted, draft } };
}

/**
 * Validates the draft of a comparison: several models with the same prompt and reference media, and the same length,
 * aspect ratio and resolution. Where the draft names none, they get a default that all of them offer; a setting that a
 * model does not take is left out for that model.
 */
function checkComparison(catalog: Catalog, draft: RequestDraft): Checked {
  const named = modelsCompared(catalog, draft.models ?? '');
  if ('refusal' in named) return { ok: false, refusals: [named.refusal] };
  const { models } = named;
  const shared = SETTINGS.map((setting) => sharedValue(setting, models, draft));
  const chosen = new Map(shared.map((one) => [one.setting.name, one.value]));
  const checks = models.map((model) => checkRequest(catalog, draftFor(model, draft, chosen)));
  const refusals = [...shared.flatMap(({ refusal }) => refusal ?? []), ...checks.flatMap(problemsOfOne)];
  const compared = checks.flatMap((check) => (check.ok ? [{ request: check.request, model: check.model }] : []));
  const [first] = compared;
  if (first === undefined || refusals.length > 0) return { ok: false, refusals: distinctRefusals(refusals) };
  return { ok: true, ...first, takes: 1, compared };
}

type Named = { readonly models: readonly Model[] } | { readonly refusal: Refusal };

/** Finds the named models, in the order of the catalog: that in which they were typed means nothing. */
function modelsCompared({ models, withheld = [] }: Catalog, text: string): Named {
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
    return { refusal: { reason: 'models_number', option, given: found.length, allowed, ...COMPARED } };
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

function sharedValue(setting: Setting, models: readonly Model[], draft: RequestDraft): Shared {
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
    const checked = checkRequest(alone, { prompt: 'any', model: name, [setting.name]: given });
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
function problemsOfOne(checked: Checked): readonly Refusal[] {
  if (checked.ok) return [];
  return checked.refusals.filter((refusal) => refusal.reason !== 'not_offered' || refusal.allowed.length === 0);
}

/** Returns a checked order as the options that would order it, with its defaults filled in. */
export function draftOfOrder(checked: Extract<Checked, { readonly ok: true }>): RequestDraft {
  const { request, takes, storyboard, compared } = checked;
  if (compared !== undefined) return draftOfComparison(compared.map((one) => one.request));
  if (storyboard === undefined) return draftOfRequest(request, takes);
  const shots = storyboard.shots.map(({ line, request: own }) => ({ ...draftOfRequest(own), line }));
  return { ...storyboard.draft, shots };
}

/** Returns the requests of a comparison as the options that would order it; their order does not matter. */
export function draftOfComparison(requests: readonly VideoRequest[]): RequestDraft {
  const [first] = requests;
  if (first === undefined) return {};
  const { prompt, typed, media } = first;
  const words = typed === undefined ? {} : { typed, ...styleField(first) };
  // A setting that some models do not take is chosen anew for the others.
  const settings = collectSettings(({ name, field }) => [
    name,
    requests.every((one) => one[field] !== undefined) ? first[field] : undefined,
  ]);
  return {
    prompt,
    ...words,
    ...settings,
    ...media,
    models: requests
      .map(({ model }) => model)
      .toSorted()
      .join(','),
  };
}

/** Validates an earlier request against the current catalog; returns `request` unchanged. */
export function checkAgain(catalog: Catalog, request: VideoRequest): Checked {
  const checked = checkRequest(catalog, draftOfRequest(request));
  if (!checked.ok) return checked;
  // Another service's model of that name is not the one that was ordered.
  if (checked.model.service !== request.service) return { ok: false, refusals: [goneModel(catalog, request)] };
  return { ...checked, request };
}

/**
 * Validates an earlier request for another clip of it, as {@link checkAgain} does. One that names no service is from before
 * its service had a name: it goes to the one that has its model now.
 */
export function checkRetry(catalog: Catalog, request: VideoRequest): Checked {
  const { service } = catalog.models.find(({ name }) => name === request.model) ?? {};
  return checkAgain(catalog, service === undefined ? request : { service, ...request });
}

function goneModel({ models }: Catalog, { model }: VideoRequest): Refusal {
  return { reason: 'unknown_model', option: 'model', given: model, allowed: models.map(({ name }) => name) };
}

/** Returns a request as the options that would order it. @param takes default: 1 */
export function draftOfRequest(request: VideoRequest, takes = 1): RequestDraft {
  const { model, prompt, typed, media, chain } = unframed(request);
  const settings = collectSettings(({ name, field }) => [name, request[field]]);
  const words = typed === undefined ? {} : { typed, ...styleField(request) };
  const image = chain === undefined ? media.image : [LAST_FRAME, ...media.image];
  return { model, prompt, ...words, ...settings, ...media, image, ...(takes === 1 ? {} : { takes }) };
}

function styleField({ style }: { readonly style?: string | undefined }): { readonly style?: string } {
  return style === undefined ? {} : { style };
}

/** Refuses a style that the team does not have. One that was applied before need not be there any more. */
function checkStyle(catalog: Catalog, draft: RequestDraft, refuse: Refuse): void {
  const name = blankAsMissing(styleOf(catalog, draft));
  if (name === undefined || draft.typed !== undefined || styleNamed(catalog, name) !== undefined) return;
  const allowed = allowedStyles(catalog).map((style) => style.name);
  refuse({ reason: 'unknown_style', option: 'style', given: name, allowed });
}

/** Returns the number of takes; 1 where none is given. */
function takesOf({ takes }: RequestDraft, policy: ValueRules, refuse: Refuse): number | undefined {
  const given = blankAsMissing(takes?.toString());
  const number = given === undefined ? 1 : /^\d{1,2}$/.test(given) ? Number(given) : 0;
  if (given !== undefined && (number < 1 || number > MAX_TAKES))
    return refuse({ reason: 'takes', option: 'takes', given, max: MAX_TAKES });
  const refusal = clipsRefused(policy, number);
  return refusal === null ? number : refuse(refusal);
}

/** Returns the length that a model makes of an entered value, in seconds; its default for none, `null` if it refuses. */
export function lengthOf(model: Model, given: string | undefined): number | null {
  const [seconds] = SETTINGS.filter(({ name }) => name === 'seconds').map((setting) =>
    settingOf(
      {
        draft: given === undefined ? {} : { seconds: given },
        model,
        policy: {},
        references: [],
        refuse: () => undefined,
      },
      setting,
    ),
  );
  return typeof seconds === 'number' ? seconds : null;
}

/** Records a refusal; returns undefined, so that a check can return its result. */
type Refuse = (refusal: Refusal) => undefined;

interface CheckContext {
  readonly draft: RequestDraft;
  readonly model: Model;
  readonly policy: ValueRules;
  readonly references: readonly NamedReference[];
  readonly refuse: Refuse;
}

function modelOf(catalog: Catalog, draft: RequestDraft, refuse: Refuse): Model | undefined {
  const given = blankAsMissing(draft.model);
  if (given === undefined) return catalog.defaultModel;
  const { models, withheld = [], policy = {} } = catalog;
  const found = modelNamed(models, given);
  const allowed = models.map(({ name }) => name);
  if (found !== undefined && allowsModel(policy, found.name)) return found;
  const isWithheld = found !== undefined || modelNamed(withheld, given) !== undefined;
  return refuse({ reason: isWithheld ? 'not_allowed' : 'unknown_model', option: 'model', given, allowed });
}

/** Runs the checks that need no model, so that the user sees all problems at once. */
function checkWithoutModel(draft: RequestDraft, { policy = {}, references = [] }: Catalog, refuse: Refuse): void {
  const prompt = blankAsMissing(draft.prompt);
  if (prompt === undefined) refuse({ reason: 'missing', option: 'prompt' });
  else checkWords(prompt, policy, refuse);
  for (const setting of SETTINGS) enteredValue(draft, setting, refuse);
  takesOf(draft, policy, refuse);
  for (const kind of MEDIA_KINDS) addressesOf({ draft, references, refuse }, kind);
}

function checkWords(prompt: string, policy: ValueRules, refuse: Refuse): void {
  const refusal = wordsRefused(policy, prompt);
  if (refusal !== null) refuse(refusal);
}

function promptOf({ draft, model, policy, refuse }: CheckContext): string | undefined {
  const prompt = blankAsMissing(draft.prompt);
  if (prompt === undefined) return refuse({ reason: 'missing', option: 'prompt' });
  checkWords(prompt, policy, refuse);
  if (CONTROL.test(prompt)) return refuse({ reason: 'control', option: 'prompt' });
  const given = Array.from(prompt).length;
  const max = Math.min(model.promptMaxLength, MAX_PROMPT_LENGTH);
  if (given > max)
    return refuse({
      reason: 'too_long',
      option: 'prompt',
      model: model.title,
      given,
      max,
      ...styleField(styled(draft)),
    });
  return prompt;
}

/** Returns a draft whose style is a part of its prompt; an empty one for any other. */
function styled(draft: RequestDraft): Pick<RequestDraft, 'style'> {
  return draft.typed === undefined ? {} : draft;
}

/** Returns the value of a setting or its default; undefined if it is refused or the model takes none. */
function settingOf({ draft, model, refuse }: CheckContext, setting: Setting): number | string | undefined {
  const value = enteredValue(draft, setting, refuse);
  if (value === undefined) return undefined;
  if (value === 'not given') return setting.defaultOf(model);
  const { name: option } = setting;
  const offer = setting.offerOf(model);
  const { given } = value;
  const found = offeredValue(offer, value);
  if (found !== undefined) return found;
  const allowed = offerInWords(offer);
  const isWithheld = model.whole !== undefined && offeredValue(setting.offerOf(model.whole), value) !== undefined;
  if (isWithheld) return refuse({ reason: 'not_allowed', option, given, allowed });
  return refuse({ reason: 'not_offered', option, model: model.title, given, allowed });
}

/** Returns an entered value as the offer has it; undefined if it has none. */
function offeredValue(offer: Offer, { given, number }: GivenValue): number | string | undefined {
  if (number !== undefined && isOffered(offer, number)) return number;
  return listed(offer)?.find((one) => typeof one === 'string' && isAlike(one, given));
}

interface GivenValue {
  readonly given: string;
  /** Undefined for a choice. */
  readonly number?: number;
}

function enteredValue(draft: RequestDraft, setting: Setting, refuse: Refuse): GivenValue | 'not given' | undefined {
  const { name: option, kind, unit } = setting;
  const given = blankAsMissing(draft[option]?.toString());
  if (given === undefined) return 'not given';
  if (kind === 'choice') return { given };
  // Users write "6s" as well as "6".
  const isSuffixed = unit !== '' && given.toLowerCase().endsWith(unit);
  const digits = (isSuffixed ? given.slice(0, -unit.length) : given).trimEnd();
  if (!/^[+-]?\d+(?:\.\d+)?$/.test(digits)) return refuse({ reason: 'not_a_number', option, given });
  return { given, number: Number(digits) };
}

function mediaOf(asked: CheckContext, option: MediaKind): readonly string[] {
  const { model, refuse } = asked;
  const addresses = addressesOf(asked, option);
  const framed = option === 'image' && isChained(asked.draft) ? ({ isChained: true } as const) : {};
  const given = addresses.length + ('isChained' in framed ? 1 : 0);
  const { min, max } = model.media[option];
  if (given < min || given > max)
    refuse({ reason: 'media_count', option, model: model.title, given, min, max, ...framed });
  return addresses;
}

/** Returns the addresses of an option, with those of the library's images in place of their names. */
function addressesOf(
  { draft, references, refuse }: Pick<CheckContext, 'draft' | 'references' | 'refuse'>,
  option: MediaKind,
): readonly string[] {
  const words = (draft[option] ?? []).flatMap(splitAddresses);
  const addresses = (option === 'image' ? words.filter((word) => !isLastFrame(word)) : words).map((given) => {
    const address = option === 'image' ? addressNamed(given, references) : given;
    if (address === null) {
      const known = references.map(({ name }) => name);
      refuse({ reason: 'unknown_reference', option: 'image', given, known });
    }
    return address;
  });
  for (const given of addresses) {
    if (given === null) continue;
    if (given.length > MAX_ADDRESS_LENGTH) {
      refuse({ reason: 'address_too_long', option, given: given.length, max: MAX_ADDRESS_LENGTH });
    } else if (!isAddress(given)) refuse({ reason: 'not_an_address', option, given });
  }
  return addresses.filter((address) => address !== null);
}

/** Returns whether a URL satisfies the specification's rule for reference media and parses without repairs. */
function isAddress(text: string): boolean {
  return /^https?:\/\/[^\s]+$/.test(text) && URL.canParse(text);
}

function blankAsMissing(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}
