import { Big } from 'big.js';
import type { FileModel } from '../catalog.ts';
import type { ListedModel, ModelListing } from '../dialects/dialect.ts';
import { isAlike, listed, offerInWords } from '../model.ts';

/** Options of {@link mergeListing}. */
interface MergeOptions {
  /** Models of the file; none where there is no file. */
  readonly models: readonly FileModel[];
  readonly listing: ModelListing;
  /** Name of the service. */
  readonly service: string;
  /** Models of the file that name no service are of this one. */
  readonly isOnly: boolean;
  /** Whether models come that the file does not have. */
  readonly adds: boolean;
}

/**
 * Brings the models of a service up to date with its list. Models of other services stay as they are, as do those of which
 * the list gives no lengths or prices; of the others, their place and what the list does not say.
 * @returns the models of the new file, and a line for each difference: `+`, `-` and `~` for models that come, go and change
 */
export function mergeListing({ models, listing, service, isOnly, adds }: MergeOptions): {
  readonly models: readonly FileModel[];
  readonly differences: readonly string[];
} {
  const isOwn = (model: FileModel) => model.service === service || (model.service === undefined && isOnly);
  const found = new Map(models.filter(isOwn).map((model) => [model, offerFor(model, listing.models)]));
  const claims = [...found.values()];
  const differences: string[] = [];
  const kept = models.flatMap((model) => {
    if (!isOwn(model) || listing.unread.includes(idIn(model))) return [model];
    const offer = found.get(model);
    if (offer === undefined) {
      differences.push(`- ${model.name} (${idIn(model)}): the service does not list it any more`);
      return [];
    }
    const isShared = claims.filter((one) => one === offer).length > 1;
    const own = offer.resolutions.filter((one) => model.resolutions.includes(one));
    const updated = updatedBy(model, isShared ? { ...offer, resolutions: own } : offer);
    if (JSON.stringify(updated) === JSON.stringify(model)) return [model];
    differences.push(`~ ${model.name}: ${changesOf(model, updated)}`);
    return [updated];
  });
  const added: FileModel[] = [];
  for (const offer of adds ? listing.models.filter((one) => !claims.includes(one)) : []) {
    const model = entryOf(offer, service, [...models, ...added]);
    added.push(model);
    differences.push(
      `+ ${model.name} (${idIn(model)}): ${factsOf(model)
        .filter((fact) => fact !== '')
        .join('; ')}`,
    );
  }
  return { models: [...kept, ...added], differences };
}

function idIn({ name, id = name }: FileModel): string {
  return id;
}

/** Finds the listed model that an entry stands for, whose name a person may have changed. */
function offerFor(model: FileModel, offers: readonly ListedModel[]): ListedModel | undefined {
  const fits = offers.filter(
    ({ id, sound, resolutions }) =>
      id === idIn(model) &&
      (sound === undefined || model.sound === undefined || sound === model.sound) &&
      (resolutions.length === 0 ||
        model.resolutions.length === 0 ||
        resolutions.some((one) => model.resolutions.includes(one))),
  );
  const needsImage = model.media.image.min > 0;
  const usual = model.resolutions.find((one) => one === '720p') ?? model.resolutions[0];
  const closeness = ({ sound, media, resolutions }: ListedModel) =>
    // Where an entry does not say, the dearer clip is the one with sound.
    (sound === (model.sound ?? true) ? 4 : 0) +
    (media.image.min > 0 === needsImage ? 2 : 0) +
    (usual === undefined || resolutions.includes(usual) ? 1 : 0);
  return fits.toSorted((one, other) => closeness(other) - closeness(one))[0];
}

/** Returns an entry with what the list says; values that are merely written otherwise stay. */
function updatedBy(model: FileModel, offer: ListedModel): FileModel {
  const { billing, price, currency, seconds, aspectRatios, resolutions, media } = offer;
  const isReference = model.imageRole === 'reference';
  return {
    ...model,
    billing,
    price: new Big(price).eq(model.price) ? model.price : price,
    currency,
    seconds: isSame(listed(seconds) ?? [], listed(model.seconds) ?? []) ? model.seconds : seconds,
    aspectRatios: isSame(aspectRatios, model.aspectRatios) ? model.aspectRatios : aspectRatios,
    resolutions: isSame(resolutions, model.resolutions) ? model.resolutions : resolutions,
    // The list tells of the first and the last frame alone.
    media: isReference || isSame(media.image, model.media.image) ? model.media : { ...model.media, image: media.image },
  };
}

/** Returns whether two values are the same; lists, in any order. */
function isSame(one: object, other: object): boolean {
  const form = (value: object) =>
    Array.isArray(value)
      ? value.map(String).toSorted()
      : Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(form(one)) === JSON.stringify(form(other));
}

/** Returns a new entry, whose name begins with that of the service where another model has it. */
function entryOf(offer: ListedModel, service: string, others: readonly FileModel[]): FileModel {
  const isFree = (name: string) => !others.some((other) => isAlike(other.name, name));
  const { name: wanted, id, title, ...rest } = offer;
  const prefixed = isFree(wanted) ? wanted : `${service}-${wanted}`;
  let name = prefixed;
  for (let count = 2; !isFree(name); count += 1) name = `${prefixed}-${count}`;
  return { name, id, service, title, ...rest };
}

/** Returns what differs between two versions of an entry. */
function changesOf(before: FileModel, after: FileModel): string {
  const facts = factsOf(after);
  const changes = factsOf(before).flatMap((old, index) => (old === facts[index] ? [] : [`${old} → ${facts[index]}`]));
  return changes.join('; ');
}

/** Returns what people want to know of a model, always in the same order; an empty text where there is nothing to say. */
function factsOf({ price, currency, billing, seconds, aspectRatios, resolutions, media, sound }: FileModel): string[] {
  const { min, max } = media.image;
  const images = `${min === max ? max : `${min} to ${max}`} ${max === 1 ? 'image' : 'images'}`;
  return [
    `${price} ${currency} ${billing === 'per_call' ? 'a clip' : 'a second'}`,
    `${offerInWords(seconds).join(', ')} s`,
    aspectRatios.length === 0 ? 'no ratio' : aspectRatios.join(', '),
    resolutions.length === 0 ? 'no resolution' : resolutions.join(', '),
    max === 0 ? 'no image' : images,
    sound === undefined ? '' : sound ? 'sound' : 'no sound',
  ];
}
