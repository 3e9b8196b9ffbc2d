import {
  allowedStyles,
  type Catalog,
  MAX_TAKES,
  MEDIA_KINDS,
  type Model,
  offerInWords,
  settingNamed,
} from '#src/videos/index.ts';
import type { Caller, Command, GivenOptions, OptionDeclaration, OptionFields } from './bot-port.ts';
import { nearest } from './input/closest-match.ts';
import { optionValue } from './input/options.ts';
import { commandName, permittedCommands, withoutAdministration } from './input/permitted-commands.ts';
import { privately, refused, type SteeringHint, type Subcommand } from './input/subcommand.ts';
import { parseText } from './input/text.ts';
import { administratorsOnly } from './sentences/access.ts';
import { isForAdministrators, nameOf } from './sentences/command-name.ts';
import { all, either, formatCount, formatRange, uncapitalised } from './sentences/format.ts';
import { ACTIONS } from './sentences/forms.ts';
import { unknownCommand } from './sentences/refusals.ts';
import { promptWords, withDefault } from './sentences/settings.ts';
import { type Block, type Card, facts, heading, item, joinLines, type Line, layOut, small } from './ui/card.ts';

/** Creates `/video help`, which shows every command on one screen, or one of them. @param others all other commands. */
export function helpOn(others: readonly Command[]): Subcommand {
  const commands = [...others, declaration];
  return {
    declaration,
    run: async (ports, caller, given) => {
      const { catalog, steering } = ports;
      const { fields } = caller;
      const { commands: shown, refusal } = await permittedCommands(ports, caller, commands);
      const exampleOf = exampleIn(fields, commands, catalog());
      const subject = { commands: shown, catalog: catalog(), steering, fields, exampleOf, notice: refusal };
      const typed = optionValue(given, 'command');
      if (typed === undefined) return privately(helpCard(subject));
      const name = commandName(typed);
      const isNamed = (one: Command): boolean => one.name === name || one.alias?.name === name;
      const command = shown.find(isNamed);
      if (command !== undefined) return privately(commandHelpCard(subject, command));
      const hidden = commands.find(isNamed);
      if (hidden?.buys === true && refusal !== null) return refused(refusal);
      if (hidden !== undefined) return refused(administratorsOnly(caller.platform));
      const names = shown.map((one) => one.name);
      return refused(unknownCommand(name, names, nearest(name, names)));
    },
  };
}

interface HelpSubject {
  readonly commands: readonly Command[];
  readonly catalog: Catalog;
  readonly steering: readonly SteeringHint[];
  /** The platform's fields for options; undefined if options are typed as flags. */
  readonly fields: OptionFields | undefined;
  /** Returns a command's example in the platform's syntax. */
  readonly exampleOf: (command: Command) => string;
  /** Why the reader may not order clips here; `null` if they may. */
  readonly notice: string | null;
}

/** Groups of the help, in order; the last one also contains all other commands. */
const GROUPS: readonly (readonly [heading: string, commands: readonly string[]])[] = [
  ['Create', ['create', 'compare', 'retry', 'cancel', 'delete', 'storyboard']],
  ['Find', ['status', 'list', 'gallery', 'models']],
  ['Money', ['usage', 'approvals']],
  ['More', []],
];

/** Shows all commands in groups on one screen, `create` with the range and default of each option. */
function helpCard(subject: HelpSubject): Card {
  const { commands, fields, exampleOf, steering, notice } = subject;
  const [first] = commands;
  const example = first === undefined ? '/video help' : exampleOf(first);
  const shortest = commands.flatMap((command) => aliasOf(command, fields) ?? [])[0]?.name ?? 'video create';
  const start: Line =
    notice !== null
      ? [{ untrusted: notice }, ' For example: ']
      : fields === undefined
        ? ['Type ', { code: '/video' }, ' and what the clip should show. Everything else has a default. For example: ']
        : [
            'Pick ',
            { code: `/${shortest}` },
            ' and write what the clip should show. Everything else has a default. For example: ',
          ];
  return layOut([
    [...start, { code: example }],
    ...GROUPS.flatMap(([title, names], index) => {
      const isLast = index === GROUPS.length - 1;
      const known = GROUPS.flatMap(([, some]) => some);
      const usual = commands.filter(({ isAdministrative }) => isAdministrative !== true).map(withoutAdministration);
      const some = usual.filter(({ name }) => names.includes(name) || (isLast && !known.includes(name)));
      return some.length === 0 ? [] : [heading(title), ...some.flatMap((command) => commandBlocks(command, subject))];
    }),
    ...administrationBlocks(subject),
    { kind: 'divider' },
    small(...closingLine(fields)),
    steering.length > 0 && small(...steeringLine(steering)),
  ]);
}

