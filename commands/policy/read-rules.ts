import { type Approver, MAX_SET_SIZE } from '#src/tasks/index.ts';
import type { PolicyRules, RuleName, RulesPatch } from '#src/teams/index.ts';
import { type Catalog, isSameWord, RESOLUTIONS, type Resolution, styleNamed } from '#src/videos/index.ts';
import { approverNamed, approverProblem } from '../approvals/approvers.ts';
import type { Caller, FieldProblem, GivenOptions } from '../bot-port.ts';
import { optionValue, switchedOff } from '../input/options.ts';
import { withoutMarkup } from '../input/people.ts';
import { type BotPorts, teamOf } from '../input/subcommand.ts';
import { notAStyle, notClips, notLengths, notOneOf, tooManyWords } from '../sentences/administration/policy.ts';
import { unknownApprover } from '../sentences/cards/approvers.ts';

/** Rules in the order in which they are shown, by the names of their options. */
export const RULES = [
  'models',
  'seconds',
  'resolutions',
  'clips',
  'style',
  'create',
  'decide',
  'review',
  'words',
] as const;
type RuleChange = (typeof RULES)[number];

const PEOPLE = ['create', 'decide', 'review'] as const;
/** Largest number of forbidden words, and of characters in one. */
const MAX_WORDS = 200;
const MAX_WORD_LENGTH = 60;
const ANY: ReadonlySet<string> = new Set(['any', 'all', 'everyone', '@everyone']);

/** Changes as entered, or everything that is wrong with them. */
type ReadRules =
  | {
      readonly ok: true;
      /** Returns the changes of a place, where lists begin with what applies there. */
      readonly change: (applied: PolicyRules) => RulesPatch;
    }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

type Read<Value> = { readonly value: Value } | { readonly problem: string };

/** Reads the options of `/video policy`. Rejects where the platform does not respond. */
export async function readRules(ports: BotPorts, caller: Caller, given: GivenOptions): Promise<ReadRules> {
  const problems: FieldProblem[] = [];
  const isRemoval = optionValue(given, 'change')?.toLowerCase() === 'remove';
  const fixed: Record<string, unknown> = {};
  const lists: Partial<Record<RuleChange, readonly Approver[] | readonly string[]>> = {};
  const names = RULES.filter((name) => optionValue(given, name) !== undefined);
  for (const name of names) {
    const read = await readRule(ports, caller, name, optionValue(given, name) ?? '');
    if ('problem' in read) problems.push({ field: name, sentence: read.problem });
    else if (read.value !== 'any' && (name === 'words' || isPeople(name)))
      lists[name] = read.value as readonly Approver[] | readonly string[];
    else fixed[name] = read.value;
  }
  const off = switchedOff(given, RULES);
  problems.push(...off.problems);
  if (problems.length > 0) return { ok: false, problems };
  const lifted = Object.fromEntries(off.removed.map((name) => [name, null]));
  return {
    ok: true,
    change: (applied) => {
      const changed = Object.entries(lists).flatMap(([name, items]) => {
        const before = applied[name as RuleName];
        // An empty list is a rule: it leaves administrators alone.
        if (isRemoval && !Array.isArray(before)) return [];
        return [[name, listAfter(Array.isArray(before) ? before : [], items, isRemoval)] as const];
      });
      return { ...fixed, ...Object.fromEntries(changed), ...lifted };
    },
  };
}

function isPeople(name: RuleChange): boolean {
  return (PEOPLE as readonly string[]).includes(name);
}

type Item = Approver | string;

/** Returns a list of people or words with items added or removed. */
function listAfter(before: readonly Item[], items: readonly Item[], isRemoval: boolean): readonly Item[] {
  const others = before.filter((one) => !items.some((item) => isSame(one, item)));
  if (isRemoval) return others;
  return [...before, ...items.filter((item) => !before.some((one) => isSame(one, item)))];
}

function isSame(one: Item, other: Item): boolean {
  if (typeof one === 'string' || typeof other === 'string')
    return typeof one === 'string' && typeof other === 'string' && isSameWord(one, other);
  return one.kind === other.kind && one.id === other.id;
}

