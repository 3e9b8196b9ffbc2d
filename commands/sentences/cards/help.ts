import { COMPARED } from '#src/videos/comparison.ts';
import { type Catalog, type Model, offerInWords, settingNamed } from '#src/videos/model.ts';
import { MEDIA_KINDS } from '#src/videos/request.ts';
import type { Command, OptionDeclaration, OptionFields } from '../../bot-port.ts';
import type { SteeringHint } from '../../input/subcommand.ts';
import { type Block, type Card, type Line, layOut } from '../../ui/card.ts';
import { all, either, formatRange } from '../format.ts';
import { promptWords, withDefault } from '../settings.ts';

/** Input of the help cards. */
export interface HelpSubject {
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

/** Shows all commands, and their options with range and default, in groups on one screen. */
export function helpCard(subject: HelpSubject): Card {
  const { commands, fields, exampleOf, steering, notice } = subject;
  const [first] = commands;
  const example = first === undefined ? '/video help' : exampleOf(first);
  const start: Line =
    notice !== null
      ? [{ untrusted: notice }, ' For example: ']
      : fields === undefined
        ? ['Type ', { code: '/video' }, ' and what the clip should show. Everything else has a default. For example: ']
        : [
            'Pick ',
            { code: '/video create' },
            ' and write what the clip should show. Everything else has a default. For example: ',
          ];
  return layOut([
    { kind: 'text', line: [...start, { code: example }] },
    ...GROUPS.flatMap(([heading, names], index) => {
      const isLast = index === GROUPS.length - 1;
      const known = GROUPS.flatMap(([, some]) => some);
      const usual = commands.filter(({ isAdministrative }) => isAdministrative !== true).map(withoutAdministration);
      const some = usual.filter(({ name }) => names.includes(name) || (isLast && !known.includes(name)));
      const title: Block = { kind: 'heading', line: [heading] };
      return some.length === 0 ? [] : [title, ...some.map((command) => commandBlock(command, subject))];
    }),
    ...administrationBlocks(subject),
    { kind: 'divider' },
    { kind: 'small', line: closingLine(fields) },
    ...steeringLines(steering).map((line): Block => ({ kind: 'small', line })),
  ]);
}

/** Largest number of choices that are listed; more are the commands, which the help shows anyway. */
const MAX_CHOICES = 8;

/** Lists the administrative commands in short: the help on one of them shows its options. */
function administrationBlocks({ commands, fields }: HelpSubject): readonly Block[] {
  const administrative = commands.filter(isForAdministrators);
  if (administrative.length === 0) return [];
  const lines = administrative.map(
    (command): Block => ({ kind: 'text', line: [{ code: nameOf(command, fields) }, ` ${command.description}`] }),
  );
  return [{ kind: 'heading', line: ['Administer'] }, ...lines];
}

/** Shows one command: its description, its options with range and default, and an example. */
export function commandHelpCard(subject: HelpSubject, command: Command): Card {
  const options = command.options.map(
    (option): Block => ({ kind: 'text', line: ['• ', ...optionWords(option, subject)] }),
  );
  return layOut([
    { kind: 'item', title: [{ code: usageOf(command, subject.fields) }], small: [command.description] },
    ...options,
    { kind: 'text', line: ['For example: ', { code: subject.exampleOf(command) }] },
    { kind: 'small', line: [{ code: '/video help' }, ' shows every command.'] },
  ]);
}

function closingLine(fields: OptionFields | undefined): Line {
  const reactions = 'React to a clip with 🔁 for another take, with ❌ to cancel it.';
  const more: Line = [{ code: '/video help' }, ' and a command’s name shows that command.'];
  if (fields !== undefined) return [...more, ` To animate an image in a message: Apps › Animate this. ${reactions}`];
  return ['Options are typed as ', { code: '--seconds 6' }, '. ', ...more, ` ${reactions}`];
}

/** Returns a command without its options for administrators. */
function withoutAdministration(command: Command): Command {
  if (command.isAdministrative === undefined) return command;
  return { ...command, options: command.options.filter(({ isAdministrative }) => isAdministrative !== true) };
}

/** Returns the name of a command as it is typed on the platform. */
export function nameOf(command: Command, fields: OptionFields | undefined): string {
  return `${(isForAdministrators(command) ? fields?.administration : undefined) ?? '/video'} ${command.name}`;
}

/** Returns whether a command, as its user may use it, is for administrators or has options for them. */
function isForAdministrators({ isAdministrative, options }: Command): boolean {
  return isAdministrative === true || options.some((option) => option.isAdministrative === true);
}

function usageOf(command: Command, fields: OptionFields | undefined): string {
  return [nameOf(command, fields), ...command.options.filter(({ positional }) => positional).map(positionalWords)].join(
    ' ',
  );
}

function commandBlock(command: Command, subject: HelpSubject): Block {
  const create = subject.commands.find(({ name }) => name === 'create');
  const isOwn = (option: OptionDeclaration): boolean =>
    command === create || !create?.options.some(({ name }) => name === option.name);
  const own = command.options.filter(isOwn);
  const options = own.flatMap((option, index): Line => [index === 0 ? '' : ' · ', ...optionWords(option, subject)]);
  const others = own.length < command.options.length ? [' · and options of ', { code: 'create' }] : [];
  return {
    kind: 'item',
    title: [{ code: usageOf(command, subject.fields) }, ` ${command.description}`],
    small: [...options, ...others],
  };
}

function positionalWords({ name, required }: OptionDeclaration): string {
  return required ? name : `[${name}]`;
}

function optionWords(option: OptionDeclaration, { catalog, fields }: HelpSubject): Line {
  const files = fields?.files[option.name] ?? [];
  // Fields cannot have several lines: only a file has.
  const names =
    option.perLine === true && files.length > 0 ? files : [...files, fields?.links[option.name] ?? option.name];
  const codes = names.flatMap((name, index): Line => [index === 0 ? '' : ', ', { code: name }]);
  return [...codes, ': ', { untrusted: rangeOf(option, catalog, fields) }];
}

/** Describes the allowed values and default of an option, from the catalog where that defines them. */
function rangeOf(option: OptionDeclaration, catalog: Catalog, fields: OptionFields | undefined): string {
  const { name } = option;
  if (option.isAdministrative === true) return withDefault(uncapitalised(option.description), option.defaultWords);
  if (name === 'takes' && catalog.policy?.clips !== undefined) {
    const max = Math.min(option.max ?? catalog.policy.clips, catalog.policy.clips);
    return withDefault(max === 1 ? '1' : `1 to ${max}`, option.defaultWords);
  }
  if (name === 'prompt') return byModel(catalog, promptWords);
  if (name === 'model')
    return withDefault(either(catalog.models.map((model) => model.name)), catalog.defaultModel.name);
  const setting = settingNamed(name);
  if (setting !== undefined)
    return byModel(catalog, (model) => {
      const usual = setting.defaultOf(model);
      const values = either(offerInWords(setting.offerOf(model))) || 'not taken';
      return withDefault(values, usual === undefined ? undefined : String(usual));
    });
  const kind = MEDIA_KINDS.find((one) => one === name);
  if (kind !== undefined)
    return `${fields === undefined ? 'links' : 'files or links'}, ${byModel(catalog, ({ media }) => formatRange(media[kind]))}`;
  return withDefault(generalRange(option, fields !== undefined), option.defaultWords);
}

function generalRange(option: OptionDeclaration, hasFields: boolean): string {
  const { kind, maxLength, min, max, autocomplete, choices, perLine } = option;
  if (perLine === true)
    return hasFields ? 'a text file, one shot per line (default a form)' : 'one per line (default a form)';
  if (choices !== undefined)
    return choices.length > MAX_CHOICES ? 'one of these' : either(choices.map(({ value }) => value));
  switch (kind) {
    case 'person':
      return hasFields ? 'a person' : 'everyone, me or @name';
    case 'approver':
      return 'a person, role or user group';
    case 'channel':
      return 'a channel';
    case 'flag':
      return hasFields ? 'True or False (default False)' : uncapitalised(option.description);
    case 'address':
      return 'a link';
    case 'integer':
      return min === undefined || max === undefined ? 'a whole number' : `${min} to ${max}`;
    case 'text':
      if (autocomplete === 'task' || autocomplete === 'open_task') return 'the first 4 or more characters of it';
      if (autocomplete === 'models') return `${COMPARED.min} to ${COMPARED.max} models, separated by commas`;
      if (autocomplete === 'month') return 'a month such as 2026-11';
      return maxLength === undefined ? 'text' : `up to ${maxLength} characters`;
  }
}

function uncapitalised(words: string): string {
  return `${words.charAt(0).toLowerCase()}${words.slice(1)}`;
}

/** Largest number of different ranges shown side by side; more would be unreadable. */
const MAX_RANGES = 3;

/** Describes each model's range; groups models with the same range, the default model's group first. */
function byModel({ models, defaultModel }: Catalog, wordsOf: (model: Model) => string): string {
  const ordered = [defaultModel, ...models.filter((model) => model !== defaultModel)];
  const groups = [...Map.groupBy(ordered, wordsOf)];
  const [first] = groups;
  if (first === undefined || groups.length === 1) return first?.[0] ?? '';
  if (groups.length > MAX_RANGES) return `${first[0]} for ${defaultModel.name}; for others see /video models`;
  return groups.map(([words, some]) => `${words} for ${all(some.map(({ name }) => name))}`).join('; ');
}

function steeringLines(hints: readonly SteeringHint[]): readonly Line[] {
  if (hints.length === 0) return [];
  const line = hints.flatMap(
    ({ write, effect }, index): Line => [index === 0 ? '' : ' · ', { code: write }, ` ${effect}`],
  );
  return [['No video service is connected, so clips come from the built-in sandbox. In a prompt: ', ...line, '.']];
}