/** Lists the administrative commands in short: the help on one of them shows its options. */
function administrationBlocks({ commands, fields }: HelpSubject): readonly (Block | Line)[] {
  const administrative = commands.filter(isForAdministrators);
  if (administrative.length === 0) return [];
  const prefix = fields?.administration;
  const lines = administrative.map((command): Line => {
    const name = prefix === undefined ? nameOf(command, fields) : command.name;
    return [{ code: name }, ` ${command.description}`];
  });
  const where: Line = prefix === undefined ? [] : [' with ', { code: prefix }];
  return [heading('Administer', ...where), ...lines];
}

/** Shows one command: its description, its options with range and default, and an example. */
function commandHelpCard(subject: HelpSubject, command: Command): Card {
  const alias = aliasOf(command, subject.fields);
  return layOut([
    item([{ code: usageOf(command, subject.fields) }], [command.description]),
    ...command.options.map((option): Line => ['• ', ...optionWords(option, subject)]),
    ['For example: ', { code: subject.exampleOf(command) }],
    alias && ['In short: ', { code: `/${alias.name}` }, `, with ${all(alias.fields)}.`],
    small(...relatedWords(command, subject), { code: '/video help' }, ' shows every command.'),
  ]);
}

/** Returns the alias of a command; `undefined` where it has none on this platform. */
function aliasOf({ alias }: Command, fields: OptionFields | undefined): Command['alias'] {
  return fields?.hasAliases === true ? alias : undefined;
}

/** Commands related to each, in the order in which the help on it names them. */
const RELATED: Readonly<Record<string, readonly string[]>> = {
  create: ['compare', 'storyboard', 'models', 'defaults'],
  compare: ['create', 'models', 'defaults'],
  storyboard: ['create', 'compare', 'models'],
  status: ['list', 'cancel', 'gallery'],
  list: ['status', 'gallery', 'retry'],
  gallery: ['list', 'status', 'delete'],
  cancel: ['status', 'delete', 'retry'],
  retry: ['list', 'create', 'compare'],
  delete: ['cancel', 'list', 'privacy'],
  models: ['compare', 'defaults', 'policy'],
  usage: ['budget', 'approvals', 'models'],
  notify: ['status', 'list'],
  defaults: ['models', 'create', 'policy'],
  privacy: ['delete', 'erase_person'],
  style: ['create', 'policy', 'defaults'],
  policy: ['models', 'style', 'budget', 'approvers', 'review'],
  approvals: ['approvers', 'usage', 'budget'],
  budget: ['usage', 'approvers', 'pause', 'settings'],
  statement: ['usage', 'audit', 'budget'],
  approvers: ['approvals', 'settings', 'budget'],
  settings: ['budget', 'approvers', 'policy', 'audit'],
  review: ['policy', 'settings', 'gallery'],
  library: ['create', 'models'],
  pause: ['budget', 'settings', 'audit'],
  audit: ['settings', 'statement'],
  erase_person: ['privacy', 'audit'],
};

/** Names the related commands among those that the reader may run; nothing if there is none. */
function relatedWords({ name }: Command, { commands, fields }: HelpSubject): Line {
  const related = (RELATED[name] ?? []).flatMap((one) => commands.filter((command) => command.name === one));
  const names = related.map((one) => [{ code: nameOf(one, fields) }]);
  return related.length === 0 ? [] : ['Related: ', ...joinLines(names), '. '];
}

function closingLine(fields: OptionFields | undefined): Line {
  const reactions = 'React to a clip with 🔁 for another take, with ❌ to cancel it.';
  const more: Line = [
    { code: '/video help' },
    ' and a command’s name shows its options, their defaults and an example.',
  ];
  if (fields !== undefined)
    return [
      ...more,
      ` On a message: Apps › ${ACTIONS.animate}, ${ACTIONS.storyboard} or ${ACTIONS.retake}. ${reactions}`,
    ];
  return ['Options are typed as ', { code: '--seconds 6' }, '. ', ...more, ` ${reactions}`];
}

