import { type Catalog, defaultResolution, defaultSeconds, type Model, offersSeconds, secondsInWords } from './model.ts';
import { splitAddresses } from './reference-addresses.ts';
import type { MediaKind, Refusal, RequestDraft, VideoRequest } from './request.ts';

/** Longest prompt in characters, regardless of the catalog: longer than any chat allows a user to type. */
const MAX_PROMPT_LENGTH = 20_000;
/** Longest URL in characters: signed URLs of the known storage services have up to half of this. */
const MAX_ADDRESS_LENGTH = 4_096;

/** Request with its defaults filled in, or all problems of the draft. */
export type Checked =
  | { readonly ok: true; readonly request: VideoRequest; readonly model: Model }
  | { readonly ok: false; readonly refusals: readonly Refusal[] };

/**
 * Validates a draft against the catalog and fills in the defaults: the default model, its first length and aspect
 * ratio, 720p or its first resolution. Blank options count as missing.
 */
export function checkRequest(catalog: Catalog, draft: RequestDraft): Checked {
  const refusals: Refusal[] = [];
  const refuse = (refusal: Refusal): undefined => void refusals.push(refusal);
  const model = modelOf(catalog, draft, refuse);
  if (model === undefined) {
    checkWithoutModel(draft, refuse);
    return { ok: false, refusals };
  }
  const asked: CheckContext = { draft, model, refuse };
  const prompt = promptOf(asked);
  const seconds = secondsOf(asked);
  const aspectRatio = choiceOf(asked, { option: 'aspect', offered: model.aspectRatios, usual: model.aspectRatios[0] });
  const resolution = choiceOf(asked, {
    option: 'resolution',
    offered: model.resolutions,
    usual: defaultResolution(model),
  });
  const media = { image: mediaOf(asked, 'image'), audio: mediaOf(asked, 'audio'), video: mediaOf(asked, 'video') };
  if (prompt === undefined || seconds === undefined || refusals.length > 0) return { ok: false, refusals };
  const request: VideoRequest = {
    model: model.name,
    prompt,
    seconds,
    ...(aspectRatio === undefined ? {} : { aspectRatio }),
    ...(resolution === undefined ? {} : { resolution }),
    media,
  };
  return { ok: true, request, model };
}

/** Validates an earlier request against the current catalog; returns `request` unchanged. */
export function checkAgain(catalog: Catalog, request: VideoRequest): Checked {
  const { model, prompt, seconds, aspectRatio, resolution, media } = request;
  const checked = checkRequest(catalog, { model, prompt, seconds, aspect: aspectRatio, resolution, ...media });
  return checked.ok ? { ...checked, request } : checked;
}

/** Records a refusal; returns undefined, so that a check can return its result. */
type Refuse = (refusal: Refusal) => undefined;

interface CheckContext {
  readonly draft: RequestDraft;
  readonly model: Model;
  readonly refuse: Refuse;
}

function modelOf(catalog: Catalog, draft: RequestDraft, refuse: Refuse): Model | undefined {
  const given = blankAsMissing(draft.model);
  if (given === undefined) return catalog.defaultModel;
  const found = catalog.models.find(({ name }) => name === given);
  if (found !== undefined) return found;
  // Phones capitalise first letters: a different case is accepted where the match is unambiguous.
  const [alike, ...others] = catalog.models.filter(({ name }) => isAlike(name, given));
  if (alike !== undefined && others.length === 0) return alike;
  return refuse({ reason: 'unknown_model', option: 'model', given, allowed: catalog.models.map(({ name }) => name) });
}

/** Runs the checks that need no model, so that the user sees all problems at once. */
function checkWithoutModel(draft: RequestDraft, refuse: Refuse): void {
  if (blankAsMissing(draft.prompt) === undefined) refuse({ reason: 'missing', option: 'prompt' });
  numberOf(draft, refuse);
  for (const kind of ['image', 'audio', 'video'] as const) addressesOf(draft, kind, refuse);
}

function promptOf({ draft, model, refuse }: CheckContext): string | undefined {
  const prompt = blankAsMissing(draft.prompt);
  if (prompt === undefined) return refuse({ reason: 'missing', option: 'prompt' });
  const given = Array.from(prompt).length;
  const max = Math.min(model.promptMaxLength, MAX_PROMPT_LENGTH);
  if (given > max) return refuse({ reason: 'too_long', option: 'prompt', model: model.name, given, max });
  return prompt;
}

function secondsOf({ draft, model, refuse }: CheckContext): number | undefined {
  const number = numberOf(draft, refuse);
  if (number === undefined) return undefined;
  if (number === 'not given') return defaultSeconds(model);
  if (offersSeconds(model, number.value)) return number.value;
  const allowed = secondsInWords(model);
  return refuse({ reason: 'not_offered', option: 'seconds', model: model.name, given: number.given, allowed });
}

function numberOf(draft: RequestDraft, refuse: Refuse): { value: number; given: string } | 'not given' | undefined {
  const given = blankAsMissing(draft.seconds?.toString());
  if (given === undefined) return 'not given';
  // Users write "6s" as well as "6".
  const digits = /^([+-]?\d+(?:\.\d+)?)\s*s?$/i.exec(given)?.[1];
  if (digits === undefined) return refuse({ reason: 'not_a_number', option: 'seconds', given });
  return { value: Number(digits), given };
}

interface Choice<T extends string> {
  readonly option: 'aspect' | 'resolution';
  readonly offered: readonly T[];
  /** Value where none was given; undefined where the model does not take the option. */
  readonly usual: T | undefined;
}

function choiceOf<T extends string>({ draft, model, refuse }: CheckContext, choice: Choice<T>): T | undefined {
  const { option, offered, usual } = choice;
  const given = blankAsMissing(draft[option]);
  if (given === undefined) return usual;
  const found = offered.find((value) => isAlike(value, given));
  return found ?? refuse({ reason: 'not_offered', option, model: model.name, given, allowed: offered });
}

function mediaOf({ draft, model, refuse }: CheckContext, option: MediaKind): readonly string[] {
  const addresses = addressesOf(draft, option, refuse);
  const given = addresses.length;
  const { min, max } = model.media[option];
  if (given < min || given > max) refuse({ reason: 'media_count', option, model: model.name, given, min, max });
  return addresses;
}

function addressesOf(draft: RequestDraft, option: MediaKind, refuse: Refuse): readonly string[] {
  const addresses = (draft[option] ?? []).flatMap(splitAddresses);
  for (const given of addresses) {
    if (given.length > MAX_ADDRESS_LENGTH) {
      refuse({ reason: 'address_too_long', option, given: given.length, max: MAX_ADDRESS_LENGTH });
    } else if (!isAddress(given)) refuse({ reason: 'not_an_address', option, given });
  }
  return addresses;
}

/** Returns whether a URL satisfies the specification's rule for reference media and parses without repairs. */
function isAddress(text: string): boolean {
  return /^https?:\/\/[^\s]+$/.test(text) && URL.canParse(text);
}

function blankAsMissing(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}

function isAlike(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
