import { distance } from './closest-match.ts';

/** Command that was probably meant, with the rest of the text. */
export interface Slip {
  /** Name of the subcommand. */
  readonly command: string;
  /** Text after the command, as typed. */
  readonly rest: string;
}

/** Largest edit distance between a subcommand and a misspelling of it. */
const MAX_EDITS = 2;

/** Synonyms that users try, mapped to the subcommand that does it or comes closest. */
const VERBS: Readonly<Record<string, string>> = {
  ...words('cancel', 'stop abort kill halt undo end'),
  ...words('delete', 'remove rm del erase trash'),
  ...words('retry', 'again redo repeat rerun'),
  ...words('list', 'history ls all clips log recent mine'),
  ...words('status', 'show view get info details state progress queue jobs pending running open'),
  ...words('usage', 'cost costs spend spending spent stats stat statistics bill billing balance credit credits money'),
  ...words('models', 'price prices pricing catalog'),
  ...words('notify', 'notifications subscribe unsubscribe watch follow mute'),
  ...words('create', 'make new generate render'),
  ...words('settings', 'setting config configure preferences setup options'),
  ...words('policy', 'policies rules rule allowed forbidden restrictions'),
  ...words('pause', 'resume unpause freeze'),
  ...words('help', 'h ? admin login logout about version'),
  ...words('help', 'commands manual man test hello hi hey ping thanks thx ok okay yes no'),
};

function words(command: string, verbs: string): Readonly<Record<string, string>> {
  return Object.fromEntries(verbs.split(' ').map((verb) => [verb, command]));
}

/**
 * Finds the subcommand that the first word of a text was probably meant to be: one within two edits, or one with a
 * known synonym. A misspelling of `create` counts before any text; any other only alone or before a flag or an id.
 */
export async function slipIn(
  text: string,
  commands: readonly string[],
  isId: (word: string) => boolean | Promise<boolean>,
): Promise<Slip | null> {
  const [, typed = '', rest = ''] = /^(\S+)\s*(.*)$/su.exec(text) ?? [];
  const [next = ''] = rest.split(/\s/u, 1);
  // A longer word is not a mistyped command.
  const command = typed.length > 30 ? null : matchCommand(typed, commands);
  if (command === null) return null;
  const isAlone = rest === '' || next.startsWith('-');
  const isCreate = command === 'create' && VERBS[plain(typed)] === undefined;
  return isAlone || isCreate || (await isId(next)) ? { command, rest } : null;
}

function matchCommand(typed: string, commands: readonly string[]): string | null {
  const word = plain(typed);
  if (commands.includes(word)) return word;
  const verb = Object.hasOwn(VERBS, word) ? VERBS[word] : undefined;
  if (verb !== undefined) return commands.includes(verb) ? verb : 'help';
  const [best] = commands
    .map((command) => ({ command, edits: distance(word, command) }))
    .sort((one, other) => one.edits - other.edits);
  if (best !== undefined && best.edits <= MAX_EDITS && best.edits < word.length) return best.command;
  return commands.find((command) => word.startsWith(command) && word.length - command.length < 8) ?? null;
}

/** Returns a word in lower case without surrounding punctuation: `/Status?` is `status`. */
function plain(word: string): string {
  return word.toLowerCase().replace(/^[/!.@]+(?=.)|(?<=.)[?!.,:;]+$/gu, '');
}
