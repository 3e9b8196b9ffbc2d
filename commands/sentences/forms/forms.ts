import { type Catalog, defaultResolution, defaultSeconds, type Model } from '#src/videos/model.ts';
import { secondsWords, withDefault } from '../cards/models.ts';
import { formatCount, shorten } from '../format.ts';

/** Discord's maximum length of a label. @see https://discord.com/developers/docs/components/reference#text-input */
const LABEL_LENGTH = 45;

/** Titles (at most 45 characters) and buttons of the forms. */
export const FORM_WORDS = {
  create: { title: 'New clip', submit: 'Create clip' },
  edit: { title: 'Edit & retry', submit: 'Create clip' },
  fix: { title: 'Fix it', submit: 'Create' },
  lookup: { title: 'Enter its ID', submit: 'Track it', field: 'The task’s ID in the service’s console' },
} as const;

/** Labels of the fields that take reference files (at most 45 characters). */
export const UPLOAD_LABELS = {
  image: 'Reference images',
  audio: 'Reference audio',
  video: 'Reference videos',
} as const;

/** Notes that a prompt was cut to fit into a form. @param most number of characters that fit. */
export function cutNote(most: number): string {
  return `Too long for a form: only the first ${formatCount(most)} characters are here, and only they would be sent.`;
}

/** Returns the labels of an order's fields, with the model's values as far as they fit. */
export function settingLabels(catalog: Catalog, model: Model) {
  return {
    prompt: 'Prompt',
    model: labelled('Model', catalog.models.map(({ name }) => name).join(', ')),
    seconds: labelled('Length', withDefault(secondsWords(model), `${defaultSeconds(model)} s`)),
    aspect: labelled('Aspect', withDefault(model.aspectRatios.join(', ') || 'none', model.aspectRatios[0])),
    resolution: labelled('Resolution', withDefault(model.resolutions.join(', ') || 'none', defaultResolution(model))),
  };
}

function labelled(name: string, range: string): string {
  return shorten(`${name}: ${range}`, LABEL_LENGTH);
}
