import type { Command, GivenOptions, OptionDeclaration } from '../bot-port.ts';
import { beginning, either, quoted, shown } from '../sentences/format.ts';
import { nearest } from './closest-match.ts';

/** Parsed text of a `/video` command; the values are validated later. */
export interface ParsedText {
  /** Name of the command; `create` if the first word is not a command. `null` for an empty text. */
  readonly command: string | null;
  /** True if the command's name was typed; false for a prompt alone, which is also a `create`. */
  readonly isNamed: boolean;
  /** Values by flag, as typed, including flags that the command does not have. */
  readonly given: GivenOptions;
  /** Sentence for each parse error. */
  readonly problems: readonly string[];
}

/**
 * Parses a typed command: `/video` (optional), a command's name or else the prompt of a `create`, and flags anywhere
 * as `--seconds 6` or `--seconds=6`. Accepts the typographic dashes and quotes that phones insert (`—seconds`, “…”).
 * Double-quoted words, apostrophes and a lone ` -- ` are text; quotes around the whole text are removed. Links in
 * Slack's markup (`<https://…|label>`) become their address.
 */
export function parseText(text: string, commands: readonly Command[]): ParsedText {
  const typed = typedWords(text);
  if (typed === '') return { command: null, isNamed: false, given: {}, problems: [] };
  const { command, rest } = commandOf(typed, commands);
  const isNamed = rest !== typed;
  // The command itself reads its lines, each of which has its own flags.
  const lines = command.options.find(({ perLine }) => perLine === true);
  if (lines !== undefined)
    return {
      command: command.name,
      isNamed,
      given: rest.trim() === '' ? {} : { [lines.name]: [rest.trim()] },
      problems: [],
    };
  return { command: command.name, isNamed, ...readFlags(rest, command) };
}

/**
 * Maximum length of the parsed text, in UTF-16 units: the longest prompt and some options. A longer text is cut, which
 * still leaves a prompt that is refused as too long.
 */
const MAX_LENGTH = 24_000;

/** Returns the text after `/video`, with links as plain addresses. */
export function typedWords(text: string): string {
  return beginning(text, MAX_LENGTH)
    .replace(MARKED_LINK, '$1')
    .replace(/^\s*\/video(?=\s|$)/iu, '')
    .trim();
}

/** @see https://docs.slack.dev/messaging/formatting-message-text "Links" */
const MARKED_LINK = /<(https?:\/\/[^|<>\s]{1,4096})(?:\|[^<>]{0,500})?>/giu;

function commandOf(typed: string, commands: readonly Command[]): { readonly command: Command; readonly rest: string } {
  const [first = ''] = typed.split(/\s/u, 1);
  const named = commands.find(({ name }) => name === first.toLowerCase());
  if (named !== undefined) return { command: named, rest: typed.slice(first.length) };
  const create = commands.find(({ name }) => name === 'create');
  if (create === undefined) throw new TypeError('reading a command: there is no create among the commands');
  return { command: create, rest: typed };
}

