import type { Caller, Command, GivenOptions } from './bot-port.ts';
import { optionValue } from './input/options.ts';
import { privately, refused, type Subcommand } from './input/subcommand.ts';
import { parseText } from './input/text.ts';
import { commandHelpCard, helpCard } from './sentences/cards/help.ts';
import { unknownCommand } from './sentences/refusals.ts';

/** Creates `/video help`, which shows every command on one screen, or one of them. @param others all other commands. */
export function helpOn(others: readonly Command[]): Subcommand {
  const names = [...others.map(({ name }) => name), 'help'];
  const declaration: Command = {
    name: 'help',
    description: 'Shows how to use this, or one command',
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
    run: ({ catalog, steering }, { fields }, given) => {
      const subject = { commands, catalog: catalog(), steering, fields, exampleOf: exampleIn(fields, commands) };
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
  return ({ name, example }) => {
    if (fields === undefined) return example;
    const { given } = parseText(example, commands);
    return ['/video', name, ...optionsOf(given)].join(' ');
  };
}

function optionsOf(given: GivenOptions): readonly string[] {
  const order = (name: string): number => (name === 'prompt' ? 0 : 1);
  return Object.entries(given)
    .toSorted(([one], [other]) => order(one) - order(other))
    .map(([name, values]) => `${name}:${values[0] ?? ''}`);
}
