import type { Command, GivenOptions, OptionDeclaration } from '../bot-port.ts';
import { givenTwice, missingOption, unknownOption, valueTooLong } from '../sentences/refusals.ts';
import { nearest } from './closest-match.ts';

/** Returns the value of an option that may be given once; undefined if it was not given or is blank. */
export function optionValue(given: GivenOptions, name: string): string | undefined {
  const value = given[name]?.[0]?.trim();
  return value === '' ? undefined : value;
}

/** Returns true if a flag was given; an adapter may pass `true` or `false` as text. */
export function isSet(given: GivenOptions, name: string): boolean {
  const value = given[name]?.[0];
  return value !== undefined && value !== 'false';
}

/** Returns a sentence for each option that the command does not have, or that was given more often than allowed. */
export function checkShape(command: Command, given: GivenOptions): readonly string[] {
  const names = command.options.map(({ name }) => name);
  return Object.entries(given).flatMap(([name, values]) => {
    const option = command.options.find((one) => one.name === name);
    if (option === undefined) return [unknownOption(command, name, nearest(name, names))];
    return values.length > 1 && !option.repeated ? [givenTwice(option, values)] : [];
  });
}

/** Returns a sentence for each option that is required and missing, or too long. */
export function checkValues(command: Command, given: GivenOptions): readonly string[] {
  return command.options.flatMap((option) => {
    const value = optionValue(given, option.name);
    if (value === undefined) return option.required ? [missingOption(command, option)] : [];
    return tooLong(option, value);
  });
}

function tooLong(option: OptionDeclaration, value: string): readonly string[] {
  const length = Array.from(value).length;
  const { maxLength = Number.POSITIVE_INFINITY } = option;
  return length > maxLength ? [valueTooLong(option, length, maxLength)] : [];
}
