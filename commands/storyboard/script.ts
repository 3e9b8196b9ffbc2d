import {
  checkRequest,
  isChained,
  LAST_FRAME,
  MEDIA_KINDS,
  type RequestDraft,
  SETTINGS,
  type ShotDraft,
} from '#src/videos/index.ts';
import type { Caller, Command, FieldProblem, GivenOptions, OptionDeclaration, Reply } from '../bot-port.ts';
import { create } from '../create.ts';
import { checkShape, isSet, optionValue } from '../input/options.ts';
import type { BotPorts } from '../input/subcommand.ts';
import { readFlags } from '../input/text.ts';
import { type Kept, refuseRequest } from '../orders/offers.ts';
import { placedReply, placeOrder } from '../orders/place-order.ts';
import { formatCount } from '../sentences/format.ts';
import { onLine, refusalProblems } from '../sentences/refusals.ts';
import { COMMENT } from './comments.ts';

/** Options that all shots may share, by name. */
const SHARED: readonly string[] = ['model', 'style', ...SETTINGS.map(({ name }) => name)];

/** Option that has all shots start with the last frame of the one before. */
const CHAIN: OptionDeclaration = {
  name: 'chain',
  description: 'Start each shot with the last frame of the one before',
  kind: 'flag',
};

export const SHARED_OPTIONS: readonly OptionDeclaration[] = [
  ...create.declaration.options.filter(({ name }) => SHARED.includes(name)),
  CHAIN,
];

/** Line of a storyboard as a command: a prompt and flags. */
const LINE: Command = {
  name: 'storyboard',
  description: '',
  example: '',
  options: [
    ...create.declaration.options.filter(
      ({ name }) => name === 'prompt' || SHARED.includes(name) || (MEDIA_KINDS as readonly string[]).includes(name),
    ),
    CHAIN,
  ],
  visibility: 'private',
};

/** Marks of a list before a shot: `1.`, `3)`, `-` or `Shot 2:`. */
const MARKS = /^(?:(?:\d{1,2}[.)]|[-*•–—]|shot\s+\d{1,2}\s?[:.)–—-])(?:\s+|$))+/iu;

/** Longest storyboard in UTF-16 units; `typedWords` cuts a longer text off. */
const MAX_LENGTH = 20_000;

/** Storyboard as it was written, without the options for all of its shots. */
interface Script {
  readonly shared: GivenOptions;
  /** The lines of the shots; their numbers are those in this text. */
  readonly text: string;
  readonly problems: readonly FieldProblem[];
}

/** Splits off a first line that has flags and no prompt: its options are for all shots. */
export function splitScript(written: string): Script {
  const text = written
    .replace(/^\uFEFF/u, '')
    .replace(/\r\n?|\u2028|\u2029/gu, '\n')
    .replace(/^\s*\n/u, '')
    .trimEnd();
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.trim() !== '' && !COMMENT.test(line));
  const first = lines[at] ?? '';
  const { given, problems } = readFlags(first.trim(), LINE);
  if (optionValue(given, 'prompt') !== undefined || (Object.keys(given).length === 0 && problems.length === 0))
    return { shared: {}, text, problems: [] };
  const wrong = [...problems, ...checkShape(LINE, given)].map(problem);
  return {
    shared: given,
    text: lines
      .toSpliced(at, 1)
      .join('\n')
      .replace(/^\s*\n/u, ''),
    problems: wrong,
  };
}

const NO_WORDS = 'there are no words. Write what the shot shows, or remove the line.';

/** Refuses `--chain` on the line of a shot. */
const CHAIN_FOR_ALL =
  '--chain is for all shots: write it on a line of its own above them. For this shot alone, write --image @last-frame.';

/**
 * Parses the shots of a storyboard, one per line, without the marks of a list; empty lines and comments are ignored. Reports
 * the problems of all lines, or that the text is too long.
 */
