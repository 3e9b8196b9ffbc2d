import { spendChannel } from '#src/tasks/index.ts';
import type { MemberKey, TeamSettings } from '#src/teams/index.ts';
import {
  type Catalog,
  checkDefaults,
  type Defaults,
  orderDefaults,
  personalCatalog,
  SETTINGS,
} from '#src/videos/index.ts';
import type { Caller, GivenOptions, OptionDeclaration, Reply } from '../bot-port.ts';
import { rightsIn } from '../input/member-rights.ts';
import { clipOption, isAnyGiven, optionValue, switchedOff } from '../input/options.ts';
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
import { nameOf } from '../sentences/cards/help.ts';
import { MANAGERS_SET_DEFAULT } from '../sentences/comparisons/words.ts';
import { CHANNEL_ALONE, defaultsCard } from '../sentences/defaults.ts';
import { refusalProblems } from '../sentences/refusals.ts';

/** Names of the defaults, as options. */
const NAMES = ['model', 'seconds', 'aspect'] as const;

const options: readonly OptionDeclaration[] = [
  { name: 'model', description: 'Model that you get without naming one', kind: 'text', autocomplete: 'model' },
  ...SETTINGS.filter(({ name }) => name !== 'resolution').map(clipOption),
  {
    name: 'off',
    description: 'Removes this default, or all; channel: the model of this channel, for those who manage it',
    kind: 'text',
    choices: [...NAMES, 'all', 'channel'].map((value) => ({ value, label: value })),
  },
];

/** `/video defaults`: the model, length and aspect ratio that the caller's orders get where they name none. */
export const defaults: Subcommand = {
  declaration: {
    name: 'defaults',
    description: 'Shows or changes the model, length and aspect that your clips get',
    example: '/video defaults --model swift-1 --seconds 6',
    options,
    visibility: 'private',
  },
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
  if (!isAlone) return refused(CHANNEL_ALONE);
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

async function show(ports: BotPorts, caller: Caller, shown: Defaults, isChanged: boolean | null): Promise<Reply> {
  const command = nameOf(defaults.declaration, caller.fields);
  const team = await ports.settings.get(teamOf(caller));
  const ofChannel = channelDefaults(team, caller);
  const catalog = personalCatalog(personalCatalog(underPolicy(ports, caller, team).catalog(), ofChannel), shown);
  const isChannels = catalog.models.some(({ name }) => name === ofChannel.model);
  return privately(defaultsCard({ defaults: shown, catalog, isChannels, isChanged, command }));
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
