import { distance } from './closest-match.ts';

/** Command that was probably meant, with the rest of the text. */
interface Slip {
  readonly command: string;
  /** Text after the command, as typed. */
  readonly rest: string;
}

/** Largest edit distance between a subcommand and a misspelling of it. */
const MAX_EDITS = 2;

/**
 * Words of the product that users try, mapped to the subcommand that does it or comes closest: synonyms of subcommands, and
 * the first words of buttons. A text that begins with one is asked about.
 */
const VERBS: ReadonlyMap<string, string> = new Map([
  ...words('cancel', 'stop abort kill halt undo dismiss withdraw'),
  ...words('delete', 'remove rm del erase trash clear'),
  ...words('retry', 'again redo repeat rerun edit fix resend'),
  ...words('list', 'history ls log recent find search vote reveal join cut reorder skip choose sign request'),
  ...words('status', 'show see view get info details progress queue jobs pending open send enter fetch'),
  ...words('usage', 'cost costs spend spending spent stats stat statistics bill billing balance how_much'),
  ...words('usage', 'report reports invoice invoices receipt export csv limit limits quota'),
  ...words('models', 'price prices pricing catalog'),
  ...words('gallery', 'download downloads album share'),
  ...words('approvals', 'approve approval deny decline reject'),
  ...words('storyboard', 'board shots script'),
  ...words('style', 'preset presets'),
  ...words('library', 'add reference references'),
  ...words('privacy', 'forget gdpr'),
  ...words('notify', 'notifications subscribe unsubscribe watch follow mute'),
  ...words('create', 'improve enhance rewrite'),
  ...words('settings', 'setting config configure preferences setup options'),
  ...words('policy', 'policies rules rule allowed forbidden restrictions'),
  ...words('pause', 'resume unpause freeze'),
  ...words('help', 'take takes try discard command commands manual admin login logout version how_do how_can'),
]);

/** Words that begin many a prompt, too, such as “running horses”: asked about alone, or before a flag or an id. */
const ALONE: ReadonlyMap<string, string> = new Map([
  ...words('cancel', 'end'),
  ...words('list', 'all clips mine'),
  ...words('status', 'state running'),
  ...words('usage', 'credit credits money'),
  ...words('create', 'new make generate render'),
  ...words('help', 'h ? about man test hello hi hey ping thanks thx ok okay yes no'),
]);

/** Prompts that begin with one of {@link VERBS}. */
const PROMPTS = /^stop[ -]motion\b/iu;

function words(command: string, verbs: string): readonly (readonly [verb: string, command: string])[] {
  return verbs.split(' ').map((verb) => [verb, command]);
}

/**
 * Finds the subcommand that the first word of a text was probably meant to be: one with a known synonym, or one within two
 * edits. A misspelling of `create` counts before any text; any other only alone or before a flag or an id.
 */
export async function slipIn(
  text: string,
  commands: readonly string[],
  isId: (word: string) => boolean | Promise<boolean>,
): Promise<Slip | null> {
  const [, typed = '', rest = ''] = /^(\S+)\s*(.*)$/su.exec(text) ?? [];
  const [next = ''] = rest.split(/\s/u, 1);
  // A longer word is not a mistyped command.
  if (typed.length > 30 || PROMPTS.test(text)) return null;
  const word = plain(typed);
  const verb = VERBS.get(`${word}_${plain(next)}`) ?? VERBS.get(word);
  const alone = ALONE.get(word);
  const meant = verb ?? alone ?? matchCommand(word, commands);
  if (meant === null) return null;
  const command = commands.includes(meant) ? meant : 'help';
  const isAlone = rest === '' || next.startsWith('-');
  const isCreate = command === 'create' && alone === undefined;
  const isWhole = isAlone || isCreate || SEARCHES.test(word) || (await isId(next));
  return isWhole || verb !== undefined ? { command, rest: isWhole ? rest : '' } : null;
}

/** Synonyms of `list` with its words. */
const SEARCHES = /^(?:find|search)$/u;

function matchCommand(word: string, commands: readonly string[]): string | null {
  if (commands.includes(word)) return word;
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