function parseShots(text: string): {
  readonly shots: readonly ShotDraft[];
  readonly problems: readonly FieldProblem[];
} {
  if (text.length > MAX_LENGTH) {
    const has = `this one has ${formatCount(text.length)}`;
    const sentence = `A storyboard may have up to ${formatCount(MAX_LENGTH)} characters; ${has}.`;
    return { shots: [], problems: [problem(sentence)] };
  }
  const lines = text
    .split('\n')
    .map((typed) => (COMMENT.test(typed) ? '' : typed.trim().replace(MARKS, '')))
    .map((typed, index) => ({ line: index + 1, ...readFlags(typed, LINE) }))
    .filter(({ given, problems }) => Object.keys(given).length > 0 || problems.length > 0);
  return {
    shots: lines.map(({ line, given }) => ({ ...optionsOf(given), line })),
    problems: lines.flatMap(({ line, given, problems }) =>
      [
        ...problems,
        ...checkShape(LINE, given),
        ...(given['chain'] === undefined ? [] : [CHAIN_FOR_ALL]),
        ...(/^[^\p{L}\p{N}]+$/u.test(optionValue(given, 'prompt') ?? '') ? [NO_WORDS] : []),
      ].map((sentence) => problem(onLine(line, sentence))),
    ),
  };
}

export function sharedIn(request: RequestDraft): RequestDraft {
  return Object.fromEntries(Object.entries(request).filter(([name]) => name === CHAIN.name || SHARED.includes(name)));
}

export function sharedOptions(given: GivenOptions): RequestDraft {
  const { prompt: _, ...shared } = optionsOf(given);
  return isSet(given, 'chain') ? { ...shared, chain: true } : shared;
}

function optionsOf(given: GivenOptions): ShotDraft {
  const values = ['prompt', ...SHARED].map((name) => [name, optionValue(given, name)] as const);
  const media = MEDIA_KINDS.map((kind) => [kind, given[kind]] as const);
  return Object.fromEntries([...values, ...media].filter(([, value]) => value !== undefined));
}

function problem(sentence: string): FieldProblem {
  return { field: 'shots', sentence };
}

/**
 * Orders the storyboard of `kept.request.script`; its price and length are asked about first. Reports all problems at once, with
 * **Fix it**, which brings the text back in a form.
 * @param problems those of the options that all shots share
 */
export async function orderScript(
  ports: BotPorts,
  caller: Caller,
  kept: Kept,
  problems: readonly FieldProblem[] = [],
): Promise<Reply> {
  const { shots: written, problems: ofLines } = parseShots(kept.request.script ?? '');
  const shots = kept.request.chain === true ? chainShots(written) : written;
  const request = { ...kept.request, shots };
  const checked = checkRequest(ports.catalog(), request);
  const ofShots = written.length === 0 && ofLines.length > 0 ? [] : refusalProblems(checked, caller.fields);
  const wrong = [...problems, ...ofLines, ...ofShots];
  if (!checked.ok || wrong.length > 0) return refuseRequest(ports, caller, { ...kept, request }, wrong);
  const { key, replyTo } = kept;
  const identity = { ...(key === undefined ? {} : { key }), ...(replyTo === undefined ? {} : { replyTo }) };
  return placedReply(await placeOrder(ports, caller, checked, identity));
}

/** Has each shot but the first start with the last frame of the one before. */
function chainShots([first, ...rest]: readonly ShotDraft[]): readonly ShotDraft[] {
  const chained = rest.map((shot) =>
    isChained(shot) ? shot : { ...shot, image: [LAST_FRAME, ...(shot.image ?? [])] },
  );
  return first === undefined ? [] : [first, ...chained];
}

/** Orders a storyboard as entered in a form, whose first line may also have options for all shots. */
export function orderEntered(ports: BotPorts, caller: Caller, kept: Kept, written: string): Promise<Reply> {
  const { shared, text, problems } = splitScript(written);
  return orderScript(
    ports,
    caller,
    { ...kept, request: { ...kept.request, ...sharedOptions(shared), script: text } },
    problems,
  );
}
