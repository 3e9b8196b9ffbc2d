import type { ModelRecord } from '#src/chat/index.ts';
import { type Model, SETTINGS } from '#src/videos/index.ts';
import { type Block, type Card, type CardButton, type Line, layOut } from '../../ui/card.ts';
import { count } from '../format.ts';
import { mediaWords, offerWords, priceWords, promptWords, SETTING_WORDS } from '../settings.ts';

interface ModelsShown {
  readonly models: readonly Model[];
  readonly defaultModel: Model;
  /** Whether a policy allows only a part of the catalog. */
  readonly isNarrowed: boolean;
  /** Comparisons that each model of the team won, by its name. Default: none. */
  readonly wins?: Readonly<Record<string, ModelRecord>>;
}

/** Shows a page of the catalog: billing, price, settings and reference media of each model. */
export function modelsCard(
  { models, defaultModel, isNarrowed, wins = {} }: ModelsShown,
  buttons: readonly CardButton[] = [],
): Card {
  const columns = [
    'Model',
    'Price',
    ...SETTINGS.map(({ name }) => SETTING_WORDS[name].label),
    'Reference media',
    'Prompt',
    ...(Object.keys(wins).length === 0 ? [] : ['Comparisons']),
  ];
  const rows = models.map((model) => [
    ...modelCells(model, model === defaultModel),
    ...(Object.keys(wins).length === 0 ? [] : [winsCell(wins[model.name])]),
  ]);
  const small: Block = {
    kind: 'small',
    line: ['Only what is allowed here. ', { code: '/video policy' }, ' shows the rules.'],
  };
  return layOut([{ kind: 'table', columns, rows }, ...(isNarrowed ? [small] : [])], { buttons });
}

function winsCell(record: ModelRecord | undefined): Line {
  return record === undefined ? [] : [`won ${record.won} of ${count(record.of, 'comparison')}`];
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
