import type { Command, OptionDeclaration } from '#commands/bot-port.ts';
import { declarations } from '#commands/registry.ts';
import { formatCount } from '#commands/sentences/format.ts';
import { table } from './generated.ts';

/** Returns the table of all commands, or of those for administrators alone. */
export function commandTable({ isAdministrative }: { readonly isAdministrative: boolean }): string {
  const some = declarations.filter((command) => (command.isAdministrative === true) === isAdministrative);
  return table(
    ['command', 'what it does'],
    some.map((command) => [`\`${usageOf(command)}\``, `${command.description} ([more](#${command.name}))`]),
  );
}

/** Returns an example of a command, and the table of its options. */
export function optionTable({ example, options }: Command): string {
  const hasDefaults = options.some(({ defaultWords }) => defaultWords !== undefined);
  const rows = options.map((option) => {
    const { name, alias, description, defaultWords = '' } = option;
    const names = alias === undefined ? `\`${name}\`` : `\`${name}\`, \`${alias}\``;
    return [names, description, valuesOf(option), ...(hasDefaults ? [defaultWords] : [])];
  });
  const heads = ['option', 'meaning', 'values', ...(hasDefaults ? ['default'] : [])];
  return [`Example: \`${example}\``, ...(rows.length === 0 ? [] : [table(heads, rows)])].join('\n\n');
}

/** Returns a command with its options, as it is typed. */
function usageOf({ name, options }: Command): string {
  const words = options.map((option) => {
    const word = option.repeated === true ? `${option.name}…` : option.name;
    return option.required === true ? word : `[${word}]`;
  });
  return ['/video', name, ...words].join(' ');
}

/** Names the values of kinds of options that have a closed meaning. */
const KINDS: Readonly<Record<OptionDeclaration['kind'], string>> = {
  text: '',
  integer: 'a whole number',
  flag: 'no value',
  person: 'a person',
  approver: 'a person, role or user group',
  channel: 'a channel',
  address: 'a link',
};

/** Describes what an option takes, as far as its declaration says it. */
function valuesOf({ kind, range, choices, min, max, maxLength, perLine, repeated }: OptionDeclaration): string {
  if (range !== undefined) return range;
  if (choices !== undefined) return choices.map(({ value }) => `\`${value}\``).join(', ');
  if (perLine === true) return 'a line each';
  if (repeated === true) return 'links or files';
  if (min !== undefined && max !== undefined) return `${min} to ${max}`;
  if (min !== undefined) return `from ${min}`;
  return kind === 'text' && maxLength !== undefined ? `up to ${formatCount(maxLength)} characters` : KINDS[kind];
}
