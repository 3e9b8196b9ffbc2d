import { createHash } from 'node:crypto';
import { type Catalog, settingNamed } from '#src/videos/index.ts';
import type { Command, FieldChoice, FormField, GivenOptions, OptionDeclaration } from '../bot-port.ts';
import { formatCount } from '../sentences/format.ts';
import { formChoices, modelChoices } from '../sentences/settings.ts';
import { field } from '../ui/form-ids.ts';
import { pickIn } from '../ui/picks.ts';
import { currenciesOf } from './amounts.ts';
import { asChoices } from './options.ts';
import type { PanelField } from './panels.ts';
import { timeZones } from './time-zones.ts';

/** Values of a list that a field shows, and takes at most: Discord's selects take 25. */
const MAX_SHOWN = 20;
const MAX_CHOSEN = 25;
/** Longest text that the forms of every platform take. @see https://docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element */
const MAX_TEXT_LENGTH = 3000;
/** Characters of a mark: 20 of them, with a name, are the id of a component, 100 characters on Discord. */
const MARK_LENGTH = 4;

/** Builds the fields of a form, whose names tell which values they showed. */
export function formFields(command: Command, fields: readonly PanelField[], catalog: Catalog): readonly FormField[] {
  return fields.map((one) => {
    const option = optionOf(command, one);
    const shown = shownIn(one, option);
    const { label, required = false, list, note = option.description } = one;
    return field(nameOf(one, shown), label, {
      value: isSwitch(option) ? (shown[0] ?? 'off') : shown.join('\n'),
      required,
      note: hiddenNote(one, shown) ?? note,
      ...controlOf(one, option, catalog),
      ...(list === undefined ? {} : { most: MAX_CHOSEN }),
    });
  });
}

/** What was changed in a field, as options. */
export interface FieldChange {
  readonly field: PanelField;
  readonly given: GivenOptions;
  /** True for a value of a list that is removed. */
  readonly isRemoval: boolean;
  /** The list is another one by now than the form showed. */
  readonly isOutdated: boolean;
}

/** Reads what a person changed in a form: fields that show what they showed are none. */
export function changesIn(
  command: Command,
  fields: readonly PanelField[],
  entered: Readonly<Record<string, string>>,
): readonly FieldChange[] {
  return Object.entries(entered).flatMap(([named, text]) => {
    const [name = '', marks = ''] = named.split('~');
    const one = fields.find((each) => (each.name ?? each.option) === name);
    if (one === undefined) return [];
    const shown = marks.match(new RegExp(`.{${MARK_LENGTH}}`, 'gu')) ?? [];
    return changesOf(one, optionOf(command, one), { shown, text });
  });
}

/** Returns the name in the form of the field of an option; `null` for one that it has no field for. */
export function fieldNamed(
  fields: readonly PanelField[],
  entered: Readonly<Record<string, string>>,
  option: string | null,
): string | null {
  const names = fields.filter((one) => one.option === option).map((one) => one.name ?? one.option);
  return Object.keys(entered).find((name) => names.includes(name.split('~')[0] ?? '')) ?? null;
}

interface Entered {
  /** Marks of the values that the field showed. */
  readonly shown: readonly string[];
  readonly text: string;
}

function changesOf(one: PanelField, option: OptionDeclaration, { shown, text }: Entered): readonly FieldChange[] {
  const lines = one.list === undefined ? [text] : text.split(one.list === 'whole' ? /[\n,]/u : '\n');
  const values = lines.map((value) => value.trim()).filter((value) => value !== '');
  const marks = values.map(markOf);
  const isShown = (now: readonly string[]) => now.length === shown.length && now.every((mark) => shown.includes(mark));
  if (isShown(marks)) return [];
  const isOutdated = one.list === 'whole' && !isShown(shownIn(one, option).map(markOf));
  const change = (given: GivenOptions, isRemoval = false) => ({ field: one, given, isRemoval, isOutdated });
  if (option.kind === 'flag') return text === 'on' ? [change({ [option.name]: [''] })] : [];
  const isEmptied = values.length === 0 || (one.unit !== undefined && /^off$/iu.test(text.trim()));
  const { emptied = one.list === 'each' ? undefined : { off: [option.name] } } = one;
  // A value that somebody else added since is left alone.
  const isWhole = one.list !== 'each' || one.values.every((value) => shown.includes(markOf(value)));
  if (isEmptied && isWhole && emptied !== undefined) return [change(emptied)];
  if (one.list !== 'each') return [change({ [option.name]: [withUnit(values.join(', '), one.unit)] })];
  const added = values.filter((value) => !shown.includes(markOf(value)));
  const removed = one.values.filter((value) => shown.includes(markOf(value)) && !marks.includes(markOf(value)));
  return [
    ...removed.map((value) => change({ [option.name]: [value] }, true)),
    ...added.map((value) => change({ [option.name]: [value] })),
  ];
}

