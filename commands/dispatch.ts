import type { Addressing, Caller, Command, GivenOptions, Reply } from './bot-port.ts';
import { create } from './create.ts';
import { createForm } from './input/forms.ts';
import { checkShape, checkValues, optionValue } from './input/options.ts';
import { hasLetter, optionIn, slipIn } from './input/slips.ts';
import { type BotPorts, refused, type Subcommand, visibleTo } from './input/subcommand.ts';
import { findTask } from './input/task-lookup.ts';
import { type ParsedText, parseText, typedWords } from './input/text.ts';
import { offerRequest, type Question, refuseRequest } from './orders/offers.ts';
import { requestDraft } from './orders/place-order.ts';
import { declarations, subcommands } from './registry.ts';
import type { OfferReason } from './sentences/offers.ts';
import { unknownCommand } from './sentences/refusals.ts';

/** A command with its options, and what was unreadable of them. */
interface Said {
  readonly name: string;
  readonly given: GivenOptions;
  readonly problems?: readonly string[];
  /** Whether options are typed as flags. */
  readonly isTyped?: boolean;
}

const NAMES = declarations.map(({ name }) => name);

/**
 * Runs a subcommand. Everything that is wrong is said at once; nothing is done before all of it is right. A refused
 * `create` is kept, so that it can be corrected in a form; one with an option inside its prompt is asked about.
 */
export async function runCommand(ports: BotPorts, caller: Caller, said: Said): Promise<Reply> {
  const { name, given } = said;
  const subcommand = subcommands.find(({ declaration }) => declaration.name === name);
  if (subcommand === undefined) return refused(unknownCommand(name, NAMES));
  const { declaration, run } = subcommand;
  const isCreate = name === 'create';
  const wrong = problemsOf(ports, caller, subcommand, said);
  if (wrong.length > 0)
    return isCreate ? refuseRequest(ports, caller, { request: requestDraft(given) }, wrong) : refused(...wrong);
  const reason = isCreate ? optionInside(declaration, said) : null;
  if (reason === null) return run(ports, caller, given);
  return offerRequest(ports, caller, { request: requestDraft(given) }, { reason });
}

function problemsOf(
  ports: BotPorts,
  caller: Caller,
  { declaration, check }: Subcommand,
  { given, problems = [] }: Pick<Said, 'given' | 'problems'>,
): readonly string[] {
  const values = check === undefined ? checkValues(declaration, given) : check(ports, given, caller);
  return [...problems, ...checkShape(declaration, given), ...values];
}

/** An option that stands in the prompt as words: it would be paid for, and do nothing. */
function optionInside({ options }: Command, { given, isTyped = false }: Said): OfferReason | null {
  const found = optionIn(optionValue(given, 'prompt') ?? '', [...options.map(({ name }) => name), 'help']);
  if (found === null) return null;
  return { kind: 'option', typed: found.typed, example: isTyped ? `--${found.option}` : null };
}

/**
 * Runs what was typed after `/video`, or said to the app. Words that are probably a slip, small talk or no prompt at all
 * are asked about and not bought.
 */
export async function runText(
  ports: BotPorts,
  caller: Caller,
  text: string,
  { addressing, files }: { readonly addressing: Addressing; readonly files: GivenOptions },
): Promise<Reply> {
  const typed = typedWords(text);
  const parsed = withFiles(parseText(typed, declarations), files);
  const { command: name, given, problems, isNamed } = parsed;
  if (name === null) return createForm(ports.catalog());
  if (HELP.test(typed) || /^(?:\w+\s+)?\?$/u.test(typed)) return runHelp(ports, caller, isNamed ? name : null);
  if (!isNamed || addressing === 'plain') {
    const slip = await slipQuestion(ports, caller, typed, files);
    const words = isNamed || problems.length > 0 ? { prompt: [typed], ...files } : given;
    if (slip !== null) return offerRequest(ports, caller, { request: requestDraft(words) }, slip);
  }
  const isCreate = name === 'create';
  const isRight = isCreate && problemsOf(ports, caller, create, parsed).length === 0;
  const reason = isRight ? await doubtAbout(ports, caller, parsed, addressing) : null;
  if (reason !== null) return offerRequest(ports, caller, { request: requestDraft(given) }, { reason });
  // Words on the chat page are no command, whatever they begin with.
  if (addressing === 'plain' && !isCreate)
    return offerRequest(ports, caller, { request: { prompt: typed } }, { reason: { kind: 'talk' } });
  return runCommand(ports, caller, { name, given, problems, isTyped: true });
}

