import type { Setting } from '#src/videos/index.ts';
import type { Command, FieldChoice, FieldProblem, GivenOptions, OptionDeclaration } from '../bot-port.ts';
import { count, formatCount, quoted, shown } from '../sentences/format.ts';
import { notAChoice } from '../sentences/refusals.ts';
import { SETTING_WORDS } from '../sentences/settings.ts';
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
    if (values.length <= 1 || option.repeated) return [];
    const all = values.map((value) => quoted(value)).join(', ');
    return [`${name}: given ${values.length} times (${all}), but it can be given only once`];
  });
}

/** Refuses a flag or option that the command does not have; names it, the closest match and all options. */
function unknownOption(command: Command, given: string, nearest: string | null): string {
  const right = command.options.map(({ name }) => `--${name}`);
  const guess = nearest === null ? '' : `. Did you mean --${nearest}?`;
  const taken = right.length === 0 ? 'It takes no options.' : `Options: ${right.join(', ')}.`;
  const asText = command.options.some(({ positional }) => positional) ? ` To use it as text, put it in quotes.` : '';
  return `There is no --${shown(given)} in /video ${command.name}${guess === '' ? '. ' : `${guess} `}${taken}${asText}`;
}

/** Returns a sentence for each option that is required and missing, too long, or none of its choices. */
export function checkValues(command: Command, given: GivenOptions): readonly FieldProblem[] {
  const sentencesOn = (option: OptionDeclaration): readonly string[] => {
    const value = optionValue(given, option.name);
    if (value === undefined) return option.required ? [missingOption(command, option)] : [];
    return [...tooLong(option, value), ...notChosen(option, value)];
  };
  return command.options.flatMap((option) =>
    sentencesOn(option).map((sentence): FieldProblem => ({ field: option.name, sentence })),
  );
}

function missingOption(command: Command, option: OptionDeclaration): string {
  return option.name === 'id'
    ? `Which clip? For example ${command.example}. /video list shows the IDs.`
    : `${option.name} is missing, for example ${command.example}`;
}

/** A positional option may hold the words of others: its command reads them. */
function notChosen({ name, choices, positional = false }: OptionDeclaration, value: string): readonly string[] {
  if (choices === undefined || positional) return [];
  const values = choices.map((choice) => choice.value);
  return values.includes(value.toLowerCase()) ? [] : [`${name}: ${notAChoice(value, values)}`];
}

/** Returns values as choices that are labelled as they are. */
export function asChoices(values: readonly string[]): readonly FieldChoice[] {
  return values.map((value) => ({ value, label: value }));
}

/** Returns the option for a setting of clips. */
export function clipOption({ name, kind, min }: Setting): OptionDeclaration {
  return {
    name,
    description: SETTING_WORDS[name].description,
    kind: kind === 'number' ? 'integer' : 'text',
    ...(min === undefined ? {} : { min }),
    autocomplete: 'setting',
  };
}

/** Returns whether any option was given. @param except one that selects what is shown. */
export function isAnyGiven(given: GivenOptions, except?: string): boolean {
  return Object.entries(given).some(([name, values]) => name !== except && values.length > 0);
}

/** Value of an option as it was typed, or a sentence on what is wrong with it. */
export type Read<Value> = { readonly value: Value } | { readonly problem: string };

/** Options that each set one thing, by the names of these. */
interface OptionsToRead<Name, Value> {
  readonly names: readonly Name[];
  /** Names whose values the option `off` removes. Default: all. */
  readonly removable?: readonly Name[];
  readonly optionOf: (name: Name) => string;
  readonly valueOfOff: (name: Name) => Value;
  readonly read: (name: Name, typed: string) => Read<Value> | Promise<Read<Value>>;
}

/** Reads options; everything that is wrong at once. */
export async function readOptions<Name extends string, Value>(
  given: GivenOptions,
  { names, removable = names, optionOf, valueOfOff, read }: OptionsToRead<Name, Value>,
): Promise<{ readonly values: ReadonlyMap<Name, Value>; readonly problems: readonly FieldProblem[] }> {
  const values = new Map<Name, Value>();
  const problems: FieldProblem[] = [];
  const off = switchedOff(given, removable.map(optionOf));
  for (const name of names) {
    const field = optionOf(name);
    const typed = optionValue(given, field);
    if (off.removed.includes(field)) values.set(name, valueOfOff(name));
    if (typed === undefined) continue;
    const one = await read(name, typed);
    if ('problem' in one) problems.push({ field, sentence: one.problem });
    else values.set(name, one.value);
  }
  return { values, problems: [...problems, ...off.problems] };
}

