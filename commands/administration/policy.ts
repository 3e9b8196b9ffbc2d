import { type Approver, MAX_SET_SIZE, spendChannel } from '#src/tasks/index.ts';
import {
  allowedCatalog,
  changedPolicy,
  channelRules,
  NO_POLICY,
  type Policy,
  type PolicyRules,
  type RuleName,
  type RulesPatch,
  rulesAt,
  valueRules,
} from '#src/teams/index.ts';
import { type Catalog, isSameWord, RESOLUTIONS, styleNamed } from '#src/videos/index.ts';
import {
  ADD_OR_REMOVE,
  approverNamed,
  approverProblem,
  approverValue,
  unknownApprover,
} from '../approvals/approvers.ts';
import type { Caller, Command, FieldChoice, GivenOptions, OptionDeclaration, Reply } from '../bot-port.ts';
import { rightsIn } from '../input/member-rights.ts';
import { asChoices, isAnyGiven, optionValue, type Read, readOptions } from '../input/options.ts';
import { type Panel, type PanelField, type PanelGroup, panelButtons } from '../input/panels.ts';
import { channelNamed, withoutMarkup } from '../input/people.ts';
import {
  type BotPorts,
  byCommand,
  privately,
  refused,
  refusedWith,
  type Subcommand,
  teamOf,
} from '../input/subcommand.ts';
import { nameOf } from '../sentences/command-name.ts';
import { all, either, quoted } from '../sentences/format.ts';
import { channelUnknown } from '../sentences/refusals.ts';
import { savedLine } from '../sentences/saved.ts';
import { facts, heading, joinLines, type Line, labelled, layOut, present, small } from '../ui/card.ts';
import { RULE_WORDS } from './rule-words.ts';

/** Largest number of forbidden words, and of characters in one. */
const MAX_WORDS = 200;
const MAX_WORD_LENGTH = 60;
const ANY: ReadonlySet<string> = new Set(['any', 'all', 'everyone', '@everyone']);

const RULE_NAMES = Object.keys(RULE_WORDS) as readonly RuleName[];

const options: readonly OptionDeclaration[] = [
  {
    name: 'channel',
    description: 'Channel whose rules are shown, or changed instead of the team’s',
    kind: 'channel',
    defaultWords: 'this channel',
  },
  ...[
    ...RULE_NAMES.map((name) => ({ name, ...RULE_WORDS[name].option })),
    {
      name: 'change',
      description: 'Whether people and words are added or removed',
      ...ADD_OR_REMOVE,
    } as const,
    {
      name: 'off',
      description: 'Removes this rule; in a channel, the team’s applies again',
      kind: 'text',
      choices: [...RULE_NAMES, 'all'].map((value) => ({ value, label: value })),
    } as const,
  ].map((option): OptionDeclaration => ({ ...option, isAdministrative: true })),
];

const declaration: Command = {
  name: 'policy',
  description: 'What is allowed here: models, lengths, words and people',
  example: '/video policy',
  options,
  visibility: 'private',
  isAdministrative: 'options',
};

/** The rules of the team as forms, or of the channel that a card is about. */
const panel: Panel = {
  values: rulesGroup('Models and lengths', ['models', 'seconds', 'resolutions', 'clips']),
  words: rulesGroup('Words and style', ['style', 'words']),
  people: rulesGroup('People', ['create', 'decide', 'review']),
};

function rulesGroup(title: string, names: readonly RuleName[]): PanelGroup {
  return {
    label: `${title}…`,
    title,
    isAboutOne: 'also',
    fields: async (ports, caller, about) => {
      const { policy: stored = NO_POLICY, styles = [] } = await ports.settings.get(teamOf(caller));
      const rules = about === null ? stored.team : rulesAt(stored, { channel: about });
      const choices = {
        models: ports.catalog().models.map(({ name, title: label }) => ({ value: name, label })),
        resolutions: asChoices(RESOLUTIONS),
        clips: asChoices(Array.from({ length: MAX_SET_SIZE }, (_, at) => String(at + 1))),
        style: asChoices(styles.map(({ name }) => name)),
      };
      // People are added to a list and removed from it: that of a channel is not the one that is shown.
      const isAboutOne = about !== null || names.some(isOfPeople);
      return [...(isAboutOne ? [] : [CHANNEL]), ...names.flatMap((name) => ruleFields(name, rules[name], choices))];
    },
    subject: (_ports, _caller, about) => ({ channel: [`<#${about}>`] }),
  };
}

