import type { Command } from './command.ts';
import { helpCard } from './sentences/help.ts';
import { privately, type Subcommand } from './subcommand.ts';

const declaration: Command = {
  name: 'help',
  description: 'Shows all of this',
  example: '/video help',
  options: [],
  visibility: 'private',
};

/** `/video help`: every command and option on one screen. @param others the commands before it. */
export function helpOn(others: readonly Command[]): Subcommand {
  return {
    declaration,
    run: ({ catalog, steering }) =>
      Promise.resolve(privately(helpCard({ commands: [...others, declaration], catalog: catalog(), steering }))),
  };
}