async function readRule(
  ports: BotPorts,
  caller: Caller,
  name: RuleChange,
  typed: string,
): Promise<Read<NonNullable<PolicyRules[RuleChange]>>> {
  const catalog = ports.catalog();
  if (ANY.has(typed.toLowerCase())) return { value: 'any' };
  switch (name) {
    case 'models':
      return readModels(catalog, typed);
    case 'seconds':
      return readSeconds(typed);
    case 'resolutions':
      return readResolutions(typed);
    case 'clips': {
      const number = /^\d{1,2}$/u.test(typed) ? Number(typed) : 0;
      const isAllowed = number >= 1 && number <= MAX_SET_SIZE;
      return isAllowed ? { value: number } : { problem: notClips(typed, MAX_SET_SIZE) };
    }
    case 'style':
      return readStyle(ports, caller, typed);
    case 'words':
      return readWords(typed);
    case 'create':
    case 'decide':
    case 'review':
      return readPeople(ports, caller, name, typed);
  }
}

async function readStyle({ settings }: BotPorts, caller: Caller, typed: string): Promise<Read<string>> {
  const { styles = [] } = await settings.get(teamOf(caller));
  const style = styleNamed({ styles }, typed);
  return style === undefined
    ? {
        problem: notAStyle(
          typed,
          styles.map(({ name }) => name),
        ),
      }
    : { value: style.name };
}

function itemsOf(typed: string): readonly string[] {
  const items = typed.split(/[,;\n]/u).map((item) => item.trim());
  return [...new Set(items.filter((item) => item !== ''))];
}

function readModels({ models }: Catalog, typed: string): Read<readonly string[]> {
  const names = models.map(({ name }) => name);
  return readNames('models', itemsOf(typed), names);
}

function readResolutions(typed: string): Read<readonly Resolution[]> {
  const read = readNames('resolutions', itemsOf(typed), RESOLUTIONS);
  return 'problem' in read ? read : { value: RESOLUTIONS.filter((one) => read.value.includes(one)) };
}

/** Returns the names as they are known, without regard to case. */
function readNames(option: string, typed: readonly string[], known: readonly string[]): Read<readonly string[]> {
  const found = typed.map((item) => known.find((one) => one.toLowerCase() === item.toLowerCase()));
  const wrong = typed.find((_, index) => found[index] === undefined) ?? (typed.length === 0 ? '' : undefined);
  if (wrong !== undefined) return { problem: notOneOf(option, wrong, known) };
  return { value: found.filter((one) => one !== undefined) };
}

/** Reads `8` and `up to 8` as the longest, `4, 6` and `only 8` as a list. */
function readSeconds(typed: string): Read<NonNullable<PolicyRules['seconds']>> {
  const [, only = '', rest = ''] = /^(only\s+)?(?:up to\s+|max\s+)?(.*)$/iu.exec(typed) ?? [];
  const items = itemsOf(rest).map((item) => (/^\d{1,4}\s?s?$/iu.test(item) ? Number.parseInt(item, 10) : 0));
  if (items.length === 0 || items.includes(0)) return { problem: notLengths(typed) };
  const [first = 0] = items;
  const isMaximum = items.length === 1 && only === '';
  return { value: isMaximum ? { max: first } : items.toSorted((one, other) => one - other) };
}

function readWords(typed: string): Read<readonly string[]> {
  const words = itemsOf(typed);
  const isFine = words.length > 0 && words.length <= MAX_WORDS;
  const long = words.find((word) => Array.from(word).length > MAX_WORD_LENGTH || isSameWord(word, ''));
  return isFine && long === undefined
    ? { value: words }
    : { problem: tooManyWords({ words: MAX_WORDS, characters: MAX_WORD_LENGTH }) };
}

async function readPeople(
  ports: BotPorts,
  caller: Caller,
  option: RuleChange,
  typed: string,
): Promise<Read<readonly Approver[] | 'any'>> {
  const who = await approverNamed(ports, caller, typed);
  if (who === null) return { problem: unknownApprover(withoutMarkup(typed), option) };
  // The role of all members on Discord.
  if (who.kind === 'role' && who.id === caller.team) return { value: 'any' };
  const problem = await approverProblem(ports, caller, who, option);
  return problem === null ? { value: [who] } : { problem };
}