const CHANNEL: PanelField = {
  option: 'channel',
  label: 'Only in a channel',
  values: [],
  note: 'Then what you change below is that channel’s own rule; empty: the team’s, which are shown',
  isSubject: true,
};

/** Returns the fields of a rule: two for forbidden words, which are added and removed. */
function ruleFields(
  name: RuleName,
  value: PolicyRules[RuleName],
  choices: Partial<Record<RuleName, readonly FieldChoice[]>>,
): readonly PanelField[] {
  const { label } = RULE_WORDS[name];
  if (name === 'words') {
    const removed = { name: 'allowed', with: { change: ['remove'] }, note: 'Removes forbidden words, by commas' };
    return [
      { option: name, label: 'Forbid words', values: [] },
      { option: name, label: 'Allow words again', values: [], ...removed },
    ];
  }
  const list = name === 'models' || name === 'resolutions' ? 'whole' : isOfPeople(name) ? 'each' : undefined;
  const some = choices[name];
  return [
    {
      option: name,
      label,
      values: value === undefined || value === 'any' ? [] : writtenRule(value),
      ...(list === undefined ? {} : { list }),
      ...(isOfPeople(name) ? { emptied: { off: [name] }, note: 'Administrators always may; empty: no rule' } : {}),
      ...(some === undefined ? {} : { choices: some }),
    },
  ];
}

function isOfPeople(name: RuleName): boolean {
  return RULE_WORDS[name].option.kind === 'approver';
}

/** Writes the value of a rule as it may be typed. */
function writtenRule(value: Exclude<PolicyRules[RuleName], 'any' | undefined>): readonly string[] {
  if (typeof value !== 'object') return [String(value)];
  if ('max' in value) return [String(value.max)];
  const lengths = value.filter((one) => typeof one === 'number');
  if (lengths.length > 0) return [lengths.length === 1 ? `only ${lengths[0]}` : lengths.join(', ')];
  return value.map((one) => (typeof one === 'object' ? approverValue(one) : String(one)));
}

/** `/video policy`: shows what is allowed, and changes it. */
export const policy: Subcommand = {
  declaration,
  panel,
  run: async (ports, caller, given) => {
    const place = await placeOf(ports, caller, optionValue(given, 'channel'));
    if (place === null) return refused(channelUnknown('channel'));
    return isAnyGiven(given, 'channel') ? change(ports, caller, given, place) : show(ports, caller, place, null);
  },
};

/** Channel that was named, or `null` with the one of the caller; undefined: none was named. */
interface PolicyPlaceGiven {
  readonly named: string | null;
  readonly here: string;
}

/** Returns the channel to show or change; `null` for one that the caller does not see. */
async function placeOf(ports: BotPorts, caller: Caller, typed: string | undefined): Promise<PolicyPlaceGiven | null> {
  const here = spendChannel(caller);
  if (typed === undefined) return { named: null, here };
  const channel = channelNamed(typed);
  if (channel === caller.channel) return { named: here, here };
  const { view, parent } = await rightsIn(ports, caller, channel);
  return view ? { named: parent ?? channel, here } : null;
}

async function change(ports: BotPorts, caller: Caller, given: GivenOptions, place: PolicyPlaceGiven): Promise<Reply> {
  const isRemoval = optionValue(given, 'change')?.toLowerCase() === 'remove';
  const { values, problems } = await readOptions<RuleName, RulesPatch[RuleName]>(given, {
    names: RULE_NAMES,
    optionOf: (name) => name,
    valueOfOff: () => null,
    read: (name, typed) => readRule(ports, caller, { name, typed, isRemoval }),
  });
  if (problems.length > 0) return refusedWith(problems);
  const changed = (before: Policy): Policy =>
    changedPolicy(before, place.named, patchOf(values, rulesOf(before, place), isRemoval));
  const { policy: stored = NO_POLICY, revision } = await ports.settings.get(teamOf(caller));
  const allowed = allowedCatalog(ports.catalog(), valueRules(rulesOf(changed(stored), place)));
  if (allowed.withheld === undefined)
    return refused(
      'With these rules, no model could make a clip: /video models shows what each offers. Nothing was changed.',
    );
  const after = await ports.settings.change(teamOf(caller), byCommand(caller), ({ policy: before = NO_POLICY }) => ({
    policy: changed(before),
  }));
  return show(ports, caller, place, after.revision !== revision);
}

