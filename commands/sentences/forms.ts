import { type Catalog, defaultResolution, defaultSeconds, type Model } from '#src/videos/model.ts';
import { shorten } from './format.ts';
import { secondsWords, withDefault } from './models.ts';

/** Discord takes no longer labels. @see https://discord.com/developers/docs/components/reference#text-input */
const LABEL_LENGTH = 45;

/** Titles (at most 45 characters) and buttons of the forms. */
export const FORM_WORDS = {
  create: { title: 'A new clip', submit: 'Make it' },
  edit: { title: 'Edit & retry', submit: 'Make it' },
  lookup: { title: 'Look it up', submit: 'Follow it', field: 'The task’s id in the service’s console' },
} as const;

/** The labels of an order's fields, with what the model offers where there is room. */
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
