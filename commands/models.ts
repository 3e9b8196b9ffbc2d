import type { ModelRecord } from '#src/chat/index.ts';
import { type Model, SETTINGS } from '#src/videos/index.ts';
import type { Caller, Reply } from './bot-port.ts';
import { type BotPorts, privately, refused, type Subcommand, teamOf } from './input/subcommand.ts';
import { mayNotCreateHere, withPolicy } from './policy/rules-here.ts';
import { count } from './sentences/format.ts';
import { mediaWords, offerWords, priceWords, promptWords, SETTING_WORDS } from './sentences/settings.ts';
import { pageButtons } from './ui/buttons.ts';
import { type Columns, type Line, layOut, small, table } from './ui/card.ts';

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
  run: (ports, caller) => showModels(ports, caller, { offset: 0 }),
  presses: { 'page:models': showModels },
};

/** Shows a page of what the caller may order here of the catalog, to the caller only. */
async function showModels(ports: BotPorts, caller: Caller, { offset }: { readonly offset: number }): Promise<Reply> {
  const refusal = await mayNotCreateHere(ports, caller);
  if (refusal !== null) return refused(refusal);
  const { models: all, defaultModel, policy } = (await withPolicy(ports, caller)).catalog();
  const wins = await ports.chat.comparisons.records.winsOf(teamOf(caller));
  const columns: Columns<Model> = [
    ['Model', (model) => modelName(model, model === defaultModel)],
    ['Price', priceWords],
    ...SETTINGS.map(
      (setting) => [SETTING_WORDS[setting.name].label, (model: Model) => offerWords(setting, model)] as const,
    ),
    ['Reference media', (model) => mediaWords(model).join(', ')],
    ['Prompt', (model) => `prompt: ${promptWords(model)}`],
    new Set(all.map(({ service }) => service)).size > 1 && ['Service', ({ service = '' }) => service],
    Object.keys(wins).length > 0 && ['Comparisons', ({ name }) => winsWords(wins[name])],
  ];
  const isNarrowed = policy !== undefined;
  const hasMore = all.length > offset + PAGE_LENGTH;
  return privately(
    layOut(
      [
        table(columns, all.slice(offset, offset + PAGE_LENGTH)),
        isNarrowed && small('Only what is allowed here. ', { code: '/video policy' }, ' shows the rules.'),
      ],
      { buttons: pageButtons({ page: { what: 'models', offset }, length: PAGE_LENGTH, hasMore }) },
    ),
  );
}

function winsWords(record: ModelRecord | undefined): string {
  return record === undefined ? '' : `won ${record.won} of ${count(record.of, 'comparison')}`;
}

function modelName({ title, name }: Model, isDefault: boolean): Line {
  return [{ untrusted: title }, ' (', { code: name }, isDefault ? ', default)' : ')'];
}
