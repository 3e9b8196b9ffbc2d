import type { Caller, Command, GivenOptions } from './bot-port.ts';
import { optionValue } from './input/options.ts';
import { mayRun, privately, refused, type Subcommand } from './input/subcommand.ts';
import { parseText } from './input/text.ts';
import { commandHelpCard, helpCard, nameOf } from './sentences/cards/help.ts';
import { unknownCommand } from './sentences/refusals.ts';

/** Creates `/video help`, which shows every command on one screen, or one of them. @param others all other commands. */
export function helpOn(others: readonly Command[]): Subcommand {
  const names = [...others.map(({ name }) => name), 'help'];
  const declaration: Command = {
    name: 'help',
    description: 'Explains all, or one command',
    example: '/video help notify',
    options: [
      {
        name: 'command',
        description: 'A command, such as notify',
        kind: 'text',
        positional: true,
        defaultWords: 'all of them',
        choices: names.map((name) => ({ value: name, label: name })),
      },
    ],
    visibility: 'private',
  };
  const commands = [...others, declaration];
  return {
    declaration,
    run: ({ catalog, steering }, caller, given) => {
      const { fields } = caller;
      const shown = commands.filter((command) => mayRun(caller, command));
      const exampleOf = exampleIn(fields, commands);
      const subject = { commands: shown, catalog: catalog(), steering, fields, exampleOf };
      const name = optionValue(given, 'command')
        ?.replace(/^\/?(?:video\s+)?/iu, '')
        .toLowerCase();
      if (name === undefined) return Promise.resolve(privately(helpCard(subject)));
      const command = commands.find((one) => one.name === name);
      return Promise.resolve(
        command === undefined ? refused(unknownCommand(name, names)) : privately(commandHelpCard(subject, command)),
      );
    },
  };
}

/** Formats a command's example for the platform: with flags, or with the platform's option fields. */
function exampleIn(fields: Caller['fields'], commands: readonly Command[]): (command: Command) => string {
  return (command) => {
    if (fields === undefined) return command.example;
    const { given } = parseText(command.example, commands);
    return [nameOf(command, fields), ...optionsOf(given)].join(' ');
  };
}

function optionsOf(given: GivenOptions): readonly string[] {
  const order = (name: string): number => (name === 'prompt' ? 0 : 1);
  return Object.entries(given)
    .toSorted(([one], [other]) => order(one) - order(other))
    .map(([name, values]) => `${name}:${values[0] ?? ''}`);
}
