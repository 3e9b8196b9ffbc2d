import { Big } from 'big.js';
import { z } from 'zod';
import { ASPECT_RATIOS, RESOLUTIONS, type Resolution } from '../../request.ts';
import type { ListedModel, ModelList, ModelListing } from '../dialect.ts';

/**
 * OpenRouter's list of video models. It answers without a key, too.
 *
 * @see https://github.com/OpenRouterTeam/docs (22 August 2026): `openapi/openapi.yaml` (`VideoModel`),
 *   `guides/overview/multimodal/video-generation.mdx` (`curl` without a key)
 * @see npm @openrouter/sdk 1.3.19, `models/videomodel.d.ts`
 */
export const MODEL_LIST: ModelList = { path: '/v1/videos/models', decode };

const texts = z.array(z.string()).optional().catch(undefined);

const modelSchema = z.object({
  id: z.string().regex(/^[\x21-\x7e]{1,100}$/u),
  name: z.string().optional().catch(undefined),
  supported_durations: z.array(z.number()).optional().catch(undefined),
  supported_resolutions: texts,
  supported_aspect_ratios: texts,
  supported_frame_images: texts,
  generate_audio: z.boolean().optional().catch(undefined),
  /** Names are free text. */
  pricing_skus: z.record(z.string(), z.string()).catch({}),
});
type Entry = z.output<typeof modelSchema>;

type Mode = 'text' | 'image';

/** Price of a second, in dollars, and the clips that it is for. What is absent does not matter. */
interface Price {
  readonly perSecond: Big;
  readonly mode?: Mode;
  readonly sound?: boolean;
  readonly resolution?: string;
}

/** The clips of one entry of the catalog. */
interface Variant {
  readonly mode: Mode;
  readonly sound: boolean | undefined;
  readonly resolutions: readonly Resolution[];
  readonly perSecond: Big;
}

/**
 * Names of prices of a second of the clip. Those in cents are in the live list, and so are `duration_seconds…`;
 * `per-video-second…` is in the guide alone.
 * @see `GET https://openrouter.ai/api/v1/videos/models` of 9 October 2026
 */
const PER_SECOND = [
  /^(?:(?<mode>text|image)_to_video_)?duration_seconds(?:_(?<sound>with|without)_audio)?(?:_(?<resolution>\d+p|\dk))?$/u,
  /^(?<cents>cents)_per_(?:second_output|video_output_second)(?:_(?<resolution>\d+p|\dk))?$/u,
  /^per-video-second(?:-(?<resolution>\d+p|\dk))?$/u,
];
/** Names of prices of what is never ordered: continuing an earlier clip. */
const NEVER_ORDERED = /^cents_per_second_video_continuation(?:_|$)/u;
/** Names of prices that come with images, or instead of the others where there are images. */
const WITH_IMAGES = /^(?:cents_per_image_input|reference_images|reference_duration_seconds(?:_\w+)?)$/u;
const PER_TOKEN = /^video_tokens(?:_|$)/u;

const NOT_LISTED =
  'Not in the list: how many images, audio and video files a model takes as references, and how long a prompt may be.';

/** Notes by reason, each with the models that it is about. */
class Notes {
  readonly #about = new Map<string, Set<string>>();

  add(reason: string, what: string): void {
    this.#about.set(reason, (this.#about.get(reason) ?? new Set()).add(what));
  }