/** `--name` or `—name` as a separate word, with the `=` that joins it to a value. */
const FLAG = /(?<dash>--|[—–―])(?<name>\p{L}[^\s=]*)(?<joint>=?)/uy;
/** Words in straight or typographic double quotes, with a closing quote that is not followed by a word. */
const QUOTED = /["“”„«]([^"“”„«»]*)["“”»](?![\p{L}\p{N}])/uy;
/** Value: quoted, a mention (names may contain spaces), or a word. */
const VALUE = /["“”„«]([^"“”„«»]*)["“”»](?=\s|$)|['‘’]([^'‘’]*)['‘’](?=\s|$)|(<[^<>]*>)(?=\s|$)|(\S+)/uy;
const WORD = /\S*/uy;
const SPACE = /\s*/uy;

/** Reads the flags of a text; its other words are the value of the positional option. */
export function readFlags(text: string, command: Command): Pick<ParsedText, 'given' | 'problems'> {
  const given: Record<string, string[]> = Object.create(null);
  const problems: string[] = [];
  const words: string[] = [];
  let textFrom = 0;
  let position = 0;
  while (position < text.length) {
    const flag = flagAt(text, position, command);
    if (flag === null) {
      position = endOfWord(text, position);
      continue;
    }
    words.push(text.slice(textFrom, position));
    const read = readValue(text, flag, command);
    if ('problem' in read) problems.push(read.problem);
    else add(given, flag.name, read.value);
    position = read.end;
    textFrom = position;
  }
  words.push(text.slice(textFrom));
  const free = unquoted(
    words
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .join(' '),
  );
  const positional = command.options.find((option) => option.positional);
  const bare = command.options.find(({ name }) => name === free.toLowerCase());
  if (free !== '' && positional === undefined && bare?.kind === 'flag') add(given, bare.name, '');
  else if (free !== '' && positional === undefined)
    problems.push(bare === undefined ? extraWords(command, free) : valueMissing(bare));
  else if (free !== '' && positional !== undefined) add(given, positional.name, free);
  return { given, problems };
}

function extraWords(command: Command, words: string): string {
  return `${command.name}: /video ${command.name} takes no ${quoted(words)}. For a clip of that, write: /video create ${command.name} ${shown(words)}`;
}

function add(given: Record<string, string[]>, name: string, value: string): void {
  const values = given[name];
  if (values === undefined) given[name] = [value];
  else values.push(value);
}

interface Flag {
  readonly name: string;
  /** Undefined if the command does not have it. */
  readonly option: OptionDeclaration | undefined;
  readonly isJoined: boolean;
  readonly end: number;
}

/** Parses the flag at `position`, the start of a word; `null` for text. */
function flagAt(text: string, position: number, { options }: Command): Flag | null {
  const found = match(FLAG, text, position);
  const { dash = '', name: typedName = '', joint = '' } = found?.groups ?? {};
  if (found === null) return null;
  const name = typedName.toLowerCase();
  const option = options.find((one) => one.name === name || one.alias === name);
  // Dashes are common in a text; a misspelt flag is still recognised, since it would be charged as part of the prompt.
  const isText =
    dash !== '--' &&
    option === undefined &&
    nearest(
      name,
      options.map((one) => one.name),
    ) === null;
  return isText
    ? null
    : { name: option?.name ?? name, option, isJoined: joint === '=', end: position + found[0].length };
}

type Read = { readonly end: number } & ({ readonly value: string } | { readonly problem: string });

function readValue(text: string, { option, isJoined, end }: Flag, command: Command): Read {
  // The next word may or may not be the value of an unknown flag; the flag is refused anyway.
  if (option === undefined) return { value: '', end: isJoined ? endOfWord(text, end) : end };
  if (option.kind === 'flag') {
    if (!isJoined) return { value: '', end };
    const { value, end: after } = valueAt(text, end);
    const { name } = option;
    const problem = `${name}: --${name} takes no value, but ${quoted(value)} was given. Write --${name} alone.`;
    return { problem, end: after };
  }
  const from = isJoined ? end : skipSpace(text, end);
  const isEmpty = isJoined && /^(?:\s|$)/u.test(text.slice(from, from + 1));
  const isNextFlag = !isJoined && match(FLAG, text, from) !== null;
  if (from >= text.length || isEmpty || isNextFlag) return { problem: valueMissing(option), end };
  if (option.isList === 'commas') return joinedAt(text, from, command);
  return option.isList === true ? listAt(text, from, command) : valueAt(text, from);
}

/** Returns the words up to the next flag. */
function listAt(text: string, from: number, command: Command): { readonly value: string; readonly end: number } {
  let end = from;
  while (end < text.length && flagAt(text, end, command) === null) end = endOfWord(text, end);
  return { value: unquoted(text.slice(from, end).trim()), end };
}

/** Returns the words that commas join: `swift-1, reel-2` of `swift-1, reel-2 a fox`. */
function joinedAt(text: string, from: number, command: Command): { readonly value: string; readonly end: number } {
  let { value, end } = valueAt(text, from);
  for (;;) {
    const next = skipSpace(text, end);
    const isJoined = value.endsWith(',') || text[next] === ',';
    if (!isJoined || next >= text.length || flagAt(text, next, command) !== null) return { value, end };
    const more = valueAt(text, next);
    value += more.value;
    end = more.end;
  }
}

function valueAt(text: string, position: number): { readonly value: string; readonly end: number } {
  const found = match(VALUE, text, position);
  const [whole = '', doubleQuoted, singleQuoted, mention, word = ''] = found ?? [];
  return { value: (doubleQuoted ?? singleQuoted ?? mention ?? word).trim(), end: position + whole.length };
}

/** Returns the start of the next word; words in double quotes count as one. */
function endOfWord(text: string, position: number): number {
  const quoted = match(QUOTED, text, position);
  if (quoted !== null) return skipSpace(text, position + quoted[0].length);
  return skipSpace(text, position + (match(WORD, text, position)?.[0].length ?? 0));
}

function skipSpace(text: string, position: number): number {
  return position + (match(SPACE, text, position)?.[0].length ?? 0);
}

/** Removes the quotes around a text that is quoted as a whole. */
function unquoted(text: string): string {
  const found = match(QUOTED, text, 0);
  return found !== null && found[0].length === text.length ? (found[1] ?? '').trim() : text;
}

/** Matches a sticky expression at exactly `position`. */
function match(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}

/** Refuses a flag without its value: at the end, or followed by another flag. */
function valueMissing(option: OptionDeclaration): string {
  return `${option.name}: --${option.name} needs a value: ${takenWords(option)}`;
}

function takenWords(option: OptionDeclaration): string {
  if (option.choices !== undefined) return either(option.choices.map(({ value }) => value));
  switch (option.kind) {
    case 'address':
      return 'an address, such as https://example.com/fox.png';
    case 'person':
      return 'everyone, me, or @ and a name';
    case 'approver':
      return 'a person, a role or a user group, such as @ben';
    case 'channel':
      return 'a channel, such as #clips';
    case 'integer':
      return 'a whole number, such as 6';
    case 'text':
    case 'flag':
      return 'a value';
  }
}
