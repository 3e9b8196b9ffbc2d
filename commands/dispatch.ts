import type { RequestDraft } from '#src/videos/index.ts';
import type { Addressing, Caller, Command, FieldProblem, GivenOptions, Reply } from './bot-port.ts';
import { compare, comparisonDraft } from './comparisons/compare.ts';
import { create } from './create.ts';
import { nearest } from './input/closest-match.ts';
import { createForm } from './input/forms.ts';
import { checkShape, checkValues, optionIn, optionValue } from './input/options.ts';
import { slipIn } from './input/slips.ts';
import {
  type BotPorts,
  mayRun,
  privately,
  refused,
  refusedWith,
  type Subcommand,
  visibleTo,
} from './input/subcommand.ts';
import { findTask } from './input/task-lookup.ts';
import { type ParsedText, parseText, typedWords } from './input/text.ts';
import { SEARCH_LENGTH } from './list.ts';
import { withDefaults } from './orders/defaults.ts';
import type { OfferReason } from './orders/offer-cards.ts';
import { draftOf, offerRequest, type Question, refuseRequest } from './orders/offers.ts';
import { requestDraft } from './orders/place-order.ts';
import { mayNotCreateHere } from './policy/rules-here.ts';
import { declarations, subcommands } from './registry.ts';
import { administratorsOnly } from './sentences/access.ts';
import { unknownCommand } from './sentences/refusals.ts';
import { isLibraryCommand } from './studio/library.ts';
import { button } from './ui/buttons.ts';
import { type Line, textCard } from './ui/card.ts';
import { parseForm } from './ui/form-ids.ts';

/** Command with its options and the parse errors. */
interface Invocation {
  readonly name: string;
  readonly given: GivenOptions;
  readonly problems?: readonly string[];
  /** True if options are typed as flags. */
  readonly isTyped?: boolean;
}

const NAMES = declarations.map(({ name }) => name);

/**
 * Validates and runs a subcommand. Reports all errors at once and does nothing unless the input is valid. Saves a
 * refused `create`, so that it can be corrected in a form; asks for a confirmation if the prompt contains an option.
 */
export async function runCommand(ports: BotPorts, caller: Caller, invocation: Invocation): Promise<Reply> {
  return execute(await portsFor(ports, caller, invocation.name), caller, invocation);
}

/** @param ports with the defaults that the command needs */
async function execute(ports: BotPorts, caller: Caller, invocation: Invocation): Promise<Reply> {
  const { name, given } = invocation;
  const subcommand = subcommands.find(({ declaration }) => declaration.name === name);
  if (subcommand === undefined) {
    const known = declarations.filter((command) => mayRun(caller, command)).map((command) => command.name);
    return refused(unknownCommand(name, known, nearest(name, known)));
  }
  const { declaration, run } = subcommand;
  if (!mayRun(caller, declaration) || exceedsRights(caller, declaration, given))
    return refused(administratorsOnly(caller.platform));
  const isCreate = name === 'create';
  const wrong = problemsOf(ports, caller, subcommand, invocation);
  if (wrong.length > 0)
    return isCreate ? refuseRequest(ports, caller, { request: requestDraft(given) }, wrong) : refusedWith(wrong);
  const reason = isOrderCommand(name) ? optionInside(declaration, invocation) : null;
  if (reason === null) return run(ports, caller, given);
  return offerRequest(ports, caller, { request: draftOfCommand(name, given) }, { reason });
}

/** Returns whether a caller gave an option that only administrators may use. */
function exceedsRights({ mayAdminister }: Caller, { options }: Command, given: GivenOptions): boolean {
  if (mayAdminister) return false;
  return options.some(({ name, isAdministrative }) => isAdministrative === true && (given[name]?.length ?? 0) > 0);
}

function isOrderCommand(name: string): boolean {
  return name === 'create' || name === 'compare';
}

function draftOfCommand(name: string, given: GivenOptions): RequestDraft {
  return name === 'compare' ? comparisonDraft(given) : requestDraft(given);
}

/** Returns the ports of a command: with the caller's defaults for an order, and as far as they are known for the help. */
async function portsFor(ports: BotPorts, caller: Caller, name: string): Promise<BotPorts> {
  if (name === 'help') return withDefaults(ports, caller).catch(() => ports);
  return isOrderCommand(name) || name === 'storyboard' ? withDefaults(ports, caller) : ports;
}

/** Returns what is wrong with the options of a command before it runs. */
export function problemsOf(
  ports: BotPorts,
  caller: Caller,
  { declaration, check }: Subcommand,
  { given, problems = [] }: Pick<Invocation, 'given' | 'problems'>,
): readonly FieldProblem[] {
  const withoutField = (sentence: string): FieldProblem => ({ field: null, sentence });
  const values = check?.(ports, given, caller) ?? checkValues(declaration, given);
  return [...[...problems, ...checkShape(declaration, given)].map(withoutField), ...values];
}