/** What was typed, with the files that came with it: these alone are an order that lacks its prompt. */
function withFiles(parsed: ParsedText, files: GivenOptions): ParsedText {
  const kinds = Object.keys(files);
  if (kinds.length === 0) return parsed;
  const added = kinds.map((kind) => [kind, [...(parsed.given[kind] ?? []), ...(files[kind] ?? [])]]);
  return { ...parsed, command: parsed.command ?? 'create', given: { ...parsed.given, ...Object.fromEntries(added) } };
}

/** Runs a command that a button names; it was checked when the button was made. */
export function runLine(ports: BotPorts, caller: Caller, text: string): Promise<Reply> {
  const { command, given, problems } = parseText(text, declarations);
  return runCommand(ports, caller, { name: command ?? 'help', given, problems, isTyped: true });
}

/** A question for help, anywhere in what was typed. */
const HELP = /(?:^|\s)(?:(?:-{2,}|[—–―−]{1,2})help|-h)(?=\s|$)/iu;

/** Help on one command where it has that, else on all. */
function runHelp(ports: BotPorts, caller: Caller, name: string | null): Promise<Reply> {
  const topic = declarations.find((one) => one.name === 'help')?.options.find(({ positional }) => positional);
  const given: GivenOptions = topic === undefined || name === null ? {} : { [topic.name]: [name] };
  return runCommand(ports, caller, { name: 'help', given });
}

/** Commands that are about one clip, and the one that shows which there are. */
const BY_ID: Readonly<Record<string, string>> = { cancel: 'status', retry: 'list' };
/** Commands that take what was typed after them. */
const TAKES_REST: ReadonlySet<string> = new Set(['cancel', 'retry', 'status', 'list']);

async function slipQuestion(
  ports: BotPorts,
  caller: Caller,
  typed: string,
  files: GivenOptions,
): Promise<Question | null> {
  const isId = async (word: string): Promise<boolean> =>
    /\d/u.test(word) || (await findTask(ports, caller, word)) !== undefined;
  const isTask = !/\s/u.test(typed) && (await findTask(ports, caller, typed)) !== undefined;
  const slip = isTask ? { command: 'status', rest: typed } : await slipIn(typed, NAMES, isId);
  if (slip === null) return null;
  const { command, rest } = slip;
  if (command === 'create') {
    const { given } = withFiles(parseText(`create ${rest}`, declarations), files);
    const reason = { kind: 'slip', command: `create ${rest}`.trim(), run: null } as const;
    return rest === '' ? { reason } : { reason, alternative: requestDraft(given) };
  }
  const [id = ''] = rest.split(/\s/u, 1);
  const isFlag = id.startsWith('-');
  const line = `${command} ${isFlag ? rest : TAKES_REST.has(command) ? id : ''}`.trim();
  const lacksId = BY_ID[command] !== undefined && (id === '' || isFlag);
  // Making a clip again costs money: no button does that without its price.
  const run = lacksId ? (BY_ID[command] ?? null) : command === 'retry' ? null : line;
  return { reason: { kind: 'slip', command: line, run } };
}

/** Most words of small talk. */
const TALK_WORDS = 3;

async function doubtAbout(
  ports: BotPorts,
  caller: Caller,
  { given, isNamed }: ParsedText,
  addressing: Addressing,
): Promise<OfferReason | null> {
  const prompt = optionValue(given, 'prompt') ?? '';
  if (addressing === 'plain') return { kind: 'talk' };
  if (addressing === 'message' && !isNamed) {
    const isShort = prompt.split(/\s+/u).length <= TALK_WORDS && Object.keys(given).length === 1;
    if (isShort || (await isInClipThread(ports, caller))) return { kind: 'talk' };
  }
  return hasLetter(prompt) ? null : { kind: 'no_letters' };
}

/** So many of a team's latest tasks are looked at for one in the same thread. */
const LATEST = 100;

/** Whether a message stands in a thread that holds the message of a task, or begins with one. */
async function isInClipThread({ chat, tasks }: BotPorts, caller: Caller): Promise<boolean> {
  const { platform, channel, address } = caller;
  const { thread } = address;
  if (thread === undefined) return false;
  if ((await chat.taskOf(platform, { channel, message: thread })) !== undefined) return true;
  const latest = await tasks.history(visibleTo(caller), { offset: 0, limit: LATEST });
  return latest.some(({ origin }) => origin.channel === channel && origin.address['thread'] === thread);
}
