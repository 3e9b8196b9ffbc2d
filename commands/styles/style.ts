import { NO_POLICY, type Policy, type TeamSettings } from '#src/teams/index.ts';
import {
  type Catalog,
  checkRequest,
  SETTINGS,
  type Style,
  splitAddresses,
  styleNamed,
  titleOf,
} from '#src/videos/index.ts';
import type { Caller, Command, FieldProblem, GivenOptions, OptionDeclaration, Reply } from '../bot-port.ts';
import { clipOption, isAnyGiven, optionValue, switchedOff } from '../input/options.ts';
import { type Panel, type PanelField, panelButtons } from '../input/panels.ts';
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
import { either, formatCount, quoted, shorten, uncapitalised } from '../sentences/format.ts';
import { refusalProblems } from '../sentences/refusals.ts';
import { savedLine } from '../sentences/saved.ts';
import { ORDER_LABELS, SETTING_WORDS, valueWords } from '../sentences/settings.ts';
import { type Card, heading, item, type Line, labelled, layOut, small, textCard } from '../ui/card.ts';

const TEXTS = ['before', 'after', 'avoid'] as const;
const NAMES = SETTINGS.map(({ name }) => name);
const PARTS = [...TEXTS, 'model', ...NAMES, 'images'] as const;

/** Longest text of a style in characters; what is sent must fit into the model's limit. */
const MAX_TEXT_LENGTH = 1000;
const MAX_NAME_LENGTH = 32;
const MAX_IMAGES = 10;

/** Styles with a button of their own in the list: as many as fit into one message of Discord. */
const MAX_CHANGE_BUTTONS = 8;

/** Most styles of a team: as many as a Discord select holds. */
const MAX_STYLES = 25;

const text = (name: string, description: string): OptionDeclaration => ({
  name,
  description,
  kind: 'text',
  isList: true,
  maxLength: MAX_TEXT_LENGTH,
  range: `${uncapitalised(description)}, up to ${formatCount(MAX_TEXT_LENGTH)} characters`,
});

const options: readonly OptionDeclaration[] = [
  { name: 'name', description: 'Name of the style', kind: 'text', positional: true, autocomplete: 'style' },
  ...[
    text('before', 'Words before each prompt'),
    text('after', 'Words after each prompt'),
    text('avoid', 'What clips should not show; added to the prompt as words'),
    { name: 'model', description: 'Model of orders that name none', kind: 'text', autocomplete: 'model' } as const,
    ...SETTINGS.map(clipOption),
    { ...text('images', 'Links to reference images, for models that take them'), alias: 'image' },
    {
      name: 'off',
      description: 'Removes this part of the style; all removes the style',
      kind: 'text',
      choices: [...PARTS, 'all'].map((value) => ({ value, label: value })),
    } as const,
  ].map((option): OptionDeclaration => ({ ...option, isAdministrative: true })),
];

const declaration: Command = {
  name: 'style',
  description: 'Shows the team’s styles',
  example: '/video style house',
  options,
  visibility: 'private',
  isAdministrative: 'options',
};

const subject = (_ports: BotPorts, _caller: Caller, name: string): GivenOptions => ({ name: [name] });

const panel: Panel = {
  new: {
    label: 'New style…',
    title: 'New style',
    check: async (ports, caller, { name: [typed = ''] = [] }) => {
      const found = await styleAbout(ports, caller, typed);
      const how = `To change it, use ${nameOf(declaration, caller.fields)} with its name.`;
      return found ? [{ field: 'name', sentence: `name: there is already a style ${quoted(found.name)}. ${how}` }] : [];
    },
    fields: () => [
      { option: 'name', label: 'Name', values: [], required: true, isSubject: true },
      ...PANEL_WORDS.map(([option, label]): PanelField => ({ option, label, values: [] })),
    ],
  },
  words: {
    label: 'Words…',
    title: 'Words of the style',
    isAboutOne: 'always',
    subject,
    fields: async (ports, caller, name) => [
      ...partFields(await styleAbout(ports, caller, name), PANEL_WORDS),
      { option: 'off', label: 'Remove', values: [], choices: [{ value: 'all', label: 'Remove the whole style' }] },
    ],
  },
  clips: {
    label: 'Model and length…',
    title: 'Defaults of the style',
    isAboutOne: 'always',
    subject,
    fields: async (ports, caller, name) => partFields(await styleAbout(ports, caller, name), PANEL_DEFAULTS),
  },
};

/** `/video style`: shows the styles of the team, and adds, changes and removes them. */
export const style: Subcommand = {
  declaration,
  panel,
  run: async (ports, caller, given) => {
    return isAnyGiven(given, 'name') ? change(ports, caller, given) : show(ports, caller, optionValue(given, 'name'));
  },
};

const PANEL_WORDS = [
  ['before', 'Before the prompt'],
  ['after', 'After the prompt'],
  ['avoid', 'Avoid'],
  ['images', 'Reference images'],
] as const;
const PANEL_DEFAULTS = [
  ['model', ORDER_LABELS.model],
  ...NAMES.map((name) => [name, SETTING_WORDS[name].label] as const),
] as const;