/** Finds an option written as part of the prompt: it would have no effect, and the clip would be charged. */
function optionInside({ options }: Command, { given, isTyped = false }: Invocation): OfferReason | null {
  const found = optionIn(optionValue(given, 'prompt') ?? '', [...options.map(({ name }) => name), 'help']);
  if (found === null) return null;
  return { kind: 'option', typed: found.typed, example: isTyped ? `--${found.option}` : null };
}

/**
 * Runs the text typed after `/video` or addressed to the app. Asks for a confirmation instead of buying if the text is
 * probably a typo, small talk or not a prompt at all.
 */
export async function runText(
  all: BotPorts,
  caller: Caller,
  text: string,
  { addressing, files }: { readonly addressing: Addressing; readonly files: GivenOptions },
): Promise<Reply> {
  const typed = typedWords(text);
  const parsed = withFiles(parseText(typed, declarations), files);
  const { command: name, given, problems, isNamed } = parsed;
  const mayBePrompt = name === null || name === 'library' || name === 'delete' || addressing === 'plain';
  const ports = await portsFor(all, caller, mayBePrompt ? 'create' : name);
  if (name === null) {
    const refusal = await mayNotCreateHere(ports, caller);
    return refusal === null ? createForm(ports.catalog()) : refused(refusal);
  }
  if (HELP.test(typed) || /^(?:\w+\s+)?\?$/u.test(typed)) return runHelp(ports, caller, isNamed ? name : null);
  if (!isNamed || addressing === 'plain') {
    const slip = await slipQuestion(ports, caller, typed, files);
    const words = isNamed || problems.length > 0 ? { prompt: [typed], ...files } : given;
    if (slip !== null) return offerRequest(ports, caller, { request: requestDraft(words) }, slip);
  }
  const meant = await commandMeant(ports, caller, { name, given });
  if (meant !== null) {
    const reason = { kind: 'slip', command: name, run: meant } as const;
    return offerRequest(ports, caller, { request: requestDraft({ prompt: [typed], ...files }) }, { reason });
  }
  const isCreate = name === 'create';
  const order = isCreate ? create : name === 'compare' && addressing !== 'plain' ? compare : null;
  const isRight = order !== null && problemsOf(ports, caller, order, parsed).length === 0;
  const reason = isRight ? await confirmationReason(ports, caller, parsed, addressing) : null;
  if (reason !== null) return offerRequest(ports, caller, { request: draftOfCommand(name, given) }, { reason });
  // A message on the chat page is never a command, even if it begins with the name of one.
  if (addressing === 'plain' && !isCreate)
    return offerRequest(ports, caller, { request: { prompt: typed } }, { reason: { kind: 'talk' } });
  // Where each order is confirmed, one that was shown no price asks for it: Retry.
  const asker = addressing === 'assistant' ? { ...caller, shown: { price: null } } : caller;
  const reply = await execute(ports, asker, { name, given, problems, isTyped: true });
  const isMessage = addressing === 'message' || addressing === 'assistant';
  return isMessage && reply.kind === 'form' ? formByButton(ports, caller, reply.form.id) : reply;
}

/** Leads to the form of a storyboard by a button, since a message can open none. */
async function formByButton(ports: BotPorts, caller: Caller, form: string): Promise<Reply> {
  const purpose = parseForm(form);
  const kept = purpose?.form === 'storyboard' ? purpose.task : null;
  const id = kept ?? (await ports.drafts.save(draftOf(caller, { request: { script: '' } }))).draft.id;
  const buttons = [button({ action: 'fix', draft: id }, 'Open the form', 'primary')];
  const line: Line = ['Write the shots below the word, one per line, attach a text file, or open the form.'];
  return privately({ ...textCard(line), buttons });
}

/** Adds the attached files to the parsed text; files alone are a `create` without its prompt. */
function withFiles(parsed: ParsedText, files: GivenOptions): ParsedText {
  const kinds = Object.keys(files);
  if (kinds.length === 0) return parsed;
  const added = kinds.map((kind) => [kind, [...(parsed.given[kind] ?? []), ...(files[kind] ?? [])]]);
  return { ...parsed, command: parsed.command ?? 'create', given: { ...parsed.given, ...Object.fromEntries(added) } };
}

/** Matches a help flag anywhere in the text. */
const HELP = /(?:^|\s)(?:(?:-{2,}|[—–―−]{1,2})help|-h)(?=\s|$)/iu;

/** Shows the help on one command if it is named, else on all. */
function runHelp(ports: BotPorts, caller: Caller, name: string | null): Promise<Reply> {
  const topic = declarations.find((one) => one.name === 'help')?.options.find(({ positional }) => positional);
  const given: GivenOptions = topic === undefined || name === null ? {} : { [topic.name]: [name] };
  return runCommand(ports, caller, { name: 'help', given });
}