function usageOf(command: Command, fields: OptionFields | undefined): string {
  return withOptions(
    command,
    command.options.filter(({ positional }) => positional),
    fields,
  );
}

function withOptions(
  command: Command,
  options: readonly OptionDeclaration[],
  fields: OptionFields | undefined,
): string {
  return [nameOf(command, fields), ...options.map((option) => usageWord(option, fields))].join(' ');
}

/**
 * Shows a command among all: `create` with the ranges and defaults of its options, the others with the names of theirs,
 * so that all of them fit into one message, also for administrators.
 */
function commandBlocks(command: Command, subject: HelpSubject): readonly (Block | Line)[] {
  const { commands, fields } = subject;
  const create = commands.find(({ name }) => name === 'create');
  if (command.name === 'create') {
    const hasStyles = allowedStyles(subject.catalog).length > 0;
    const usable = command.options.filter(({ autocomplete }) => autocomplete !== 'style' || hasStyles);
    const words = facts(...usable.map((option) => optionWords(option, subject)));
    return [[{ code: usageOf(command, fields) }, ` ${command.description}`], small(...words)];
  }
  const isShared = ({ name, positional }: OptionDeclaration): boolean =>
    command.buys === true && positional !== true && create?.options.some((option) => option.name === name) === true;
  const own = command.options.filter((option) => !isShared(option));
  const more = own.length < command.options.length ? [' · and options of ', { code: 'create' }] : [];
  return [[{ code: withOptions(command, own, fields) }, ` ${command.description}`, ...more]];
}

function usageWord(option: OptionDeclaration, fields: OptionFields | undefined): string {
  const [name = option.name] = option.perLine === true ? fieldNames(option, fields) : [];
  return option.required ? name : `[${name}]`;
}

/** Returns the names of the platform's fields for an option; its own name where options are typed as flags. */
function fieldNames(option: OptionDeclaration, fields: OptionFields | undefined): readonly string[] {
  const files = fields?.files[option.name] ?? [];
  // Fields cannot have several lines: only a file has.
  if (option.perLine === true && files.length > 0) return files;
  return [...files, fields?.links[option.name] ?? option.name];
}

function optionWords(option: OptionDeclaration, subject: HelpSubject): Line {
  const { fields } = subject;
  const codes = fieldNames(option, fields).map((code) => [{ code }]);
  return [...joinLines(codes), ': ', { untrusted: meaningOf(option, subject) }];
}

/** Describes an option: what its range does not say, in words, with its range and default. */
function meaningOf(option: OptionDeclaration, { catalog, fields }: HelpSubject): string {
  const { range, description, defaultWords } = option;
  if (range !== undefined) return withDefault(range, defaultWords);
  const general = generalRange(option, fields !== undefined);
  const words = uncapitalised(description);
  return (
    catalogRange(option, catalog, fields) ??
    withDefault(general === null ? words : `${words} · ${general}`, defaultWords)
  );
}

/** Describes the values of an option that the catalog defines, with their default; `null` for any other option. */
function catalogRange(option: OptionDeclaration, catalog: Catalog, fields: OptionFields | undefined): string | null {
  const { name, autocomplete, isAdministrative = false } = option;
  if (name === 'takes') {
    const max = Math.min(option.max ?? MAX_TAKES, catalog.policy?.clips ?? MAX_TAKES);
    return withDefault(max === 1 ? '1' : `1 to ${max}`, option.defaultWords);
  }
  if (name === 'prompt') return byModel(catalog, promptWords);
  if (autocomplete === 'model')
    return withDefault(
      either(catalog.models.map((model) => model.name)),
      isAdministrative ? undefined : catalog.defaultModel.name,
    );
  const setting = autocomplete === 'setting' ? settingNamed(name) : undefined;
  if (setting !== undefined)
    return byModel(catalog, (model) => {
      const usual = isAdministrative ? undefined : setting.defaultOf(model);
      const values = either(offerInWords(setting.offerOf(model))) || 'not taken';
      return withDefault(values, usual === undefined ? undefined : String(usual));
    });
  if (autocomplete === 'style' && !isAdministrative)
    return either(allowedStyles(catalog).map((style) => style.name)) || 'a style';
  const kind = MEDIA_KINDS.find((one) => one === name);
  if (kind !== undefined)
    return `${fields === undefined ? 'links' : 'files or links'}, ${byModel(catalog, ({ media }) => formatRange(media[kind]))}`;
  return null;
}