async function styleAbout({ settings }: BotPorts, caller: Caller, name: string | null): Promise<Style | undefined> {
  const { styles = [] } = await settings.get(teamOf(caller));
  return styleNamed({ styles }, name ?? '');
}

/** Returns the fields of parts of a style, with their labels. */
function partFields(
  of: Style | undefined,
  parts: readonly (readonly [(typeof PARTS)[number], string])[],
): readonly PanelField[] {
  return parts.map(([option, label]) => {
    const value = of?.[option];
    const values = value === undefined ? [] : [Array.isArray(value) ? value.join(' ') : String(value)];
    return { option, label, values };
  });
}

async function show(ports: BotPorts, caller: Caller, name: string | undefined): Promise<Reply> {
  const { styles = [] } = await ports.settings.get(teamOf(caller));
  if (name === undefined) return privately(stylesCard(styles, caller));
  const found = styleNamed({ styles }, name);
  if (found !== undefined) return privately(styleCard(found, ports.catalog(), caller, null));
  return refused(noSuchStyle(name, styles));
}

async function change(ports: BotPorts, caller: Caller, given: GivenOptions): Promise<Reply> {
  const { policy = NO_POLICY, styles: stored = [], revision } = await ports.settings.get(teamOf(caller));
  const before = styleNamed({ styles: stored }, optionValue(given, 'name') ?? '');
  const read = readStyle(ports.catalog(), given, before);
  if (!read.ok) return refusedWith(read.problems);
  const after = read.change(before ?? { name: read.name });
  if (after === null && before === undefined) return refused(noSuchStyle(read.name, stored));
  if (after === null && isAskedFor(policy, read.name))
    return refused(`The policy asks for the style ${read.name}, so it can’t be removed. Change the policy first.`);
  if (after !== null && Object.keys(after).length === 1)
    return refused('A style needs words or a default, such as before or after. Nothing was changed.');
  if (before === undefined && stored.length >= MAX_STYLES)
    return refused(`name: this team has ${MAX_STYLES} styles, which is the most. Remove one first.`);
  const patch = ({ styles = [] }: TeamSettings) => ({ styles: changed(styles, read.name, read.change) });
  const { styles = [], ...now } = await ports.settings.change(teamOf(caller), byCommand(caller), patch);
  const saved = styleNamed({ styles }, read.name);
  if (saved !== undefined) return privately(styleCard(saved, ports.catalog(), caller, now.revision !== revision));
  const removed = `The style ${read.name} is removed. Clips that have it keep it, and Retry makes them the same way.`;
  return privately(textCard([removed]));
}

/** Returns the styles with one added, changed or removed, by name; `null` where none is left. */
function changed(
  styles: readonly Style[],
  name: string,
  change: (before: Style) => Style | null,
): readonly Style[] | null {
  const after = change(styleNamed({ styles }, name) ?? { name });
  const others = styles.filter((one) => one.name !== name);
  const all = after === null ? others : [...others, after];
  return all.length === 0 ? null : all.toSorted((one, other) => one.name.localeCompare(other.name, 'en'));
}

function isAskedFor({ team, channels }: Policy, name: string): boolean {
  return [team, ...Object.values(channels)].some((rules) => rules.style === name);
}

/** Change of a style as entered, or everything that is wrong with it. */
type ReadStyle =
  /** `change` returns the style after the change; `null`: it is removed. */
  | { readonly ok: true; readonly name: string; readonly change: (before: Style) => Style | null }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/** Reads the options of `/video style`. Without a model, what they set has to be offered by the style's own. */
function readStyle(catalog: Catalog, given: GivenOptions, before: Style | undefined): ReadStyle {
  const typed = optionValue(given, 'name') ?? '';
  const name = typed.normalize('NFC').toLowerCase();
  const problems: FieldProblem[] = [];
  const wrong = (field: string, sentence: string) => problems.push({ field, sentence });
  if (name === '') wrong('name', 'name: which style? Write a name, such as house.');
  // Names are shown without being escaped, and typed as one word.
  else if (!/^[\p{L}\p{N}][\p{L}\p{N}-]*$/u.test(name) || Array.from(name).length > MAX_NAME_LENGTH)
    wrong(
      'name',
      `name: ${quoted(typed, 40)} can’t be the name of a style. Use up to ${MAX_NAME_LENGTH} letters, digits and hyphens.`,
    );
  const texts = TEXTS.flatMap((part) => {
    const value = optionValue(given, part)?.replace(/\s+/gu, ' ');
    return value === undefined ? [] : [[part, value] as const];
  });
  for (const [part, value] of texts) {
    const length = Array.from(value).length;
    const most = `a style may have up to ${formatCount(MAX_TEXT_LENGTH)} here`;
    if (length > MAX_TEXT_LENGTH) wrong(part, `${part}: it has ${formatCount(length)} characters; ${most}`);
  }
  const off = switchedOff(given, PARTS);
  const removed: readonly string[] = off.removed;
  const own = removed.includes('model') ? undefined : catalog.models.find((model) => model.name === before?.model);
  const defaults = readDefaults({ ...catalog, defaultModel: own ?? catalog.defaultModel }, given, problems);
  problems.push(...off.problems);
  if (problems.length > 0) return { ok: false, problems };
  const entered = { ...Object.fromEntries(texts), ...defaults };
  return {
    ok: true,
    name,
    change: (before) => {
      if (removed.length === PARTS.length) return null;
      const kept = Object.entries({ ...before, ...entered }).filter(([part]) => !removed.includes(part));
      return { name, ...Object.fromEntries(kept) };
    },
  };
}

