import type { Caller, Reply } from './bot-port.ts';
import { type BotPorts, privately, refused, type Subcommand, teamOf } from './input/subcommand.ts';
import { mayNotCreateHere, withPolicy } from './policy/rules-here.ts';
import { modelsCard } from './sentences/cards/models.ts';
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
