import type { Reply } from './bot-port.ts';
import { type BotPorts, privately, type Subcommand } from './input/subcommand.ts';
import { modelsCard } from './sentences/cards/models.ts';
import { pageButtons } from './ui/buttons.ts';

/** Models per page. */
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
  run: (ports) => Promise.resolve(showModels(ports, 0)),
};

/** Shows a page of the catalog to the caller only. */
export function showModels({ catalog }: Pick<BotPorts, 'catalog'>, offset: number): Reply {
  const { models: all, defaultModel } = catalog();
  const buttons = pageButtons({
    page: { list: 'models', offset },
    length: PAGE_LENGTH,
    hasMore: all.length > offset + PAGE_LENGTH,
    labels: ['Previous', 'Next'],
  });
  return privately(modelsCard(all.slice(offset, offset + PAGE_LENGTH), defaultModel, buttons));
}