/** Describes the values of an option, as far as its description does not; `null` for nothing to add. */
function generalRange(
  { kind, choices, perLine, maxLength, autocomplete, positional, defaultWords }: OptionDeclaration,
  hasFields: boolean,
): string | null {
  if (perLine === true) return hasFields ? 'a text file' : null;
  if (choices !== undefined) return either(choices.map(({ value }) => value));
  switch (kind) {
    // Fields have a picker for people, without a word for oneself or everyone.
    case 'person':
      if (hasFields) return 'a person';
      return defaultWords === 'everyone' ? 'everyone, me or @name' : 'me or @name';
    case 'channel':
      return 'a channel';
    case 'flag':
      return hasFields ? 'True or False (default False)' : null;
    case 'text':
      if (maxLength === undefined || positional !== true || autocomplete !== undefined) return null;
      return `up to ${formatCount(maxLength)} characters`;
    default:
      return null;
  }
}

/** Largest number of different ranges shown side by side; more would be unreadable. */
const MAX_RANGES = 3;

/** Describes each model's range; groups models with the same range, the default model's group first. */
function byModel({ models, defaultModel }: Catalog, wordsOf: (model: Model) => string): string {
  const ordered = [defaultModel, ...models.filter((model) => model !== defaultModel)];
  const groups = [...Map.groupBy(ordered, wordsOf)];
  const [first] = groups;
  if (first === undefined || groups.length === 1) return first?.[0] ?? '';
  if (groups.length > MAX_RANGES) return `${first[0]} for ${defaultModel.title}; for others see /video models`;
  return groups.map(([words, some]) => `${words} for ${all(some.map(({ title }) => title))}`).join('; ');
}

function steeringLine(hints: readonly SteeringHint[]): Line {
  const directives = hints.map(({ write, effect }): Line => [{ code: write }, ` ${effect}`]);
  const where = 'No video service is connected, so clips come from the built-in sandbox. In a prompt: ';
  return [where, ...facts(...directives), '.'];
}

const declaration: Command = {
  name: 'help',
  description: 'Shows how to use this, or one command',
  example: '/video help notify',
  options: [
    {
      name: 'command',
      description: 'A command, such as notify',
      kind: 'text',
      positional: true,
      defaultWords: 'all of them',
      autocomplete: 'command',
    },
  ],
  visibility: 'private',
};

/** Formats a command's example for the platform: with flags, or with the platform's option fields. */
function exampleIn(
  fields: Caller['fields'],
  commands: readonly Command[],
  { models: [first, second = first] }: Catalog,
): (command: Command) => string {
  return (command) => {
    const example = command.example.replace('swift-1', first?.name ?? '').replace('epic-pro', second?.name ?? '');
    if (fields === undefined) return example;
    const { given } = parseText(example, commands);
    const alias = aliasOf(command, fields);
    const isShort = alias !== undefined && Object.keys(given).every((name) => alias.fields.includes(name));
    return [isShort ? `/${alias.name}` : nameOf(command, fields), ...fieldsOf(command, given)].join(' ');
  };
}

function fieldsOf({ options }: Command, given: GivenOptions): readonly string[] {
  const order = (name: string): number => (name === 'prompt' ? 0 : 1);
  const isPerson = (name: string): boolean =>
    options.some((option) => option.name === name && option.kind === 'person');
  return Object.entries(given)
    .toSorted(([one], [other]) => order(one) - order(other))
    .flatMap(([name, [value = '']]) => {
      if (!isPerson(name)) return [`${name}:${value}`];
      // A picker has neither everyone, whom leaving it out means, nor a word for oneself.
      return value === 'everyone' ? [] : [`${name}:${value === 'me' ? '@you' : value}`];
    });
}
