import { formatPrice, priceOf, spendChannel } from '#src/tasks/index.ts';
import type { MemberKey, TeamSettings } from '#src/teams/index.ts';
import {
  type Catalog,
  checkDefaults,
  type Defaults,
  isOffered,
  isPersonal,
  MEDIA_KINDS,
  type Model,
  orderDefaults,
  personalCatalog,
  SETTINGS,
  type Setting,
} from '#src/videos/index.ts';
import type { Caller, Command, GivenOptions, OptionDeclaration, Reply } from '../bot-port.ts';
import { rightsIn } from '../input/member-rights.ts';
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
import { underPolicy, withPolicy } from '../policy/rules-here.ts';
import { MANAGERS_SET_DEFAULT } from '../sentences/cards/comparison.ts';
import { nameOf } from '../sentences/command-name.ts';
import { refusalProblems } from '../sentences/refusals.ts';
import { savedLine } from '../sentences/saved.ts';
import {
  formChoices,
  MEDIA_WORDS,
  modelChoices,
  ORDER_LABELS,
  SETTING_WORDS,
  valueWords,
} from '../sentences/settings.ts';
import { heading, type Line, labelled, layOut, small } from '../ui/card.ts';

/** Names of the defaults, as options. */
const NAMES = ['model', 'seconds', 'aspect'] as const;

const options: readonly OptionDeclaration[] = [
  { name: 'model', description: 'Model that you get without naming one', kind: 'text', autocomplete: 'model' },
  ...SETTINGS.filter(isPersonal).map(clipOption),
  {
    name: 'off',
    description: 'Removes this default, or all; channel: the model of this channel, for those who manage it',
    kind: 'text',
    choices: [...NAMES, 'all', 'channel'].map((value) => ({ value, label: value })),
  },
];

const declaration: Command = {
  name: 'defaults',
  description: 'Shows or changes the model, length and aspect that your clips get',
  example: '/video defaults --model swift-1 --seconds 6',
  options,
  visibility: 'private',
};

const panel: Panel = {
  change: {
    label: 'Change…',
    title: 'Your defaults',
    fields: async (ports, caller) => {
      const catalog = (await withPolicy(ports, caller)).catalog();
      const now = await ports.defaults.get(memberOf(caller));
      const valuesOf = (name: (typeof NAMES)[number]) => (now[name] === undefined ? [] : [String(now[name])]);
      const settings = SETTINGS.filter(isPersonal).map((setting): PanelField => {
        const { name } = setting;
        const choices = formChoices(catalog, setting)?.all;
        const { label } = SETTING_WORDS[name];
        return { option: name, label, values: valuesOf(name), ...(choices === undefined ? {} : { choices }) };
      });
      const choices = modelChoices(catalog).all;
      return [{ option: 'model', label: ORDER_LABELS.model, values: valuesOf('model'), choices }, ...settings];
    },
  },
};

/** `/video defaults`: the model, length and aspect ratio that the caller's orders get where they name none. */
export const defaults: Subcommand = {
  declaration,
  panel,
  run: async (ports, caller, given) => {
    const before = await ports.defaults.get(memberOf(caller));
    if (optionValue(given, 'off')?.toLowerCase() === 'channel') return removeChannels(ports, caller, given, before);
    if (!isAnyGiven(given)) return show(ports, caller, before, null);
    return change(ports, caller, given, before);
  },
};

/** Removes the default model of the channel, for those who manage it. */
async function removeChannels(ports: BotPorts, caller: Caller, given: GivenOptions, before: Defaults): Promise<Reply> {
  const isAlone = NAMES.every((name) => optionValue(given, name) === undefined);
  if (!isAlone) return refused('off: channel removes the channel’s default alone. Leave the other options out.');
  const manages = caller.mayAdminister || (await rightsIn(ports, caller, caller.channel)).manage;
  if (!manages) return refused(MANAGERS_SET_DEFAULT);
  const { model } = channelDefaults(await ports.settings.get(teamOf(caller)), caller);
  await ports.settings.change(teamOf(caller), byCommand(caller), ({ channelModels = {} }) => {
    const { [spendChannel(caller)]: _, ...others } = channelModels;
    return { channelModels: others };
  });
  return show(ports, caller, before, model !== undefined);
}

async function change(ports: BotPorts, caller: Caller, given: GivenOptions, before: Defaults): Promise<Reply> {
  const catalog = (await withPolicy(ports, caller)).catalog();
  const [model, seconds, aspect] = NAMES.map((name) => optionValue(given, name));
  // A default model that is not in the catalog any more has no effect.
  const known = catalog.models.find(({ name }) => name === before.model)?.name;
  const checked = checkDefaults(catalog, { model: model ?? known, seconds, aspect });
  const { removed, problems } = switchedOff(given, NAMES);
  const wrong = [...refusalProblems(checked, caller.fields), ...problems];
  if (wrong.length > 0 || !checked.ok) return refusedWith(wrong);
  const patch = { ...checked.defaults, ...Object.fromEntries(removed.map((name) => [name, null])) };
  const after = await ports.defaults.change(memberOf(caller), patch);
  return show(
    ports,
    caller,
    after,
    NAMES.some((name) => after[name] !== before[name]),
  );
}