  lines(): readonly string[] {
    return [...this.#about].map(([reason, about]) => `${reason}: ${[...about].join(', ')}.`);
  }
}

function decode(answer: unknown): ModelListing | null {
  const { data: list } = z.object({ data: z.array(z.unknown()) }).safeParse(answer);
  if (list === undefined) return null;
  const notes = new Notes();
  const unread: string[] = [];
  const models = list.data.flatMap((given, index) => {
    const { data: entry } = modelSchema.safeParse(given);
    if (entry === undefined) {
      notes.add('Left out, since they have no usable id', `entry ${index + 1}`);
      return [];
    }
    const found = modelsOf(entry, notes);
    if (found.length === 0) unread.push(entry.id);
    return found;
  });
  return { models, unread, notes: [...notes.lines(), NOT_LISTED] };
}

function modelsOf(entry: Entry, notes: Notes): readonly ListedModel[] {
  const leaveOut = (reason: string): readonly [] => {
    notes.add(`Left out, since ${reason}`, entry.id);
    return [];
  };
  const { id, pricing_skus: skus, supported_resolutions: listed = [], supported_aspect_ratios: ratios = [] } = entry;
  const seconds = lengthsOf(entry);
  if (seconds === null) return leaveOut('the list gives no lengths, as for editors and upscalers');
  const names = Object.keys(skus);
  if (names.some((name) => PER_TOKEN.test(name))) return leaveOut('they are priced by tokens');
  const prices = names.map((name) => [name, priceNamed(name, skus[name] ?? '')] as const);
  const unknown = prices.filter(([name, price]) => price === null && !isKnown(name)).map(([name]) => name);
  if (unknown.length > 0) return leaveOut(`it is unknown what the price is for (${unknown.join(', ')})`);
  const resolutions = RESOLUTIONS.filter((one) => listed.includes(one));
  if (listed.length > 0 && resolutions.length === 0)
    return leaveOut(`they have none of the resolutions ${RESOLUTIONS.join(', ')}`);
  const known = prices.flatMap(([, price]) => price ?? []);
  const frames = names.some((name) => WITH_IMAGES.test(name)) ? 0 : framesOf(entry);
  const variants = variantsOf({ prices: known, resolutions, frames, hasSound: entry.generate_audio === true });
  if (variants.length === 0) return leaveOut('the list gives no price');
  if (frames < framesOf(entry)) notes.add('Without images, which have a price of their own', id);
  const priced = variants.flatMap((variant) => variant.resolutions);
  for (const one of resolutions.filter((resolution) => !priced.includes(resolution)))
    notes.add('Without a resolution of which the list gives no price', `${id} (${one})`);
  const beyond = [
    ...listed.filter((one) => !resolutions.some((known) => known === one)),
    ...ratios.filter((one) => !ASPECT_RATIOS.some((known) => known === one)),
  ];
  for (const one of beyond) notes.add('Left out, since a catalog has no such value', one);
  return variants.map((variant) => modelOf(entry, { ...variant, seconds, frames, all: variants }));
}

interface ModelParts extends Variant {
  readonly seconds: ListedModel['seconds'];
  /** Most images. */
  readonly frames: number;
  readonly all: readonly Variant[];
}

/**
 * Returns the entry of a variant. Its name is the part of the id behind the vendor, and what its price depends on:
 * the resolution, where it is another than that of 720p, `silent`, and `image`.
 */
function modelOf(entry: Entry, { mode, sound, resolutions, perSecond, seconds, frames, all }: ModelParts): ListedModel {
  const usual = usualOf(all.flatMap((variant) => variant.resolutions));
  const own = resolutions.includes(usual ?? '480p') ? undefined : resolutions[0];
  const hasModes = all.some((variant) => variant.mode !== mode);
  const image = hasModes ? (mode === 'image' ? { min: 1, max: frames } : { min: 0, max: 0 }) : { min: 0, max: frames };
  const isSilent = sound === false;
  const isFromImage = hasModes && mode === 'image';
  const { id, name = id, supported_aspect_ratios: ratios = [] } = entry;
  const short = (id.split('/').at(-1) ?? id).toLowerCase().replace(/[^a-z0-9.]+/gu, '-');
  // OpenRouter puts the vendor before the name: "Google: Veo 3.1".
  const title = name.replace(/^[^:]*: /u, '').replace(/\p{C}+/gu, ' ');
  const none = { min: 0, max: 0 };
  return {
    name: [short, own, isSilent && 'silent', isFromImage && 'image'].filter(Boolean).join('-'),
    id,
    title: [title.slice(0, 60).toWellFormed(), own, isSilent && 'no sound', isFromImage && 'from an image']
      .filter(Boolean)
      .join(', '),
    billing: 'per_second',
    price: decimal(perSecond),
    currency: 'USD',
    seconds,
    aspectRatios: ASPECT_RATIOS.filter((ratio) => ratios.includes(ratio)),
    resolutions,
    media: { image, audio: none, video: none },
    ...(sound === undefined ? {} : { sound }),
  };
}

/** Returns the resolution of an order that names none. */
function usualOf(resolutions: readonly Resolution[]): Resolution | undefined {
  return resolutions.includes('720p') ? '720p' : resolutions[0];
}

/** Returns a price as a decimal string with two to six decimals; rounded up, since the ledger counts by it. */
function decimal(price: Big): string {
  const rounded = price.round(6, Big.roundUp);
  const exact = rounded.toFixed();
  return (exact.split('.')[1]?.length ?? 0) < 2 ? rounded.toFixed(2) : exact;
}

function framesOf({ supported_frame_images: frames = [] }: Entry): number {
  if (!frames.includes('first_frame')) return 0;
  return frames.includes('last_frame') ? 2 : 1;
}

function lengthsOf({ supported_durations: given = [] }: Entry): ListedModel['seconds'] | null {
  const seconds = [...new Set(given)]
    .filter((one) => Number.isInteger(one) && one >= 1 && one <= 3600)
    .toSorted((one, other) => one - other);
  const [min, max] = [seconds[0], seconds.at(-1)];
  if (min === undefined || max === undefined) return null;
  return seconds.length > 3 && max - min === seconds.length - 1 ? { min, max, step: 1 } : seconds;
}

function isKnown(name: string): boolean {
  return NEVER_ORDERED.test(name) || WITH_IMAGES.test(name);
}

function priceNamed(name: string, value: string): Price | null {
  if (!/^\d{1,6}(?:\.\d{1,12})?$/u.test(value)) return null;
  const groups = PER_SECOND.map((pattern) => pattern.exec(name)?.groups).find((found) => found !== undefined);
  if (groups === undefined) return null;
  const { cents, mode, sound, resolution } = groups;
  return {
    perSecond: cents === undefined ? new Big(value) : new Big(value).div(100),
    ...(mode === undefined ? {} : { mode: mode === 'image' ? 'image' : 'text' }),
    ...(sound === undefined ? {} : { sound: sound === 'with' }),
    ...(resolution === undefined ? {} : { resolution }),
  };
}

interface Priced {
  readonly prices: readonly Price[];
  readonly resolutions: readonly Resolution[];
  readonly frames: number;
  readonly hasSound: boolean;
}

/** Returns a variant for each price that clips can have, by image, sound and resolution. */
function variantsOf({ prices, resolutions, frames, hasSound }: Priced): readonly Variant[] {
  const of = (mode: Mode, sound: boolean | undefined): readonly Variant[] => {
    const perSecond = (resolution: Resolution | undefined) => priceOf(prices, { mode, sound, resolution });
    if (resolutions.length === 0) {
      const price = perSecond(undefined);
      return price === null ? [] : [{ mode, sound, resolutions: [], perSecond: price }];
    }
    const groups = Map.groupBy(resolutions, (resolution) => perSecond(resolution)?.toFixed() ?? null);
    return [...groups].flatMap(([price, some]) =>
      price === null ? [] : [{ mode, sound, resolutions: some, perSecond: new Big(price) }],
    );
  };
  const withSound = (mode: Mode): readonly Variant[] => {
    if (!hasSound) return of(mode, undefined);
    const [loud, silent] = [of(mode, true), of(mode, false)];
    return isSame(loud, silent) ? loud : [...loud, ...silent];
  };
  const text = withSound('text');
  const image = frames === 0 ? [] : withSound('image');
  const all = image.length === 0 || isSame(text, image) ? text : [...text, ...image];
  return all.toSorted((one, other) => rankOf(one, all) - rankOf(other, all));
}

/** Puts the variant of 720p with sound first: the first model of a catalog is its default. */
function rankOf({ sound, mode, resolutions }: Variant, all: readonly Variant[]): number {
  const isUsual = resolutions.includes(usualOf(all.flatMap((variant) => variant.resolutions)) ?? '480p');
  return (mode === 'image' ? 4 : 0) + (sound === false ? 2 : 0) + (isUsual ? 0 : 1);
}

/** Returns whether the clips of two lists cost the same. */
function isSame(one: readonly Variant[], other: readonly Variant[]): boolean {
  const pricesOf = (variants: readonly Variant[]) =>
    JSON.stringify(variants.map(({ resolutions, perSecond }) => [resolutions, perSecond.toFixed()]));
  return pricesOf(one) === pricesOf(other);
}

/**
 * Returns the price of a second of certain clips: the one that says most about them; of several of which none says all that
 * another one does, the highest.
 * @returns null where there is none
 */
function priceOf(
  prices: readonly Price[],
  { mode, sound, resolution }: Pick<Variant, 'mode' | 'sound'> & { readonly resolution: Resolution | undefined },
): Big | null {
  const matching = prices.filter(
    (price) =>
      (price.mode === undefined || price.mode === mode) &&
      // Where sound cannot be chosen, either may be billed.
      (price.sound === undefined || sound === undefined || price.sound === sound) &&
      (price.resolution === undefined || price.resolution === resolution),
  );
  const saidBy = ({ perSecond: _price, ...said }: Price) => Object.keys(said);
  const most = matching.filter((price) => {
    const said = saidBy(price);
    return !matching.some((other) => {
      const more = saidBy(other);
      return more.length > said.length && said.every((one) => more.includes(one));
    });
  });
  return most.map(({ perSecond }) => perSecond).reduce<Big | null>((high, one) => (high?.gte(one) ? high : one), null);
}