/** Reads the defaults, which a model of the catalog has to offer. */
function readDefaults(catalog: Catalog, given: GivenOptions, problems: FieldProblem[]): Partial<Style> {
  const model = optionValue(given, 'model');
  const settings = NAMES.map((name) => [name, optionValue(given, name)] as const);
  const images = splitAddresses(optionValue(given, 'images') ?? '');
  // References that a model needs come with an order; without a model, the images are for those that take some.
  const models = catalog.models.map((one) => {
    const max = model === undefined ? MAX_IMAGES : one.media.image.max;
    return { ...one, media: { image: { min: 0, max }, audio: NONE, video: NONE } };
  });
  const defaultModel = models.find(({ name }) => name === catalog.defaultModel.name) ?? catalog.defaultModel;
  const { policy: _, styles: _styles, ...whole } = catalog;
  const draft = { prompt: 'any', model, ...Object.fromEntries(settings), image: images };
  const checked = checkRequest({ ...whole, models, defaultModel }, draft);
  if (!checked.ok) {
    const found = refusalProblems(checked);
    problems.push(...found.map((problem) => (problem.field === 'image' ? { ...problem, field: 'images' } : problem)));
    return {};
  }
  const { request } = checked;
  const named = SETTINGS.filter(
    ({ name, field }) => optionValue(given, name) !== undefined && request[field] !== undefined,
  );
  return {
    ...(model === undefined ? {} : { model: request.model }),
    ...Object.fromEntries(named.map(({ name, field }) => [name, request[field]])),
    ...(images.length === 0 ? {} : { images }),
  };
}

const NONE = { min: 0, max: 0 };

function stylesCard(styles: readonly Style[], caller: Caller): Card {
  const { fields, mayAdminister } = caller;
  const command = nameOf(declaration, fields);
  const hasFlags = fields === undefined;
  const items = styles.map(({ name, before, after }, at) => {
    const words = [before, '…', after].filter((part) => part !== undefined).join(' ');
    const [change] = at < MAX_CHANGE_BUTTONS ? panelButtons(caller, declaration, panel, name) : [];
    return item([name], [{ untrusted: shorten(words, 150) }], change && { ...change, label: 'Change…' });
  });
  const example = hasFlags ? `${command} house --after "shot on 35 mm film"` : `${command} name:house after:…`;
  const use: Line = hasFlags
    ? ['To use one: ', { code: '/video a red fox --style house' }, '.']
    : ['To use one, pick it as ', { code: 'style' }, ' in ', { code: '/video create' }, '.'];
  const change: Line = mayAdminister
    ? ['To add or change one: ', { code: example }, '.']
    : ['Administrators add and change them with ', { code: command }, '.'];
  return layOut(
    [
      heading('Styles of this team'),
      items.length === 0 && ['There are no styles yet.'],
      ...items,
      small('A style puts its words around each prompt. ', ...(items.length === 0 ? [] : use)),
      small(...change),
    ],
    { buttons: panelButtons(caller, declaration, panel) },
  );
}

/** Shows one style in full. @param isChanged whether it was just changed; `null` if it was not to be */
function styleCard(style: Style, catalog: Catalog, caller: Caller, isChanged: boolean | null): Card {
  const { name, before, after, avoid, model, images = [] } = style;
  const buttons = panelButtons(caller, declaration, panel, name);
  const parts: readonly (readonly [label: string, value: string | undefined])[] = [
    ['Before the prompt', before],
    ['After the prompt', after],
    ['Avoid', avoid],
    ['Model', model === undefined ? undefined : titleOf(catalog, model)],
    ...SETTINGS.map((setting) => {
      const value = style[setting.name];
      return [SETTING_WORDS[setting.name].label, value === undefined ? undefined : valueWords(setting, value)] as const;
    }),
    ['Reference images', images.length === 0 ? undefined : images.join(' ')],
  ];
  return layOut(
    [
      heading(`Style ${name}`),
      savedLine(isChanged, { saved: 'Saved. Clips ordered from now on have it.' }),
      ...parts.map(([label, value]) => value !== undefined && labelled(label, { untrusted: value })),
      avoid !== undefined &&
        small(
          '“Avoid” is added to the prompt as words: the video service has no negative prompt, so a model may not keep to it.',
        ),
      small(
        'Model, length, aspect, resolution and images apply to orders that name none, where the model offers them.',
      ),
    ],
    { buttons },
  );
}

function noSuchStyle(given: string, styles: readonly Style[]): string {
  const names = styles.map(({ name }) => name);
  const which = names.length === 0 ? 'This team has none yet.' : `Choose ${either(names)}.`;
  return `name: there is no style ${quoted(given, 40)}. ${which}`;
}
