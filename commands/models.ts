import type { ModelRecord } from '#src/chat/index.ts';
import { type Model, SETTINGS } from '#src/videos/index.ts';
import type { Caller, Reply } from './bot-port.ts';
import { type BotPorts, privately, refused, type Subcommand, teamOf } from './input/subcommand.ts';
import { mayNotCreateHere, withPolicy } from './policy/rules-here.ts';
import { count } from './sentences/format.ts';
import { mediaWords, offerWords, priceWords, promptWords, SETTING_WORDS } from './sentences/settings.ts';
import { type Block, type Card, type CardButton, type Line, layOut } from './ui/card.ts';
import { pageButtons } from './ui/page-buttons.ts';

const PAGE_LENGTH = 10;

/** `/video models`: the catalog, in pages. */
export const models: Subcommand = {
  declaration: {
    name: 'models',
    description: 'Shows the models: price, lengths, aspect ratios, reference media',
    example: '/video models',
    options: [],
    visibility: 'private',
  },
  run: (ports, caller) => showModels(ports, caller, 0),
};

/** Shows a page of what the caller may order here of the catalog, to the caller only. */
export async function showModels(ports: BotPorts, caller: Caller, offset: number): Promise<Reply> {
  const refusal = await mayNotCreateHere(ports, caller);
  if (refusal !== null) return refused(refusal);
  const { models: all, defaultModel, policy } = (await withPolicy(ports, caller)).catalog();
  const buttons = pageButtons({
    page: { list: 'models', offset },
    length: PAGE_LENGTH,
    hasMore: all.length > offset + PAGE_LENGTH,
    labels: ['Previous', 'Next'],
  });
  const wins = await ports.chat.comparisons.winsOf(teamOf(caller));
  const shown = all.slice(offset, offset + PAGE_LENGTH);
  return privately(modelsCard({ models: shown, defaultModel, wins, isNarrowed: policy !== undefined }, buttons));
}

interface ModelsShown {
  readonly models: readonly Model[];
  readonly defaultModel: Model;
  /** Whether a policy allows only a part of the catalog. */
  readonly isNarrowed: boolean;
  /** Comparisons that each model of the team won, by its name. Default: none. */
  readonly wins?: Readonly<Record<string, ModelRecord>>;
}

/** Shows a page of the catalog: billing, price, settings and reference media of each model. */
function modelsCard(
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