/** Returns the changes of a place, where lists of people and words begin with what applies there. */
function patchOf(values: ReadonlyMap<RuleName, unknown>, applied: PolicyRules, isRemoval: boolean): RulesPatch {
  const changed = [...values].flatMap(([name, value]): readonly (readonly [string, unknown])[] => {
    if (!Array.isArray(value) || !(name === 'words' || isOfPeople(name))) return [[name, value]];
    const before = applied[name];
    // An empty list is a rule: it leaves administrators alone.
    if (isRemoval && !Array.isArray(before)) return [];
    return [[name, listAfter(Array.isArray(before) ? before : [], value, isRemoval)]];
  });
  return Object.fromEntries(changed);
}

function rulesOf(policy: Policy, { named }: PolicyPlaceGiven): PolicyRules {
  return named === null ? policy.team : rulesAt(policy, { channel: named });
}

/**
 * Shows the rules of a channel or of the team, with where each comes from.
 * @param isChanged whether a rule was just changed; `null` if none was to be.
 */
async function show(
  ports: BotPorts,
  caller: Caller,
  { named, here }: PolicyPlaceGiven,
  isChanged: boolean | null,
): Promise<Reply> {
  const { policy: stored = NO_POLICY } = await ports.settings.get(teamOf(caller));
  const channel = named ?? (isChanged === null ? here : null);
  const rules = channel === null ? stored.team : rulesAt(stored, { channel });
  const own = channel === null ? {} : channelRules(stored, channel);
  const names = RULE_NAMES.filter((name) => rules[name] !== undefined);
  const title: Line =
    channel === null ? ['Allowed in this team'] : channel === here ? ['Allowed here'] : ['Allowed in ', { channel }];
  const others = Object.keys(stored.channels).filter((one) => one !== channel);
  const buttons = panelButtons(caller, declaration, panel, named);
  const card = layOut(
    [
      heading(...title),
      savedLine(isChanged),
      names.length === 0 && ['Everything that the models offer, for everyone.'],
      ...names.map((name) => {
        const line = labelled(RULE_WORDS[name].label, ...ruleLine(name, rules, ports.catalog()));
        return facts(line, own[name] !== undefined && 'this channel’s own rule');
      }),
      ...closingLines(caller, others).map((line) => small(...line)),
    ],
    { buttons },
  );
  return privately(card);
}

function ruleLine(name: RuleName, rules: PolicyRules, catalog: Catalog): Line {
  const value = rules[name];
  if (value === 'any') return [RULE_WORDS[name].option.kind === 'approver' ? 'everyone' : 'any'];
  return (RULE_WORDS[name].shown as (value: unknown, catalog: Catalog) => Line)(value, catalog);
}

