import { type Catalog, defaultResolution, defaultSeconds, type Model, secondsInWords } from '#src/videos/model.ts';
import type { Card, Line } from '../card.ts';
import type { Command, OptionDeclaration } from '../command.ts';
import type { SteeringHint } from '../subcommand.ts';
import { all, either, formatRange } from './format.ts';
import { promptWords, withDefault } from './models.ts';

/** What the help is made from. */
export interface HelpSubject {
  readonly commands: readonly Command[];
  readonly catalog: Catalog;
  readonly steering: readonly SteeringHint[];
}

/** Every command, every option with its range and default, on one screen. */
export function helpCard({ commands, catalog, steering }: HelpSubject): Card {
  return {
    lines: [
      [
        'Write ',
        { code: '/video' },
        ' and what the clip should show; everything else has a default. For example: ',
        { code: exampleOf(commands) },
      ],
      ...commands.flatMap((command) => commandLines(command, catalog)),
      [
        'Typed as text, options are flags, as in ',
        { code: '--seconds 6' },
        '. Reacting to a clip with ',
        '🔁',
        ' makes it again, with ',
        '❌',
        ' cancels it.',
      ],
      ...steeringLines(steering),
    ],
    progress: null,
    buttons: [],
  };
}

function exampleOf([first]: readonly Command[]): string {
  return first?.example ?? '/video help';
}

/** A command with many options has a line for each; the others fit into one. */
const MOST_IN_ONE_LINE = 3;

function commandLines(command: Command, catalog: Catalog): readonly Line[] {
  const usage = command.options.filter(({ positional }) => positional).map(positionalWords);
  const head: Line = [{ code: ['/video', command.name, ...usage].join(' ') }, ` ${command.description}`];
  const options = command.options.map((option) => optionWords(option, catalog));
  if (options.length > MOST_IN_ONE_LINE) return [head, ...options.map((words): Line => ['   ', ...words])];
  return [[...head, ...options.flatMap((words): Line => [' · ', ...words])]];
}

function positionalWords({ name, required }: OptionDeclaration): string {
  return required ? name : `[${name}]`;
}

function optionWords(option: OptionDeclaration, catalog: Catalog): Line {
  return [{ code: option.name }, ': ', { untrusted: rangeOf(option, catalog) }];
}

/** What an option takes, and what holds without it: from the catalog where that decides. */
function rangeOf(option: OptionDeclaration, catalog: Catalog): string {
  switch (option.name) {
    case 'prompt':
      return byModel(catalog, promptWords);
    case 'model':
      return withDefault(either(catalog.models.map(({ name }) => name)), catalog.defaultModel.name);
    case 'seconds':
      return byModel(catalog, (model) => withDefault(either(secondsInWords(model)), String(defaultSeconds(model))));
    case 'aspect':
      return byModel(catalog, ({ aspectRatios }) => withDefault(orNone(aspectRatios), aspectRatios[0]));
    case 'resolution':
      return byModel(catalog, (model) => withDefault(orNone(model.resolutions), defaultResolution(model)));
    case 'image':
    case 'audio':
    case 'video': {
      const kind = option.name;
      return `addresses, ${byModel(catalog, ({ media }) => formatRange(media[kind]))}`;
    }
    default:
      return withDefault(generalRange(option), option.defaultWords);
  }
}

function orNone(values: readonly string[]): string {
  return values.length === 0 ? 'not taken' : either(values);
}

function generalRange({ kind, maxLength, autocomplete }: OptionDeclaration): string {
  switch (kind) {
    case 'person':
      return 'everyone, me or a name';
    case 'channel':
      return 'a channel';
    case 'flag':
      return 'no value';
    case 'address':
      return 'an address';
    case 'integer':
      return 'a whole number';
    case 'text':
      if (autocomplete === 'task' || autocomplete === 'open_task') return '4 or more of its characters';
      if (autocomplete === 'month') return 'a month such as 2026-11';
      return maxLength === undefined ? 'text' : `up to ${maxLength} characters`;
  }
}

/** More ranges than this side by side are read by nobody. */
const MOST_RANGES = 3;

/** What each model takes, models that take the same together, the default model's first. */
function byModel({ models, defaultModel }: Catalog, wordsOf: (model: Model) => string): string {
  const ordered = [defaultModel, ...models.filter((model) => model !== defaultModel)];
  const groups = [...Map.groupBy(ordered, wordsOf)];
  const [first] = groups;
  if (first === undefined || groups.length === 1) return first?.[0] ?? '';
  if (groups.length > MOST_RANGES) return `${first[0]} for ${defaultModel.name}; for others see /video models`;
  return groups.map(([words, some]) => `${words} for ${all(some.map(({ name }) => name))}`).join('; ');
}

function steeringLines(hints: readonly SteeringHint[]): readonly Line[] {
  if (hints.length === 0) return [];
  const line = hints.flatMap(
    ({ write, effect }, index): Line => [index === 0 ? '' : ' · ', { code: write }, ` ${effect}`],
  );
  return [['No video service is connected, so clips are made here. In a prompt: ', ...line, '.']];
}