/** Returns the values that the option `off` removes, by name or `all`; a problem for one that is given as well. */
export function switchedOff<Name extends string>(
  given: GivenOptions,
  names: readonly Name[],
): { readonly removed: readonly Name[]; readonly problems: readonly FieldProblem[] } {
  const off = optionValue(given, 'off')?.toLowerCase();
  const removed = names.filter((name) => off === name || off === 'all');
  const both = removed.find((name) => optionValue(given, name) !== undefined);
  if (both === undefined) return { removed, problems: [] };
  const sentence = `${both}: given a value and switched off at once. Leave one of them out.`;
  return { removed, problems: [{ field: both, sentence }] };
}

function tooLong({ name, maxLength = Number.POSITIVE_INFINITY }: OptionDeclaration, value: string): readonly string[] {
  const length = Array.from(value).length;
  if (length <= maxLength) return [];
  return [`${name}: it has ${count(length, 'character')}; the limit is ${formatCount(maxLength)}`];
}

/** Runs of any dashes that keyboards and phones produce; the hyphens, which also occur within words, come first. */
const DASHES = /[-\u2010\u2011\u2012-\u2015\u2212\uFE58\uFE63\uFF0D]+/gu;
const HYPHEN = /^[-\u2010\u2011]$/u;
const WORD_AFTER = /(?<space>\s{0,3})(?<word>\p{L}{1,20})(?![\p{L}\p{N}])/uy;

interface OptionInText {
  /** Option as typed, such as `-s` or `--seconds`. */
  readonly typed: string;
  readonly option: string;
}

/**
 * Finds a word after a dash that names one of the options: `-s`, `−−seconds`, `fox--seconds`, `-- seconds`, also in
 * brackets and quotes. Ignores a single hyphen within a word (`close-up-video`).
 */
export function optionIn(text: string, options: readonly string[]): OptionInText | null {
  for (const { 0: dashes, index } of text.matchAll(DASHES)) {
    const end = index + dashes.length;
    WORD_AFTER.lastIndex = end;
    const { space = '', word = '' } = WORD_AFTER.exec(text)?.groups ?? {};
    if (word === '') continue;
    const option = optionMeant(word.toLowerCase(), options, {
      isHyphen: HYPHEN.test(dashes),
      isSpaced: space !== '',
      isInWord: index > 0 && /[\p{L}\p{N}]/u.test(text.slice(index - 1, index)),
    });
    if (option !== null) return { typed: `${dashes}${space}${word}`, option };
  }
  return null;
}

interface DashedWord {
  readonly isHyphen: boolean;
  readonly isSpaced: boolean;
  readonly isInWord: boolean;
}

function optionMeant(
  word: string,
  options: readonly string[],
  { isHyphen, isSpaced, isInWord }: DashedWord,
): string | null {
  if (isHyphen && (isSpaced || isInWord)) return null;
  if (options.includes(word)) return word;
  if (isSpaced) return null;
  if (word.length === 1) return isInWord ? null : (options.find((option) => option.startsWith(word)) ?? null);
  return isHyphen ? null : nearest(word, options);
}

/** Converts the values of a form to options, leaving out empty fields. */
export function filledIn(values: Readonly<Record<string, string>>): GivenOptions {
  const given = Object.entries(values).filter(([, value]) => value.trim() !== '');
  return Object.fromEntries(given.map(([name, value]) => [name, [value]]));
}

/** Merges the values of sets of options, such as links and files. The names may be untrusted. */
export function mergeOptions(...parts: readonly GivenOptions[]): GivenOptions {
  const merged = new Map<string, readonly string[]>();
  for (const [name, values] of parts.flatMap((part) => Object.entries(part)))
    merged.set(name, [...(merged.get(name) ?? []), ...values]);
  return Object.fromEntries(merged);
}
