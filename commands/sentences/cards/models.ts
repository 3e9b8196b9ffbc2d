import { type Model, SETTINGS } from '#src/videos/model.ts';
import { type Card, type CardButton, type Line, layOut } from '../../ui/card.ts';
import { mediaWords, offerWords, priceWords, promptWords, SETTING_WORDS } from '../settings.ts';

/** Shows a page of the catalog: billing, price, settings and reference media of each model. */
export function modelsCard(models: readonly Model[], defaultModel: Model, buttons: readonly CardButton[] = []): Card {
  const columns = [
    'Model',
    'Price',
    ...SETTINGS.map(({ name }) => SETTING_WORDS[name].label),
    'Reference media',
    'Prompt',
  ];
  const rows = models.map((model) => modelCells(model, model === defaultModel));
  return layOut([{ kind: 'table', columns, rows }], { buttons });
}

function modelCells(model: Model, isDefault: boolean): readonly Line[] {
  return [
    [{ untrusted: model.title }, ' (', { code: model.name }, isDefault ? ', default)' : ')'],
    ...[
      priceWords(model),
      ...SETTINGS.map((setting) => offerWords(setting, model)),
      mediaWords(model).join(', '),
      `prompt: ${promptWords(model)}`,
    ].map((words): Line => (words === '' ? [] : [words])),
  ];
}
