import type { Catalog } from '#src/videos/index.ts';
import type { Caller, Command, GivenOptions } from './bot-port.ts';
import { nearest } from './input/closest-match.ts';
import { optionValue } from './input/options.ts';
import { commandName, permittedCommands } from './input/permitted-commands.ts';
import { privately, refused, type Subcommand } from './input/subcommand.ts';
import { parseText } from './input/text.ts';
import { administratorsOnly } from './sentences/access.ts';
import { commandHelpCard, helpCard, nameOf } from './sentences/cards/help.ts';
import { unknownCommand } from './sentences/refusals.ts';

/** Creates `/video help`, which shows every command on one screen, or one of them. @param others all other commands. */
export function helpOn(others: readonly Command[]): Subcommand {
  const commands = [...others, declaration];
  return {
    declaration,
    run: async (ports, caller, given) => {
      const { catalog, steering } = ports;
      const { fields } = caller;
      const { commands: shown, refusal } = await permittedCommands(ports, caller, commands);
      const exampleOf = exampleIn(fields, commands, catalog());
      const subject = { commands: shown, catalog: catalog(), steering, fields, exampleOf, notice: refusal };
      const typed = optionValue(given, 'command');
      if (typed === undefined) return privately(helpCard(subject));
      const name = commandName(typed);
      const command = shown.find((one) => one.name === name);
      if (command !== undefined) return privately(commandHelpCard(subject, command));
      const hidden = commands.find((one) => one.name === name);
      if (hidden?.buys === true && refusal !== null) return refused(refusal);
      if (hidden !== undefined) return refused(administratorsOnly(caller.platform));
      const names = shown.map((one) => one.name);
      return refused(unknownCommand(name, names, nearest(name, names)));
    },
  };
}

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
      autocomplete: 'command',
    },
  ],
  visibility: 'private',
};

/** Formats a command's example for the platform: with flags, or with the platform's option fields. */
function exampleIn(
  fields: Caller['fields'],
  commands: readonly Command[],
  { models: [first, second = first] }: Catalog,
): (command: Command) => string {
  return (command) => {
    const example = command.example.replace('swift-1', first?.name ?? '').replace('epic-pro', second?.name ?? '');
    if (fields === undefined) return example;
    const { given } = parseText(example, commands);
    return [nameOf(command, fields), ...fieldsOf(command, given)].join(' ');
  };
}

function fieldsOf({ options }: Command, given: GivenOptions): readonly string[] {
  const order = (name: string): number => (name === 'prompt' ? 0 : 1);
  const isPerson = (name: string): boolean =>
    options.some((option) => option.name === name && option.kind === 'person');
  return Object.entries(given)
    .toSorted(([one], [other]) => order(one) - order(other))
    .flatMap(([name, [value = '']]) => {
      if (!isPerson(name)) return [`${name}:${value}`];
      // A picker has neither everyone, whom leaving it out means, nor a word for oneself.
      return value === 'everyone' ? [] : [`${name}:${value === 'me' ? '@you' : value}`];
    });
}
