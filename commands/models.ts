import { modelsCard } from './sentences/models.ts';
import { privately, type Subcommand } from './subcommand.ts';

/** `/video models`: the catalog. */
export const models: Subcommand = {
  declaration: {
    name: 'models',
    description: 'Shows the models: price, lengths, shapes, what media each takes',
    example: '/video models',
    options: [],
    visibility: 'private',
  },
  run: (ports) => Promise.resolve(privately(modelsCard(ports.catalog()))),
};