function withUnit(value: string, unit: string | undefined): string {
  return unit !== undefined && /^\d+(?:\.\d+)?$/u.test(value) ? `${value} ${unit}` : value;
}

function optionOf({ name, options }: Command, { option }: PanelField): OptionDeclaration {
  const found = options.find((one) => one.name === option);
  if (found === undefined) throw new TypeError(`the panel of ${name}: there is no option ${option}`);
  return found;
}

function nameOf({ name, option }: PanelField, shown: readonly string[]): string {
  return `${name ?? option}~${shown.map(markOf).join('')}`;
}

/** Returns the values that a field shows: of a list as many as fit, of a whole value all or nothing. */
function shownIn({ values, list }: PanelField, option: OptionDeclaration): readonly string[] {
  if (option.kind === 'flag') return ['off'];
  if (list === 'each') return values.slice(0, MAX_SHOWN);
  const most = list === 'whole' ? MAX_TEXT_LENGTH : lengthOf(option);
  return values.length > MAX_SHOWN || values.join(', ').length > most ? [] : values;
}

function lengthOf({ maxLength = 200 }: OptionDeclaration): number {
  return Math.min(maxLength, MAX_TEXT_LENGTH);
}

function hiddenNote({ values }: PanelField, shown: readonly string[]): string | null {
  if (shown.length >= values.length) return null;
  if (shown.length === 0) return 'Too long to be shown here. What you write replaces it; empty leaves it as it is.';
  return `Only ${shown.length} of ${formatCount(values.length)} fit here; the others stay as they are.`;
}

/** Marks a value that was shown, to find out what was changed; without the name, which a platform may not send back. */
function markOf(value: string): string {
  const text = (pickIn(value)?.id ?? value).replace(/\s+/gu, ' ').trim();
  return createHash('sha256').update(text).digest('base64url').slice(0, MARK_LENGTH);
}

function isSwitch({ kind, choices = [] }: OptionDeclaration): boolean {
  return kind === 'flag' || (choices.length > 0 && choices.every(({ value }) => value === 'on' || value === 'off'));
}

function controlOf(one: PanelField, option: OptionDeclaration, catalog: Catalog): Partial<FormField> {
  const { kind, isList } = option;
  if (isSwitch(option)) return { control: 'switch' };
  if (kind === 'person' || kind === 'approver' || kind === 'channel') return { control: kind };
  const all = one.choices ?? option.choices ?? choicesOf(option, catalog);
  if (all !== undefined && all.length > 0) return { choices: { title: one.label, placeholder: 'None', all } };
  return { long: isList === true && lengthOf(option) > 200, maxLength: lengthOf(option) };
}

/** Returns what an option's suggestions offer, where there are few enough kinds of them to choose from. */
function choicesOf({ name, autocomplete }: OptionDeclaration, catalog: Catalog): readonly FieldChoice[] | undefined {
  switch (autocomplete) {
    case 'model':
      return modelChoices(catalog).all;
    case 'setting': {
      const setting = settingNamed(name);
      return setting === undefined ? undefined : formChoices(catalog, setting)?.all;
    }
    case 'currency':
      return asChoices(currenciesOf(catalog));
    case 'time_zone':
      return asChoices(timeZones());
    default:
      return undefined;
  }
}