/** Shows what the caller's orders get where they name no model, length or aspect ratio. @param isChanged `null`: not asked */
async function show(ports: BotPorts, caller: Caller, shown: Defaults, isChanged: boolean | null): Promise<Reply> {
  const team = await ports.settings.get(teamOf(caller));
  const ofChannel = channelDefaults(team, caller);
  const catalog = personalCatalog(personalCatalog(underPolicy(ports, caller, team).catalog(), ofChannel), shown);
  const { models, defaultModel: model } = catalog;
  const isChannels = models.some(({ name }) => name === ofChannel.model);
  const [seconds] = SETTINGS.filter(({ name }) => name === 'seconds').map((setting) => setting.defaultOf(model));
  const price = formatPrice(priceOf(model, Number(seconds)));
  const buttons = panelButtons(caller, declaration, panel);
  const card = layOut(
    [
      heading('Your defaults'),
      savedLine(isChanged),
      labelled(ORDER_LABELS.model, ...modelLine(shown, model, isChannels)),
      ...SETTINGS.map((setting) => {
        const line = settingLine(setting, shown, model);
        return line !== null && labelled(SETTING_WORDS[setting.name].label, line);
      }),
      needsLine(model),
      small(
        `A clip with these settings costs ${price}. What you name in an order counts for that order; a retry keeps the settings of its `,
        'clip. To change one: ',
        { code: nameOf(declaration, caller.fields) },
        ' with an option. ',
        { code: 'off' },
        ' removes a value.',
      ),
    ],
    { buttons },
  );
  return privately(card);
}

/** Returns the default model of the caller's channel, as defaults. */
function channelDefaults({ channelModels = {} }: TeamSettings, caller: Caller): Defaults {
  // On the playground, a channel may be called `constructor`.
  const model = new Map(Object.entries(channelModels)).get(spendChannel(caller));
  return model === undefined ? {} : { model };
}

/**
 * Returns the ports with the catalog as the caller has it: what the policy allows here, with their defaults, those of the
 * style that the policy asks for, and the team's reference images. For orders, and for what shows the default of an option;
 * a repetition of an earlier request keeps its settings.
 * @throws `store_unavailable`
 */
export async function withDefaults(ports: BotPorts, caller: Caller): Promise<BotPorts> {
  const [team, own, references] = await Promise.all([
    ports.settings.get(teamOf(caller)),
    ports.defaults.get(memberOf(caller)),
    // People of other organisations see only what is in their channel.
    caller.isExternal === true ? [] : ports.references.list(caller),
  ]);
  const allowed = underPolicy(ports, caller, team);
  const ofChannel = channelDefaults(team, caller);
  const catalog = (): Catalog => {
    const offered = allowed.catalog();
    const { policy: { style } = {} } = offered;
    const ofStyle = style === undefined ? {} : orderDefaults(offered, style);
    return { ...personalCatalog(personalCatalog(offered, ofChannel), { ...own, ...ofStyle }), references };
  };
  return { ...allowed, catalog };
}

function memberOf({ platform, team, user }: Caller): MemberKey {
  return { platform, team, user: user.id };
}

const FOR_EVERYONE = ', as for everyone';

function modelLine({ model: own }: Defaults, { name, title }: Model, isChannels: boolean): Line {
  if (own === undefined) return [`${title}${isChannels ? ', this channel’s default' : FOR_EVERYONE}.`];
  return [own === name ? `${title}.` : `${title}, since there is no ${own} any more.`];
}

/** Returns the value of a setting; `null` for one that has no personal default. */
function settingLine(setting: Setting, defaults: Defaults, model: Model): string | null {
  if (!isPersonal(setting)) return null;
  const own = defaults[setting.name];
  const used = setting.defaultOf(model);
  if (own === undefined) return used === undefined ? null : `${valueWords(setting, used)}${FOR_EVERYONE}.`;
  if (isOffered(setting.offerOf(model), own)) return `${valueWords(setting, own)}.`;
  const instead = used === undefined ? 'takes none' : `gets ${valueWords(setting, used)}`;
  return `${valueWords(setting, own)}, where the model offers it. ${model.title} doesn’t, and ${instead}.`;
}

/** Tells which reference media the model cannot do without. */
function needsLine({ title, media }: Model): Line | null {
  const needed = MEDIA_KINDS.filter((kind) => media[kind].min > 0).map((kind) => MEDIA_WORDS[kind].many);
  return needed.length === 0
    ? null
    : [`${title} needs reference ${needed.join(' and ')}: a prompt alone isn’t enough.`];
}