/** Returns the command to offer beside a prompt that begins with the name of one; `null` for a command. */
async function commandMeant(ports: BotPorts, caller: Caller, { name, given }: Invocation): Promise<string | null> {
  if (name === 'library') return isLibraryCommand(given) ? null : 'library';
  const isPrompt = name === 'delete' && (await isPromptAfterAll(ports, caller, optionValue(given, 'id') ?? ''));
  return isPrompt ? 'list' : null;
}

/** Returns true for words that are no id: a prompt may begin with “delete”, as in “delete scene”, so it is asked about. */
async function isPromptAfterAll(ports: BotPorts, caller: Caller, words: string): Promise<boolean> {
  const isLikeId = /^\S*\d\S*$/u.test(words) || words.startsWith('-');
  return words !== '' && !isLikeId && (await findTask(ports, caller, words)) === undefined;
}

/** Maps each command that needs a clip's id to the command that lists the ids. */
const BY_ID: Readonly<Record<string, string>> = { cancel: 'status', retry: 'list', delete: 'list' };
/** Commands that take a clip's id. */
const TAKES_ID: ReadonlySet<string> = new Set(['cancel', 'delete', 'retry', 'status']);

async function slipQuestion(
  ports: BotPorts,
  caller: Caller,
  typed: string,
  files: GivenOptions,
): Promise<Question | null> {
  const isId = async (word: string): Promise<boolean> =>
    /\d/u.test(word) || (await findTask(ports, caller, word)) !== undefined;
  const isTask = !/\s/u.test(typed) && (await findTask(ports, caller, typed)) !== undefined;
  const found = isTask ? { command: 'status', rest: typed } : await slipIn(typed, NAMES, isId);
  if (found === null) return null;
  // A near miss is not bought, and leads to no command that would refuse the caller.
  const meant = declarations.find(({ name }) => name === found.command);
  const slip = meant === undefined || mayRun(caller, meant) ? found : { command: 'help', rest: '' };
  const { command, rest } = slip;
  if (command === 'create') {
    const { given } = withFiles(parseText(`create ${rest}`, declarations), files);
    const reason = { kind: 'slip', command: `create ${rest}`.trim(), run: null } as const;
    return rest === '' ? { reason } : { reason, alternative: requestDraft(given) };
  }
  const [id = ''] = rest.split(/\s/u, 1);
  const isFlag = id.startsWith('-');
  const isWhole = isFlag || (command === 'list' && rest.length <= SEARCH_LENGTH);
  const line = `${command} ${isWhole ? rest : TAKES_ID.has(command) ? id : ''}`.trim();
  const lacksId = BY_ID[command] !== undefined && (id === '' || isFlag);
  // A retry costs money, so no button starts one without showing its price.
  const run = lacksId ? (BY_ID[command] ?? null) : command === 'retry' ? null : line;
  return { reason: { kind: 'slip', command: line, run } };
}

/** Largest number of words that count as small talk. */
const TALK_WORDS = 3;
/** A word alone. Scripts without upper case may hold a whole sentence without a blank. */
const BARE_WORD = /^[^\s\p{Lo}]+$/u;

async function confirmationReason(
  ports: BotPorts,
  caller: Caller,
  { given, isNamed }: ParsedText,
  addressing: Addressing,
): Promise<OfferReason | null> {
  const prompt = optionValue(given, 'prompt') ?? '';
  if (addressing === 'plain' || addressing === 'assistant') return { kind: 'talk' };
  if (addressing === 'message' && !isNamed) {
    const isShort = prompt.split(/\s+/u).length <= TALK_WORDS && Object.keys(given).length === 1;
    if (isShort || (await isInClipThread(ports, caller))) return { kind: 'talk' };
  }
  if (!/\p{L}/u.test(prompt)) return { kind: 'no_letters' };
  return !isNamed && BARE_WORD.test(prompt) && Object.keys(given).length === 1 ? { kind: 'talk' } : null;
}

/** Number of the team's latest tasks that are searched for one in the same thread. */
const LATEST = 100;

/** Returns true for a message in a thread that contains or begins with the message of a task. */
async function isInClipThread({ chat, tasks }: BotPorts, caller: Caller): Promise<boolean> {
  const { platform, channel, address } = caller;
  const { thread } = address;
  if (thread === undefined) return false;
  if ((await chat.taskOf(platform, { channel, message: thread })) !== undefined) return true;
  const latest = await tasks.history(visibleTo(caller), { offset: 0, limit: LATEST });
  return latest.some(({ origin }) => origin.channel === channel && origin.address['thread'] === thread);
}
