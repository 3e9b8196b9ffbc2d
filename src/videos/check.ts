import { type Catalog, defaultResolution, defaultSeconds, type Model, offersSeconds, secondsInWords } from './model.ts';
import { splitAddresses } from './reference-addresses.ts';
import type { MediaKind, Refusal, RequestDraft, VideoRequest } from './request.ts';

/** Whatever the catalog says: what no chat lets somebody type is no prompt. In characters, as the catalog counts. */
const MAX_PROMPT_LENGTH = 20_000;
/** Signed addresses of the known storage services have up to half of this. */
const MAX_ADDRESS_LENGTH = 4_096;

/** A draft with its defaults filled in, or everything that is wrong with it. */
export type Checked =
  | { readonly ok: true; readonly request: VideoRequest; readonly model: Model }
  | { readonly ok: false; readonly refusals: readonly Refusal[] };

/**
 * Checks what a person typed against the catalog and fills in what they left out: the default model, its first length
 * and aspect ratio, 720p or its first resolution. Blank options count as not given.
 */
export function checkRequest(catalog: Catalog, draft: RequestDraft): Checked {
  const refusals: Refusal[] = [];
  const refuse = (refusal: Refusal): undefined => void refusals.push(refusal);
  const model = modelOf(catalog, draft, refuse);
  if (model === undefined) {
    checkWithoutModel(draft, refuse);
    return { ok: false, refusals };
  }
  const asked: Asked = { draft, model, refuse };
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

/** Checks a request that was made earlier against the catalog of now; `request` comes back as it was. */
export function checkAgain(catalog: Catalog, request: VideoRequest): Checked {
  const { model, prompt, seconds, aspectRatio, resolution, media } = request;
  const checked = checkRequest(catalog, { model, prompt, seconds, aspect: aspectRatio, resolution, ...media });
  return checked.ok ? { ...checked, request } : checked;
}

/** Notes a refusal; answers undefined, so that a check can end with it. */
type Refuse = (refusal: Refusal) => undefined;

interface Asked {
  readonly draft: RequestDraft;
  readonly model: Model;
  readonly refuse: Refuse;
}

function modelOf(catalog: Catalog, draft: RequestDraft, refuse: Refuse): Model | undefined {
  const given = blankAsMissing(draft.model);
  if (given === undefined) return catalog.defaultModel;
  const found = catalog.models.find(({ name }) => name === given);
  if (found !== undefined) return found;
  // Phones capitalise first letters; where that leaves no doubt it is no reason to refuse.
  const [alike, ...others] = catalog.models.filter(({ name }) => isAlike(name, given));
  if (alike !== undefined && others.length === 0) return alike;
  return refuse({ reason: 'unknown_model', option: 'model', given, allowed: catalog.models.map(({ name }) => name) });
}

/** What can be said without knowing the model, so that a person learns all of it at once. */
function checkWithoutModel(draft: RequestDraft, refuse: Refuse): void {
  if (blankAsMissing(draft.prompt) === undefined) refuse({ reason: 'missing', option: 'prompt' });
  numberOf(draft, refuse);
  for (const kind of ['image', 'audio', 'video'] as const) addressesOf(draft, kind, refuse);
}

function promptOf({ draft, model, refuse }: Asked): string | undefined {
  const prompt = blankAsMissing(draft.prompt);
  if (prompt === undefined) return refuse({ reason: 'missing', option: 'prompt' });
  const given = Array.from(prompt).length;
  const max = Math.min(model.promptMaxLength, MAX_PROMPT_LENGTH);
  if (given > max) return refuse({ reason: 'too_long', option: 'prompt', model: model.name, given, max });
  return prompt;
}

function secondsOf({ draft, model, refuse }: Asked): number | undefined {
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
  // People write "6s" as naturally as "6".
  const digits = /^([+-]?\d+(?:\.\d+)?)\s*s?$/i.exec(given)?.[1];
  if (digits === undefined) return refuse({ reason: 'not_a_number', option: 'seconds', given });
  return { value: Number(digits), given };
}

interface Choice<T extends string> {
  readonly option: 'aspect' | 'resolution';
  readonly offered: readonly T[];
  /** What holds where nothing was given. */
  readonly usual: T | undefined;
}

function choiceOf<T extends string>({ draft, model, refuse }: Asked, choice: Choice<T>): T | undefined {
  const { option, offered, usual } = choice;
  const given = blankAsMissing(draft[option]);
  if (given === undefined) return usual;
  const found = offered.find((value) => isAlike(value, given));
  return found ?? refuse({ reason: 'not_offered', option, model: model.name, given, allowed: offered });
}

function mediaOf({ draft, model, refuse }: Asked, option: MediaKind): readonly string[] {
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

/** The specification's own rule for reference media, and nothing that a URL parser would have to repair. */
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
