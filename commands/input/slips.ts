import { distance, nearest } from './closest-match.ts';

/** A command that somebody probably meant, and what it was typed with. */
export interface Slip {
  /** Name of the subcommand. */
  readonly command: string;
  /** What follows it, as typed. */
  readonly rest: string;
}

/** Most edits between a subcommand and what was typed for it. */
const MOST_EDITS = 2;

/** Words that people try for a subcommand, by the subcommand that does it, or comes closest. */
const VERBS: Readonly<Record<string, string>> = {
  ...words('cancel', 'stop abort kill halt undo end delete remove rm del erase'),
  ...words('retry', 'again redo repeat rerun'),
  ...words('list', 'history ls all clips log recent mine'),
  ...words('status', 'show view get info details state progress queue jobs pending running open'),
  ...words('usage', 'cost costs spend spending spent stats stat statistics bill billing balance credit credits money'),
  ...words('models', 'price prices pricing catalog'),
  ...words('notify', 'notifications subscribe unsubscribe watch follow mute'),
  ...words('create', 'make new generate render'),
  ...words('help', 'h ? settings setting config configure preferences setup options admin login logout about version'),
  ...words('help', 'commands manual man test hello hi hey ping thanks thx ok okay yes no'),
};

function words(command: string, verbs: string): Readonly<Record<string, string>> {
  return Object.fromEntries(verbs.split(' ').map((verb) => [verb, command]));
}

/**
 * Finds the subcommand that the first word of a text was probably meant to be: one within two edits, or a verb that
 * people try for it. A near miss of `create` counts whatever follows; any other only alone or before something like an id.
 */
export async function slipIn(
  text: string,
  commands: readonly string[],
  isId: (word: string) => boolean | Promise<boolean>,
): Promise<Slip | null> {
  const [, typed = '', rest = ''] = /^(\S+)\s*(.*)$/su.exec(text) ?? [];
  const [next = ''] = rest.split(/\s/u, 1);
  // Nobody types so long a command.
  const command = typed.length > 30 ? null : meant(typed, commands);
  if (command === null) return null;
  const isAlone = rest === '' || next.startsWith('-');
  const isCreate = command === 'create' && VERBS[plain(typed)] === undefined;
  return isAlone || isCreate || (await isId(next)) ? { command, rest } : null;
}

function meant(typed: string, commands: readonly string[]): string | null {
  const word = plain(typed);
  if (commands.includes(word)) return word;
  const verb = Object.hasOwn(VERBS, word) ? VERBS[word] : undefined;
  if (verb !== undefined) return commands.includes(verb) ? verb : 'help';
  const [best] = commands
    .map((command) => ({ command, edits: distance(word, command) }))
    .sort((one, other) => one.edits - other.edits);
  if (best !== undefined && best.edits <= MOST_EDITS && best.edits < word.length) return best.command;
  return commands.find((command) => word.startsWith(command) && word.length - command.length < 8) ?? null;
}

/** A word in lower case, without what stands around it: `/Status?` is `status`. */
function plain(word: string): string {
  return word.toLowerCase().replace(/^[/!.@]+(?=.)|(?<=.)[?!.,:;]+$/gu, '');
}

/** Whether a text has a letter of any script in it. */
export function hasLetter(text: string): boolean {
  return /\p{L}/u.test(text);
}

/** Any dash, as keyboards and phones write it, however often; the hyphens, which words hold, come first. */
const DASHES = /[-\u2010\u2011\u2012-\u2015\u2212\uFE58\uFE63\uFF0D]+/gu;
const HYPHEN = /^[-\u2010\u2011]$/u;
const WORD_AFTER = /(?<space>\s{0,3})(?<word>\p{L}{1,20})(?![\p{L}\p{N}])/uy;

/** An option that a text holds as words. */
export interface OptionInText {
  /** As it stands there, such as `-s` or `--seconds`. */
  readonly typed: string;
  readonly option: string;
}

/**
 * Finds a word with a dash in front that names one of the options: `-s`, `−−seconds`, `fox--seconds`, `-- seconds`, also
 * in brackets and quotes. A single hyphen within a word (`close-up-video`) is none.
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
