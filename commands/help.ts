import type { Caller, Command, GivenOptions } from './bot-port.ts';
import { optionValue } from './input/options.ts';
import { commandFor, mayRun, privately, refused, type Subcommand } from './input/subcommand.ts';
import { parseText } from './input/text.ts';
import { mayNotCreateHere } from './policy/rules-here.ts';
import { administratorsOnly } from './sentences/access.ts';
import { commandHelpCard, helpCard, nameOf } from './sentences/cards/help.ts';
import { unknownCommand } from './sentences/refusals.ts';

/** Creates `/video help`, which shows every command on one screen, or one of them. @param others all other commands. */
export function helpOn(others: readonly Command[]): Subcommand {
  const declaration = declarationWith(others);
  const commands = [...others, declaration];
  return {
    declaration,
    run: async (ports, caller, given) => {
      const { catalog, steering } = ports;
      const { fields } = caller;
      const refusal = await mayNotCreateHere(ports, caller).catch(() => null);
      const runnable = others
        .filter((command) => mayRun(caller, command) && (refusal === null || command.buys !== true))
        .map((command) => commandFor(caller, command));
      const shown = [...runnable, declarationWith(runnable)];
      const exampleOf = exampleIn(fields, commands);
      const subject = { commands: shown, catalog: catalog(), steering, fields, exampleOf, notice: refusal };
      const name = optionValue(given, 'command')
        ?.replace(/^\/?(?:video\s+)?/iu, '')
        .toLowerCase();
      if (name === undefined) return privately(helpCard(subject));
      const command = shown.find((one) => one.name === name);
      if (command !== undefined) return privately(commandHelpCard(subject, command));
      const hidden = commands.find((one) => one.name === name);
      if (hidden?.buys === true && refusal !== null) return refused(refusal);
      const sentence =
        hidden !== undefined
          ? administratorsOnly(caller.platform)
          : unknownCommand(
              name,
              shown.map((one) => one.name),
            );
      return refused(sentence);
    },
  };
}

/** Declares the help on itself and on other commands. */
function declarationWith(others: readonly Command[]): Command {
  const names = [...others.map(({ name }) => name), 'help'];
  return {
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