/** Says who changes a rule, and how. @param others channels with rules that are not shown. */
function closingLines({ fields, mayAdminister }: Caller, others: readonly string[]): readonly Line[] {
  const command = nameOf(declaration, fields);
  if (!mayAdminister) return [['Administrators change this with ', { code: command }, '.']];
  const channels = others.map((channel): Line => [{ channel }]);
  const example = fields === undefined ? `${command} --seconds 8` : `${command} seconds:8`;
  return present([
    channels.length > 0 && ['Channels with rules of their own: ', ...joinLines(channels), '.'],
    [
      'To change a rule: ',
      { code: example },
      '. With ',
      { code: 'channel' },
      ' it is that channel’s own; ',
      { code: 'off' },
      ' removes it.',
    ],
  ]);
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

/** Value of a rule as it was typed, to be added to a list or removed from it. */
interface TypedRule {
  readonly name: RuleName;
  readonly typed: string;
  readonly isRemoval: boolean;
}

async function readRule(ports: BotPorts, caller: Caller, rule: TypedRule): Promise<Read<PolicyRules[RuleName]>> {
  const { name, typed } = rule;
  if (ANY.has(typed.toLowerCase())) return { value: 'any' };
  switch (name) {
    case 'models':
      return readNames(
        name,
        typed,
        ports.catalog().models.map((model) => model.name),
      );
    case 'seconds':
      return readSeconds(typed);
    case 'resolutions': {
      const read = readNames(name, typed, RESOLUTIONS);
      return 'problem' in read ? read : { value: RESOLUTIONS.filter((one) => read.value.includes(one)) };
    }
    case 'clips': {
      const number = /^\d{1,2}$/u.test(typed) ? Number(typed) : 0;
      const isAllowed = number >= 1 && number <= MAX_SET_SIZE;
      if (isAllowed) return { value: number };
      return { problem: `clips: ${quoted(typed, 40)} isn’t a number of clips. Choose 1 to ${MAX_SET_SIZE}, or any.` };
    }
    case 'style':
      return readStyle(ports, caller, typed);
    case 'words':
      return readWords(typed);
    case 'create':
    case 'decide':
    case 'review':
      return readPeople(ports, caller, rule);
  }
}

async function readStyle({ settings }: BotPorts, caller: Caller, typed: string): Promise<Read<string>> {
  const { styles = [] } = await settings.get(teamOf(caller));
  const style = styleNamed({ styles }, typed);
  if (style !== undefined) return { value: style.name };
  const names = styles.map(({ name }) => name);
  const known = names.length === 0 ? 'Add it first with /video style' : `Choose ${either(names)}`;
  return { problem: `style: there is no style ${quoted(typed, 40)}. ${known}, or any.` };
}

function itemsOf(typed: string): readonly string[] {
  const items = typed.split(/[,;\n]/u).map((item) => item.trim());
  return [...new Set(items.filter((item) => item !== ''))];
}

/** Returns the names as they are known, without regard to case. */
function readNames(option: RuleName, typed: string, known: readonly string[]): Read<readonly string[]> {
  const items = itemsOf(typed);
  const found = items.map((item) => known.find((one) => one.toLowerCase() === item.toLowerCase()));
  const wrong = items.find((_, index) => found[index] === undefined) ?? (items.length === 0 ? '' : undefined);
  if (wrong === undefined) return { value: found.filter((one) => one !== undefined) };
  const choice = `Choose from ${all(known)}, separated by commas, or any.`;
  return { problem: `${option}: ${quoted(wrong, 40)} isn’t known. ${choice}` };
}

/** Reads `8` and `up to 8` as the longest, `4, 6` and `only 8` as a list. */
function readSeconds(typed: string): Read<NonNullable<PolicyRules['seconds']>> {
  const [, only = '', rest = ''] = /^(only\s+)?(?:up to\s+|max\s+)?(.*)$/iu.exec(typed) ?? [];
  const items = itemsOf(rest).map((item) => (/^\d{1,4}\s?s?$/iu.test(item) ? Number.parseInt(item, 10) : 0));
  if (items.length === 0 || items.includes(0)) {
    const choice = 'Write the longest one, such as 8, those allowed, such as 4, 6, or any.';
    return { problem: `seconds: ${quoted(typed, 40)} isn’t a length. ${choice}` };
  }
  const [first = 0] = items;
  const isMaximum = items.length === 1 && only === '';
  return { value: isMaximum ? { max: first } : items.toSorted((one, other) => one - other) };
}

function readWords(typed: string): Read<readonly string[]> {
  const words = itemsOf(typed);
  const isFine = words.length > 0 && words.length <= MAX_WORDS;
  const long = words.find((word) => Array.from(word).length > MAX_WORD_LENGTH || isSameWord(word, ''));
  if (isFine && long === undefined) return { value: words };
  const most = `up to ${MAX_WORDS} words or phrases of up to ${MAX_WORD_LENGTH} characters`;
  return { problem: `words: write ${most}, separated by commas.` };
}

async function readPeople(
  ports: BotPorts,
  caller: Caller,
  { name: option, typed, isRemoval }: TypedRule,
): Promise<Read<readonly Approver[] | 'any'>> {
  const who = await approverNamed(ports, caller, typed);
  if (who === null) return { problem: unknownApprover(withoutMarkup(typed), option) };
  // The role of all members on Discord.
  if (who.kind === 'role' && who.id === caller.team) return { value: 'any' };
  // Whoever has left can still be taken off.
  const problem = isRemoval ? null : await approverProblem(ports, caller, who, option);
  return problem === null ? { value: [who] } : { problem };
}
