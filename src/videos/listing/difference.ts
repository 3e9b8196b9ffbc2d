import type { FileModel } from '../catalog.ts';
import { offerInWords } from '../model.ts';
import type { Change } from './merge.ts';

/** Returns a line for each difference, which says it in full: `+`, `-` and `~` for models that come, go and change. */
export function changeLines(changes: readonly Change[]): readonly string[] {
  return changes.map((change) => {
    const { model } = change;
    if (change.kind === 'gone')
      return `- ${model.name} (${model.id ?? model.name}): the service does not list it any more`;
    const values = FACTS.map((fact) => fact(model));
    if (change.kind === 'new') return `+ ${model.name} (${model.id}): ${values.join('; ')}`;
    const differences = FACTS.flatMap((fact, index) => {
      const [old, now] = [fact(change.before), values[index]];
      return old === now ? [] : [`${old} → ${now}`];
    });
    return `~ ${model.name}: ${differences.join('; ')}`;
  });
}

/** What a difference says of a model. */
const FACTS: readonly ((model: FileModel) => string)[] = [
  ({ price, currency, billing }) => `${price} ${currency} ${billing === 'per_call' ? 'a clip' : 'a second'}`,
  ({ seconds }) => `${offerInWords(seconds).join(', ')} s`,
  ({ aspectRatios }) => (aspectRatios.length === 0 ? 'no ratio' : aspectRatios.join(', ')),
  ({ resolutions }) => (resolutions.length === 0 ? 'no resolution' : resolutions.join(', ')),
  ({ media: { image } }) => {
    if (image.max === 0) return 'no image';
    const count = image.min === image.max ? `${image.max}` : `${image.min} to ${image.max}`;
    return `${count} ${image.max === 1 ? 'image' : 'images'}`;
  },
];
